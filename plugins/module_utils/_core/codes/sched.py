# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of pods that do not run, as gpu_diagnose finds them."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "SCHED-ABSENT",
        "There is no pod {pod}.{also}",
        "Run `oc get pods,jobs,deployments -n {namespace}`, and set `gpu_pod` to the name of a pod there.",
    ),
    Code(
        "SCHED-CLOSED",
        "Pod {pod} asks for {devices}, and {nodes} with them can take no pod now, such as {node}: {why}.",
        "Run `oc describe node {node}` to see who closed it.",
    ),
    Code(
        "SCHED-CONTAINER",
        "Pod {pod} on node {node} does not run: {answer}",
        "Run `oc describe pod {name} -n {namespace}`.",
    ),
    Code(
        "SCHED-FULL",
        "Pod {pod} asks for {devices}, and too little is free on {nodes} with them: {why}.{also}",
        "Wait, ask for less, or raise `replicas` of the pool in gpu_pools. `oc describe node "
        "{node}` lists the pods of the nearest node.",
    ),
    Code(
        "SCHED-GATE",
        "Pod {pod} is held back by {gate}: {why}.",
        "Run `oc get pods,jobs -n {namespace} -o yaml` to see what holds it back.",
    ),
    Code(
        "SCHED-LABELS",
        "Pod {pod} asks for {devices}, and its node selector or affinity fits none of {nodes} with "
        "them: {why}.",
        "Correct `spec.nodeSelector` or `spec.affinity` of the pod; `oc get node {node} "
        "--show-labels` lists what the nearest node has.",
    ),
    Code(
        "SCHED-NAME",
        "Pod {pod} asks for {devices}, and no node can offer that: a node offers at most {offers}.",
        "Correct `spec.containers[].resources.limits` of the pod to what nodes offer.",
    ),
    Code(
        "SCHED-OFFER",
        "Pod {pod} asks for {devices}, and node {node}, which has them, {why}.",
        "Run `oc get pods -n nvidia-gpu-operator -o wide --field-selector spec.nodeName={node}`: all "
        "of them have to be Ready.",
    ),
    Code(
        "SCHED-REFUSED",
        "{maker} cannot make pod {pod}: {answer}",
        "Correct the pod template as the answer says; `oc get limitranges,resourcequotas -n "
        "{namespace} -o yaml` shows the limits of the namespace.",
    ),
    Code(
        "SCHED-TAINT",
        "Pod {pod} asks for {devices}, and does not tolerate a taint of {nodes} with them: {why}.",
        "Add `spec.tolerations: [{fix}]` to the pod, or to the template that makes it.",
    ),
    Code(
        "SCHED-UNPLACED",
        "The scheduler has no node for pod {pod}: {answer}",
        "Run `oc describe pod {name} -n {namespace}`, and change what the answer names.",
    ),
)
