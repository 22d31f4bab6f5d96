# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of tuning that reboots nodes."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
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
        "`isolate` names CPUs that the machines do not have, names a CPU twice or not at all, or the CPUs to "
        "reserve cannot be computed. Nothing was changed.",
        "Set isolate in `tuning` of the pool to the CPUs that lscpu -e lists on a node.",
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
        "`huge_pages` asks for more memory than the machine or its NUMA node has. Nothing was changed.",
        "Lower the count of huge_pages in `tuning` of the pool, or use an instance type with more memory.",
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
