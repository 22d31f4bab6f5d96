# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of the time before an update."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "UPDATE-BUDGET",
        "allows no disruption{also} ({needed} of {pods} pods must be healthy, {healthy} are): {nodes} "
        "cannot be drained",
        "Run `oc describe pdb -n {namespace} {budget}`; give the application one more replica, or its budget "
        "maxUnavailable: 1. Otherwise move the pods by hand during the update.",
    ),
    Code(
        "UPDATE-BUSY",
        "Pods with GPUs run on nodes that reboot when their paused MachineConfigPool is released.",
        "Set `gpu_on_busy: wait` to release the pools when these pods have ended, or `gpu_on_busy: "
        "drain`. `drain` ends them.",
    ),
    Code(
        "UPDATE-CLUSTER",
        "The cluster has no ClusterVersion, an update is running or failing, an operator blocks the update, "
        "or an operator is degraded.",
        "Run `oc adm upgrade` and `oc get clusteroperators`.",
    ),
    Code(
        "UPDATE-CONTROL-PLANE",
        "MachineConfigPool master has {gpus}: no update of the cluster completes while the nodes of the "
        "control plane are held back. Nothing was changed.",
        "Run `oc get machineconfigpools`, and update without gpu_update_pools.",
    ),
    Code(
        "UPDATE-DRIVER",
        "The new kernel has no driver or no driver image, the image is not known, or today's driver does "
        "not fit its kernel.",
        "Build and push the image that the message names. If the checks do not know the image, set "
        "`gpu_update_kernel` and `gpu_update_rhcos`; if they do not know whether it exists, set "
        "`gpu_update_driver_images`.",
    ),
    Code(
        "UPDATE-KMM",
        "No kernel mapping of a Module matches the new kernel, its image is missing, its validation "
        "failed, or it was not verified yet.",
        "Add a mapping to `kmm.kernel_mappings`, and set `kmm.preflight` to verify it.",
    ),
    Code(
        "UPDATE-NODE",
        "A GPU node is cordoned, or its driver or configuration is changing.",
        "Run `oc get nodes -L nvidia.com/gpu-driver-upgrade-state`, and let the change finish first.",
    ),
    Code(
        "UPDATE-NOT-BEGUN",
        "MachineConfigPool {pools} waits for {release}, and the cluster still has {current}: once released, "
        "its nodes would be updated together with all others. Nothing was changed.",
        "Run `oc adm upgrade --to={release}` first. If there will be no update, set `gpu_update_cancelled: "
        "true` (module option cancelled).",
    ),
    Code(
        "UPDATE-OPERATOR",
        "An operator does not support the release, is not installed properly, or does not say which "
        "releases it supports.",
        "Run `oc get csv -A` and `oc get packagemanifest NAME`; update or repair the operator first.",
    ),
    Code(
        "UPDATE-PODS",
        "pods with GPUs that end when their node is drained: {busy}; pods without an owner that creates "
        "them again: {lost}; pods with GPUs that lose an emptyDir: {data}",
        "Run `oc get pods -A -o wide --field-selector spec.nodeName={node}`. Let jobs end or save what "
        "they have; pause their queue during the update.",
    ),
    Code(
        "UPDATE-POOL",
        "A MachineConfigPool is paused or degraded.",
        "Run `oc describe machineconfigpool NAME`; then unpause or repair it.",
    ),
    Code(
        "UPDATE-RELEASE",
        "The release is older than the cluster's, is not offered or not recommended, or the cluster "
        "does not say.",
        "Run `oc adm upgrade`, and choose another release or `oc adm upgrade channel NAME`.",
    ),
    Code(
        "UPDATE-ROLLOUT",
        "MachineConfigPool {pool} is being rolled out: {updated} of {nodes} nodes are updated{also}.",
        "Wait: `oc wait mcp {pool} --for=condition=Updated --timeout=60m`.",
    ),
    Code(
        "UPDATE-SHARED",
        "MachineConfigPool {pool} has {gpus} and {others}: pausing it would hold back the others too. "
        "Nothing was changed.",
        "Run `oc get machineconfigpools`. Give the GPU nodes a MachineConfigPool of their own (a pool with "
        "tuning and reboot: planned has one), or update without gpu_update_pools.",
    ),
)
