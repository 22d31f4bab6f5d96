# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of driver upgrades."""

from __future__ import annotations

import typing as t

from .code import Code

_OPERATOR: t.Final = "Run `oc logs -n nvidia-gpu-operator deployment/gpu-operator`."

CODES: t.Final = (
    Code(
        "UPGRADE-BRANCH",
        "Nobody publishes this branch of the driver for the GPU operator, or it no longer supports the GPUs "
        "of a node.",
        "Set `gpu_driver_branch` (module option branch) to a branch that the message names.",
    ),
    Code(
        "UPGRADE-BUSY",
        "Pods with GPUs run on nodes whose driver would be replaced. Nothing was changed.",
        "Set `gpu_on_busy: drain` (module option on_busy), or `wait` to upgrade a node when its pods have"
        " ended. `drain` ends the pods with GPUs.",
    ),
    Code(
        "UPGRADE-CANARY",
        "canary: {node} is no node of the chosen pools.",
        "Set `gpu_upgrade_canary` (module option canary) to one of {nodes}.",
    ),
    Code(
        "UPGRADE-FOREIGN",
        "{policy} was not made by this collection, so the task does not change its driver.",
        "Set `gpu_operator_adopt: take` (module option adopt), or change the driver where the object is "
        "kept.",
    ),
    Code(
        "UPGRADE-GANG",
        "A gang (the pods of one job) ends whole or not at all, and a budget keeps a part of it.",
        "Run `oc get pdb -A` and raise the budget, or set `gpu_on_busy: wait` (module option on_busy).",
    ),
    Code(
        "UPGRADE-IMAGE",
        "The registry lacks the image of the new driver for a node. The message says what it has instead.",
        "Set `gpu_driver_branch` (module option branch) to a branch whose driver the registry has.",
    ),
    Code(
        "UPGRADE-IN-USE",
        "A driver pod restarted without the upgrade controller, and pods with GPUs block it.",
        "Run `oc annotate node NODE nvidia.com/gpu-driver-upgrade-requested=true`: the operator empties "
        "the node first. Pods with GPUs there end.",
    ),
    Code(
        "UPGRADE-JOB",
        "probe: is not the manifest of a Job: {fault}.",
        "Set `gpu_upgrade_probe` (module option probe) to the whole manifest of a Job.",
    ),
    Code(
        "UPGRADE-MANUAL",
        "{policy} does not upgrade drivers: upgradePolicy.autoUpgrade is off, or the nodes serve virtual "
        "machines. Only the operator's upgrade controller empties a node before it replaces the driver.",
        "Set `gpu_operator_spec: {driver: {upgradePolicy: {autoUpgrade: true}}}` (module option "
        "driver.upgrade_policy.auto_upgrade of special_resource), and run `ansible-playbook "
        "playbooks/enable_gpus.yml -e @FILE`. Nodes with an older driver are then upgraded one by one, "
        "and pods with GPUs there end.",
    ),
    Code(
        "UPGRADE-NO-DRIVER",
        "The GPU operator brings no driver to this cluster.",
        "Run `ansible-playbook playbooks/enable_gpus.yml` first.",
    ),
    Code(
        "UPGRADE-NO-NODE",
        "Pool {pool} has no node on which the GPU operator runs a driver. Pools that have some: {others}.",
        "Run `oc get nodes -L accelerators.openshift/pool,nvidia.com/gpu.deploy.driver`, and set "
        "gpu_upgrade_pools (module option pools) to pools with GPU nodes.",
    ),
    Code(
        "UPGRADE-NOT-STARTED",
        "The operator does not begin with the upgrade of a node.",
        _OPERATOR,
    ),
    Code(
        "UPGRADE-OTHER",
        "The upgrade to {driver} is {phase}, so the one to {other} does not begin: {passed} of {nodes} "
        "nodes have passed the gate.",
        "Set `gpu_upgrade_action: resume`: run `ansible-playbook playbooks/upgrade_driver.yml -e "
        "gpu_upgrade_action=resume`. Or give that upgrade up with `oc delete -n {namespace} configmap "
        "gpu-driver-upgrade`.",
    ),
    Code(
        "UPGRADE-PROBE",
        "The probe failed on an upgraded node, or did not end.",
        "Correct the Job in `gpu_upgrade_probe`, or what its log in the evidence shows.",
    ),
    Code(
        "UPGRADE-QUEUE",
        "Kueue has not requeued the Workloads of a stopped ClusterQueue, or the task may not end them.",
        "Run `oc logs -n openshift-kueue-operator deployment/kueue-controller-manager`, or set "
        "`gpu_upgrade_queues: hold` (module option queues).",
    ),
    Code(
        "UPGRADE-RELABELLED",
        "A node says upgrade-done, and runs the old driver.",
        _OPERATOR,
    ),
    Code(
        "UPGRADE-ROLLBACK",
        "The operator does not bring the old driver back to its DaemonSet.",
        _OPERATOR,
    ),
    Code(
        "UPGRADE-ROLLED-BACK",
        "An interrupted run failed ({failure}), and this run finished its rollback.",
        "Repair the cause, then run `ansible-playbook playbooks/upgrade_driver.yml` again.",
    ),
    Code(
        "UPGRADE-SLOW",
        "The nodes of a wave took longer than they may.",
        "End what the message says a node waits for, or raise `gpu_upgrade_node_timeout`.",
    ),
    Code(
        "UPGRADE-STATE",
        "ConfigMap gpu-driver-upgrade holds no state of an upgrade that this collection can read: {error}.",
        "Run `oc get -n {namespace} configmap gpu-driver-upgrade -o yaml`, then `oc delete -n {namespace}"
        " configmap gpu-driver-upgrade`: no pod ends, and the next run plans anew.",
    ),
    Code(
        "UPGRADE-STUCK",
        "A node stays at upgrade-required, because the upgrade controller may begin with no further node.",
        "Make cordoned nodes schedulable, repair nodes that are not Ready, or raise "
        "`gpu_operator_spec: {driver: {upgradePolicy: {maxUnavailable: 50%}}}`.",
    ),
    Code(
        "UPGRADE-TRIPLE",
        "The task names no driver, or only a part of one.",
        "Set `gpu_driver_version`, `gpu_driver_repository` and `gpu_driver_image`, or `gpu_driver_branch` "
        "alone.",
    ),
    Code(
        "UPGRADE-WAVE",
        "The wave is no number or percentage, or is larger than the largest pool.",
        "Set `gpu_upgrade_wave` (module option wave) to a smaller number, or to a percentage.",
    ),
    Code(
        "UPGRADE-WINDOW",
        "window: {window} {fault}.",
        'Set `gpu_upgrade_window` (module option window) to two different times in UTC: "22:00-04:00".',
    ),
)
