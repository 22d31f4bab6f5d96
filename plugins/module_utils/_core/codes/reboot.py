# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of tuning that reboots nodes."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "REBOOT-ABSENT",
        "{path}: {what} does not exist: {machine} has {there}.",
        "Set `{path}` to some of {there}.",
    ),
    Code(
        "REBOOT-ALL-CPUS",
        "{path}: all {cpus} CPUs of {machine} would be reserved for the system, so no pod could run.",
        "Reserve fewer CPUs, set isolate in `tuning` to false, or use an `instance_type` with more CPUs.",
    ),
    Code(
        "REBOOT-BUSY",
        "Pods use GPUs on nodes that would reboot. Nothing was changed.",
        "Set `gpu_on_busy` (module option `on_busy`) to wait or drain.",
    ),
    Code(
        "REBOOT-CONTROL-PLANE",
        "{path}: {nodes} belong to MachineConfigPool {pool}, whose nodes take no configuration of another"
        " pool.",
        "Remove from `tuning` of the pool what reboots nodes, or use nodes that are only workers.",
    ),
    Code(
        "REBOOT-CPUS",
        "{path}: node {node} has {have} CPUs, and the pool's machines should have {wanted}.",
        "Write isolate in `tuning` for the CPUs that the node has, and correct `instance_type`.",
    ),
    Code(
        "REBOOT-CPU-LISTS",
        "{path}: CPUs {cpus} are {state}.",
        "Put each CPU into one of the lists of isolate in `tuning`.",
    ),
    Code(
        "REBOOT-DEGRADED",
        "{object} is degraded in the rollout of {pool}: {answer}.",
        "Run `{command}`.",
    ),
    Code(
        "REBOOT-DRAIN",
        "{object} is degraded in the rollout of {pool}: {answer}.",
        "Run `oc get pdb -A`, and let the application run elsewhere too (`oc scale`); the operator tries "
        "again by itself.",
    ),
    Code(
        "REBOOT-FOREIGN",
        "{path}: {kind} {name} exists, and this collection did not make it.",
        "Run `oc delete {kind} {name}`, or give the pool another name. A MachineConfig or KubeletConfig "
        "that goes reboots its nodes, and the pods there end.",
    ),
    Code(
        "REBOOT-FOREIGN-POOL",
        "{path}: MachineConfigPool {pool} selects {nodes} too, and a node with two such pools gets no "
        "configuration at all.",
        "Change `spec.nodeSelector` of MachineConfigPool {pool}, or the labels of the pool's nodes.",
    ),
    Code(
        "REBOOT-HUGE-PAGES",
        "{path}: {pages} need {wanted}; {machine} has {memory}.",
        "Set huge_pages in `tuning` to pages of at most {most}{also}.",
    ),
    Code(
        "REBOOT-KUBELET-REFUSED",
        "The machine-config operator refuses KubeletConfig {name}: {trouble}.",
        "Correct isolate or topology in `tuning` of the pool.",
    ),
    Code(
        "REBOOT-KUBELET-TWICE",
        "{path}: {kind} {name} is for the nodes of MachineConfigPool {pool} too, and a pool takes the "
        "kubelet settings of one object.",
        "Delete {kind} {name}, or remove isolate and topology from `tuning` of the pool. A KubeletConfig "
        "that goes reboots its nodes, and the pods there end.",
    ),
    Code(
        "REBOOT-NEVER",
        "{paths}: {reboots}. Nothing was changed.",
        "Set {paths}: planned in `tuning` of the pool to let these nodes reboot, or remove what reboots "
        "them. A reboot ends all pods of the node.",
    ),
    Code(
        "REBOOT-NUMA",
        "{path}: the CPUs to reserve cannot be computed: the NUMA nodes of {machine} are not known.",
        'Set isolate in `tuning` to {reserved: "0-3", isolated: "4-95"} with the CPUs that lscpu -e lists on '
        "such a node{also}.",
    ),
    Code(
        "REBOOT-PAUSED",
        "MachineConfigPool {pool} {why}, so its nodes do not get their configuration.",
        "Run `ansible-playbook accelerators.openshift.after_openshift_update -e @FILE` after the update that "
        "the message names; otherwise end the pause when the work of others is done. The nodes then reboot.",
    ),
    Code(
        "REBOOT-PENDING",
        "the rollout of MachineConfigPool {pool} goes on: {left}",
        "Run `oc describe machineconfigpool {pool}`; raise node_tuning_wait_timeout (module option "
        "wait_timeout) if the nodes boot slowly.",
    ),
    Code(
        "REBOOT-PROFILE",
        "PerformanceProfile {name} is degraded: {trouble}.",
        "Run `oc describe performanceprofile {name}`, and correct `tuning` of the pool.",
    ),
    Code(
        "REBOOT-RENDER",
        "The configuration of MachineConfigPool {pool} cannot be rendered: {answer}.",
        "Run `oc describe machineconfigpool {pool}`, and correct the MachineConfig or KubeletConfig that it "
        "names.",
    ),
    Code(
        "REBOOT-TWO-POOLS",
        "{path}: pools {pools} both select {nodes}, and a node takes the configuration of one "
        "MachineConfigPool.",
        "Set `node_selector` of the pools so that each node matches one.",
    ),
)
