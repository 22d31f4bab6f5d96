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
        "Wait until they have ended, or set `gpu_on_busy: drain` (module option `on_busy`; the task evicts "
        "them), or `gpu_on_busy: wait` (the task waits for their end).",
    ),
    Code(
        "NODE-CORDONED",
        "A node of a pool has been cordoned for long.",
        "Run `oc get node NODE -o yaml` to see who cordoned it, then the playbook again, or `oc adm "
        "uncordon NODE`.",
    ),
    Code(
        "NODE-DRAIN",
        "the drain waits for {pods}",
        "{also}Run `oc describe pod {name} -n {namespace}` to see finalizers and "
        "terminationGracePeriodSeconds, then run again: the next run resumes the drain.",
    ),
    Code(
        "NODE-EMPTYDIR",
        "Pods that would be evicted keep data in an emptyDir. Nothing was changed.",
        "Save the data, then set `gpu_delete_emptydir: true` (module option `delete_emptydir`): the pods "
        "end, and what is in these volumes is lost.",
    ),
    Code(
        "NODE-EVICTION",
        "the evictions of these pods are refused: {pods}",
        "Run `oc describe pod {name} -n {namespace}`, move or stop what the text in brackets names (a "
        "virtual machine: `virtctl stop NAME`), then run again: the next run resumes the drain. The node "
        "stays cordoned until then.",
    ),
    Code(
        "NODE-GATED",
        "Node {node} is new and closed to pods: the gate says since {since} that {why}.",
        "Run `ansible-playbook playbooks/replace_node.yml -e gpu_node={node}`, which drains it and deletes "
        "its machine, or set `health: true` for the pool in gpu_pools: then Kubernetes replaces such a node.",
    ),
    Code(
        "NODE-LEFT",
        "Node {node} takes no pods: it is cordoned{since} by the run of {run}, and that run no longer works.",
        "Run {command|the playbook of that run}: it goes on where that run ended, and asks first if that "
        "ends pods with GPUs (gpu_on_busy). To give that work up, run `oc adm uncordon {node}`.",
    ),
    Code(
        "NODE-MAINTENANCE",
        "{why}, but another program maintains it: {who}. Nothing was changed.",
        "Run `oc get nodemaintenances -A` and `oc get nodes -L nvidia.com/ofed-driver-upgrade-state`: run "
        "again when it is done with these nodes.",
    ),
    Code(
        "NODE-NEW-WORK",
        "{pods} with GPUs came to the nodes after this task had looked for such pods, and on_busy: fail does "
        "not allow their eviction: {listed}",
        "Wait until they have ended and run again, or set `gpu_on_busy: drain`, which ends them, or "
        "`gpu_on_busy: wait` (module option `on_busy`).",
    ),
    Code(
        "NODE-FOREIGN",
        "Node {node} was not replaced: {why}.",
        "Run `oc get {object} -o yaml --show-managed-fields` to find out which tool made it, and replace "
        "the node with that tool.",
    ),
    Code(
        "NODE-PDB",
        "disruption budgets keep {pods}{also}",
        "Run `oc get pdb -A`, and run more pods of that application on other nodes, or raise the budget; "
        "then run again: the next run resumes the drain. The node stays cordoned until then.",
    ),
    Code(
        "NODE-QUARANTINED",
        "Node {node} did not pass {program|its validation}, and {by|a taint or a cordon} keeps new pods "
        "away.",
        "Run `ansible-playbook playbooks/repair_node.yml -e gpu_node={node}`, which asks before it ends "
        "pods. A validation that the node passes opens it.",
    ),
    Code(
        "NODE-RETURNS",
        "pods with GPUs: {pods}",
        "Remove that toleration from the pods' controller, or scale it down (`oc scale --replicas=0`; that "
        "ends all its pods), then run again: the next run resumes the drain.",
    ),
    Code(
        "NODE-UNCORDONED",
        "{nodes} became schedulable during the drain, so the drain stopped",
        "Find out who ran `oc adm uncordon`, then run again.",
    ),
    Code(
        "NODE-UNMANAGED",
        "Pods that would be evicted have no controller that makes them again. Nothing was changed.",
        "No controller would recreate them on another node: delete them, or set `gpu_evict_unmanaged: true` "
        "(module option `evict_unmanaged`). Both end them for good.",
    ),
    Code(
        "NODE-YOUNG",
        "The machine {machine} of node {node} was created {seconds} s ago: an earlier run may have made "
        "it. Nothing was replaced.",
        "If it is the one to replace, set `gpu_machine_uid` (module option `machine_uid`) to {uid}.",
    ),
)
