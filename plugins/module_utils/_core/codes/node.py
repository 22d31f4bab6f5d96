# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of nodes to drain or remove."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "NODE-ABSENT",
        "There is no node and no machine {name}: nothing was done.{also}",
        "Set `gpu_node` (module option `name`) to a name that `oc get nodes` or `oc get machines -n "
        "openshift-machine-api` lists.",
    ),
    Code(
        "NODE-BUSY",
        "Pods use GPUs on nodes that would be drained or removed. Nothing was changed.",
        "Wait until the pods have ended, or set `gpu_on_busy` (module option `on_busy`) to drain or wait.",
    ),
    Code(
        "NODE-CORDONED",
        "A node of a pool has been cordoned for long.",
        "Run `oc get node NODE -o yaml` to see who cordoned it, then the playbook again, or `oc adm "
        "uncordon NODE`.",
    ),
    Code(
        "NODE-DRAIN",
        "Evicted pods did not end in time.",
        "Run `oc describe pod NAME -n NAMESPACE` to see finalizers and grace period, then run again.",
    ),
    Code(
        "NODE-EMPTYDIR",
        "Pods that would be evicted keep data in an emptyDir. Nothing was changed.",
        "Save the data, then set `gpu_delete_emptydir: true` (module option `delete_emptydir`). The pods "
        "end, and what is in their volumes is lost.",
    ),
    Code(
        "NODE-EVICTION",
        "A webhook or the API server, which the message quotes, refused evictions until the end. "
        "KubeVirt does so until it has moved a virtual machine. The node stays cordoned.",
        "Run `oc describe pod NAME -n NAMESPACE`, move or stop what the text names (`virtctl stop NAME`), "
        "then run again.",
    ),
    Code(
        "NODE-NEW-WORK",
        "{pods} with GPUs came to the nodes after this task had looked for such pods, and on_busy: fail does "
        "not allow their eviction: {listed}",
        "Wait until they have ended and run again, or set `gpu_on_busy: drain`, which ends them, or "
        "`gpu_on_busy: wait` (module option `on_busy`).",
    ),
    Code(
        "NODE-NOT-OURS",
        "Node {node} was not replaced: {why}.",
        "Run `oc get {object} -o yaml --show-managed-fields` to find out which tool made it, and replace "
        "the node with that tool.",
    ),
    Code(
        "NODE-PDB",
        "PodDisruptionBudgets, which the message quotes, kept pods until the time ran out. The node stays "
        "cordoned.",
        "Run `oc get pdb -A`, let the application run elsewhere too, then run again.",
    ),
    Code(
        "NODE-RETURNS",
        "Pods with GPUs that tolerate the cordon came to the node after the others were evicted. The "
        "message quotes the toleration. The node stays cordoned.",
        "Remove the toleration, or run `oc scale KIND/NAME -n NAMESPACE --replicas=0` for the pods' "
        "owner; then run again. The scale ends all pods of that owner.",
    ),
    Code(
        "NODE-UNCORDONED",
        "{nodes} became schedulable during the drain, so the drain stopped",
        "Find out who ran `oc adm uncordon`, then run again.",
    ),
    Code(
        "NODE-UNMANAGED",
        "Pods that would be evicted have no controller that makes them again. Nothing was changed.",
        "Delete the pods, or set `gpu_evict_unmanaged: true` (module option `force`). Both end the pods "
        "for good: nothing makes them again.",
    ),
    Code(
        "NODE-YOUNG",
        "The machine {machine} of node {node} was created {seconds} s ago: an earlier run may have made "
        "it. Nothing was replaced.",
        "If it is the one to replace, set `gpu_machine_uid` (module option `machine_uid`) to {uid}.",
    ),
)
