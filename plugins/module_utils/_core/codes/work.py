# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of validation."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "WORK-BUSY",
        "Other pods hold devices that the validation needs: {holders}.",
        "Wait for those pods, or set `gpu_validation_strict: false` (module option `strict`) to validate "
        "the other nodes. The installation is not the cause.",
    ),
    Code(
        "WORK-CLAIM-DEVICE",
        "Two pods that use one claim ran at the same time and saw different devices, or another number than "
        "the claim requests.",
        "Run `oc get pods -n nvidia-gpu-operator -o wide`, and read the log of the DRA driver's pod on the "
        "node.",
    ),
    Code(
        "WORK-CONTAINER",
        "The container cannot start: its image runs as root, or its configuration is wrong.",
        "Set `gpu_validation_image` (module option `image`) to an image that runs as an ordinary user.",
    ),
    Code(
        "WORK-FAILED",
        "A pod ended with an error, or its log does not say that it passed. The evidence has the end of the "
        "log.",
        "Run `oc debug node/NODE -- chroot /host dmesg` to find Xid lines; the end of the pod's log gives "
        "its own reason.",
    ),
    Code(
        "WORK-GONE",
        "{number} gone before the result was read: {names}.",
        "Run the playbook again when no other run validates these nodes: `ansible-playbook "
        "playbooks/enable_gpus.yml -e @FILE`.",
    ),
    Code(
        "WORK-IMAGE",
        "The validation image cannot be pulled.",
        "Mirror the image, or set `gpu_validation_image` (module option `image`).",
    ),
    Code(
        "WORK-NO-ACCOUNT",
        "The service account default does not exist yet.",
        "Run `oc get clusteroperator kube-controller-manager`.",
    ),
    Code(
        "WORK-NO-NODES",
        "{selector} selects {number} of {wanted}, so nothing can be validated.",
        "Run `oc get nodes -l {selector}`, and create the nodes of the pool first with `ansible-playbook "
        "playbooks/enable_gpus.yml -e @FILE`.",
    ),
    Code(
        "WORK-RUNNING",
        "Validation pods did not end in time. The task deletes them; a pod that it cannot delete ends by "
        "itself after its `activeDeadlineSeconds`.",
        "Run `oc get pods -n NAMESPACE -o wide`, with the validation namespace.",
    ),
    Code(
        "WORK-SAME-DEVICE",
        "Node {node}: several pods were given the same device {devices}, although the node does not share "
        "its devices.",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-device-plugin-daemonset` for the log on "
        "this node, and check `cdi` of special_resource.",
    ),
    Code(
        "WORK-SHARE-APART",
        "Pods that should share GPUs did not run at the same time, although no other pod held a device. One "
        "of them was refused or ended.",
        "Run `oc describe node NODE`, and read the log of the device plugin, or of the DRA driver, on this "
        "node.",
    ),
    Code(
        "WORK-SHARE-DEVICE",
        "Pods ran at the same time, but not each device had as many pods as `sharing` of the pool says.",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-device-plugin-daemonset`, and `oc get "
        "configmap gpu-sharing -n nvidia-gpu-operator -o yaml`, which has the profile of the pool.",
    ),
    Code(
        "WORK-SHARE-MORE",
        "One pod more than the node has shares got a place on the node.",
        "Run `oc get node NODE -o jsonpath='{.status.allocatable}'` while no pod holds a device there.",
    ),
    Code(
        "WORK-UNSCHEDULABLE",
        "{pod} for node {node} cannot be scheduled: {answer}",
        "Add the taint that the message names to `taints` of the pool in `gpu_pools` (module option "
        "tolerations), or free devices.",
    ),
)
