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
        "branch: nobody publishes branch {branch} for the GPU operator (as of {as_of}).",
        "Set `gpu_driver_branch` (module option branch) to one of {known}, or name the driver by "
        "gpu_driver_version, gpu_driver_repository and gpu_driver_image.",
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
        "{gang} ends whole or not at all, and {why}.",
        "Run `oc get pdb -A`, and raise the budget or end the job; or set `gpu_on_busy: wait` (module "
        "option on_busy).",
    ),
    Code(
        "UPGRADE-IMAGE",
        "{image} is not in the registry, and {nodes} would need it. The registry has {found}. Nothing was "
        "changed.",
        "Set `gpu_driver_branch` (module option branch) to {branches}, and leave out gpu_driver_version.",
    ),
    Code(
        "UPGRADE-IN-USE",
        "Node {node}: its driver pod restarted without the upgrade controller, and pods with GPUs block it.",
        "Run `oc annotate node {node} nvidia.com/gpu-driver-upgrade-requested=true`: the operator empties "
        "the node first, and pods with GPUs there end.",
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
        "The GPU operator brings no driver to this cluster: {why}.",
        "Run `ansible-playbook playbooks/enable_gpus.yml -e @FILE` first.",
    ),
    Code(
        "UPGRADE-NO-NODE",
        "Pool {pool} has no node on which the GPU operator runs a driver. Pools that have some: {others}.",
        "Run `oc get nodes -L accelerators.openshift/pool,nvidia.com/gpu.deploy.driver`, and set "
        "gpu_upgrade_pools (module option only) to pools with GPU nodes.",
    ),
    Code(
        "UPGRADE-NO-OBJECT",
        "No NVIDIADriver brings the driver of {nodes}: label {label} names none.",
        "Run `oc get nvidiadriver -o yaml`. Give one of them a nodeSelector that fits these nodes, or set "
        "gpu_upgrade_pools (module option only) to other pools.",
    ),
    Code(
        "UPGRADE-NOT-STARTED",
        "Node {node}: runs {image} and is at {state}; the operator has not begun with {driver}.",
        _OPERATOR,
    ),
    Code(
        "UPGRADE-OLD-GPU",
        "{driver} does not serve node {node}: {fault}. Nothing was changed.",
        "Set `gpu_driver_branch` (module option branch) to {last}, or gpu_upgrade_pools (module option "
        "only) to pools with newer GPUs; with an NVIDIADriver for each pool they can have different "
        "drivers.",
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
        "The probe on node {node} {trouble} (Job {job}).",
        "Correct the Job in `gpu_upgrade_probe` (module option probe), or what its log in the evidence "
        "shows; its activeDeadlineSeconds ends a Job that hangs.",
    ),
    Code(
        "UPGRADE-QUEUE",
        "Kueue has not requeued {workloads} yet.",
        "Run `oc describe workloads.kueue.x-k8s.io {name} -n {namespace}` and `oc logs -n "
        "openshift-kueue-operator deployment/kueue-controller-manager`, then run again. With "
        "`gpu_upgrade_queues: hold` (module option queues) the task requeues nothing.",
    ),
    Code(
        "UPGRADE-QUEUE-DRAIN",
        "queues: drain ends the Workloads of the queues, and on_busy is {on_busy}.",
        "Set `gpu_on_busy: drain` (module option on_busy) as well, which ends them, or "
        "`gpu_upgrade_queues: hold` (module option queues).",
    ),
    Code(
        "UPGRADE-RELABELLED",
        "Node {node}: says {state}, but runs {image}.",
        _OPERATOR,
    ),
    Code(
        "UPGRADE-ROLLED-BACK",
        "An interrupted run failed ({failure}), and this run finished its rollback.",
        "Repair the cause, then run `ansible-playbook playbooks/upgrade_driver.yml -e "
        "gpu_driver_branch=BRANCH`.",
    ),
    Code(
        "UPGRADE-SLOW",
        "{trouble}, after {seconds} s for the wave.",
        "End what the message says a node waits for, or raise `gpu_upgrade_node_timeout` (module option "
        "node_timeout).",
    ),
    Code(
        "UPGRADE-STATE",
        "ConfigMap gpu-driver-upgrade holds no state of an upgrade that this collection can read: {error}.",
        "Run `oc get -n {namespace} configmap gpu-driver-upgrade -o yaml`, then `oc delete -n {namespace}"
        " configmap gpu-driver-upgrade`: no pod ends, and the next run plans anew.",
    ),
    Code(
        "UPGRADE-STUCK",
        "Node {node}: waits at {state}: {why}.",
        "Make these nodes schedulable or repair them, or raise `gpu_operator_spec: {driver: "
        "{upgradePolicy: {maxUnavailable: 50%}}}`.",
    ),
    Code(
        "UPGRADE-TEMPLATE",
        "The operator has not brought the wanted driver to DaemonSet {name} yet.",
        _OPERATOR,
    ),
    Code(
        "UPGRADE-TRIPLE",
        "{option}: {fault}. The operator takes repository, image and version of a driver only together.",
        "Set `gpu_driver_version`, `gpu_driver_repository` and `gpu_driver_image` together (module options "
        "version, repository and image), or `gpu_driver_branch` (module option branch) alone.",
    ),
    Code(
        "UPGRADE-WAVE",
        "wave: {wave} is {fault}.",
        "Set `gpu_upgrade_wave` (module option wave) to at most the number of nodes of the largest pool, "
        "or to a percentage such as 25%.",
    ),
    Code(
        "UPGRADE-WINDOW",
        "window: {window} {fault}.",
        'Set `gpu_upgrade_window` (module option window) to two different times in UTC: "22:00-04:00".',
    ),
)
