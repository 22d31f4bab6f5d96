# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes about the driver of the GPU stack."""

from __future__ import annotations

import typing as t

from .code import Code

DRIVER: t.Final = (
    Code(
        "GPU-BUSY",
        "The write would replace or remove the driver of nodes on which pods use GPUs. The message names the "
        "nodes, the pods, why they end and who ends them. Nothing was changed.",
        "Set `gpu_on_busy` (module option `on_busy`) to wait or drain.",
    ),
    Code(
        "GPU-DRV-BRANCH",
        "The branch of the driver does not support the GPU: 580 is the last one for Maxwell, Pascal and "
        "Volta, and a GPU of today needs a newer branch than an old release has.",
        "Set `driver` of the pool to a branch that supports the GPU, for old GPUs 580. The new driver pods "
        "end pods that use GPUs, and upgrade_driver.yml asks first.",
    ),
    Code(
        "GPU-DRV-BUILD",
        "This release of the driver cannot be built for the node's kernel, or was built for another one.",
        "Set `driver.version` of the pool to a release that supports the kernel; the new driver pods end "
        "pods that use GPUs, and upgrade_driver.yml asks first.",
    ),
    Code(
        "GPU-DRV-CRASH",
        "The driver's pod crashes. The message explains the log where it is known.",
        "Run `oc logs -n nvidia-gpu-operator POD --previous`.",
    ),
    Code(
        "GPU-DRV-FLAVOUR",
        "The log names the flavour of kernel modules, open or proprietary, that the GPU needs, and the other "
        "one is loaded.",
        "Set `driver.kernel_module_type` of the pool to auto, or to the flavour that the message names; the "
        "new driver pods end pods that use GPUs.",
    ),
    Code(
        "GPU-DRV-INIT",
        "The driver is loaded and cannot initialize a GPU. Possible causes are its system processor (GSP), "
        "its "
        "VBIOS, too little PCI address space (BAR) and a broken board; a wrong flavour of kernel modules "
        "has a text and a code of its own.",
        "Run `oc debug node/NODE -- chroot /host dmesg`, and read the lines with NVRM.",
    ),
    Code(
        "GPU-DRV-INUSE",
        "The old driver is still in use on the node.",
        "Run `oc adm drain NODE --ignore-daemonsets`, or reboot the node; do not delete driver pods by "
        "hand. Both end the pods on the node.",
    ),
    Code(
        "GPU-DRV-LOAD",
        "The node does not load the driver's kernel module, or the module finds no GPU that it can serve.",
        "Run `oc debug node/NODE -- chroot /host dmesg`: its lines with NVRM or nvidia name the cause.",
    ),
    Code(
        "GPU-DRV-MISMATCH",
        "The kernel module that a node has loaded and the NVIDIA library of a program are of different "
        "releases.",
        "If other pods of the node work, update that program. Else run `oc adm drain NODE "
        "--ignore-daemonsets`, which ends the pods of the node, and reboot it.",
    ),
    Code(
        "GPU-DRV-NODTK",
        "The operator builds the driver without the Driver Toolkit, as its log or its DaemonSet shows.",
        "Run `oc get imagestream driver-toolkit -n openshift`, and repair its tags; entitlements are not "
        "needed.",
    ),
    Code(
        "GPU-DRV-NOUVEAU",
        "Another driver, such as nouveau or vfio-pci, holds the GPU.",
        "Run `oc debug node/NODE -- chroot /host lspci -nnk -d 10de:` to see which; for nouveau set "
        "modprobe.blacklist=nouveau in kernel_arguments below `tuning` of the pool, which reboots its nodes.",
    ),
    Code(
        "GPU-DRV-OUTDATED",
        "A driver pod has an older revision than its DaemonSet, and the operator has not begun an upgrade of "
        "the node. If somebody's label nvidia.com/gpu-driver-upgrade.skip keeps the pod, the task fails at "
        "once.",
        "Set `driver.upgrade_policy.auto_upgrade: true`, or in a playbook `gpu_operator_spec: {driver: "
        "{upgradePolicy: {autoUpgrade: true}}}`, or take the label away. The operator then ends the pods "
        "with GPUs on the node.",
    ),
    Code(
        "GPU-DRV-PRECOMPILED",
        "No precompiled driver image exists for a node's kernel, or the image is for another kernel. The "
        "task checks this first, where the cluster can look for images.",
        "Build and push the image that the message names, or set `driver.use_precompiled: false`.",
    ),
    Code(
        "GPU-DRV-REPO",
        "The driver's container does not reach a package repository, which it needs without the Driver "
        "Toolkit.",
        "Run `oc get imagestream driver-toolkit -n openshift`, and repair its tags; if the driver needs a "
        "repository all the same, check `oc get proxy cluster -o yaml`.",
    ),
    Code(
        "GPU-DRV-SIGN",
        "Secure Boot rejects the kernel module.",
        "Turn Secure Boot off in the machine set, or use signed precompiled drivers with "
        "`driver.use_precompiled: true`.",
    ),
    Code(
        "GPU-DTK-DAEMONSET",
        "The operator has no driver DaemonSet for a node's RHCOS version or kernel for longer than `grace`.",
        "Run `oc logs -n nvidia-gpu-operator deployment/gpu-operator`.",
    ),
    Code(
        "GPU-DTK-OSIMAGE",
        "No Driver Toolkit is known for that RHCOS version.",
        "Run `oc get imagestream driver-toolkit -n openshift`, and import the missing tag, or update Kernel "
        "Module Management.",
    ),
    Code(
        "GPU-DTK-STALE",
        "A label OSTREE_VERSION, RHEL_VERSION or OPENSHIFT_VERSION contradicts the node's osImage.",
        "Run `oc delete pod -n openshift-nfd -l app=nfd-worker --field-selector spec.nodeName=NODE`.",
    ),
    Code(
        "GPU-DTK-STREAM",
        "The ImageStream driver-toolkit has no tag for a node's RHCOS version, or does not exist.",
        "Run `oc get imagestream driver-toolkit -n openshift -o yaml`, and import the missing tag.",
    ),
    Code(
        "GPU-KERNEL-STALE",
        "A node's label kernel-version.full names another kernel than the node runs, for longer than "
        "`grace`.",
        "Run `oc delete pod -n openshift-nfd -l app=nfd-worker --field-selector spec.nodeName=NODE`.",
    ),
    Code(
        "GPU-NVD-BACK",
        "The task returns to the driver of the ClusterPolicy, but the operator would not replace the pods "
        "of NVIDIADriver objects.",
        "Change what the message names, or run `ansible-playbook playbooks/remove_gpus.yml -e @FILE --tags "
        "gpu_operator` first.",
    ),
    Code(
        "GPU-NVD-DISABLED",
        "A ClusterPolicy that the collection did not make disables NVIDIADriver objects.",
        "Set `gpu_operator_adopt: take`, or switch them on with the tool that manages the policy.",
    ),
    Code(
        "GPU-NVD-EMPTY",
        "An NVIDIADriver has no DaemonSet for a node that it owns for longer than `grace`; its state "
        "does not count.",
        "Run `oc logs -n nvidia-gpu-operator deployment/gpu-operator`, and check that the node has the "
        "label VERSION_ID.major.",
    ),
    Code(
        "GPU-NVD-FAILED",
        "The operator cannot reconcile an NVIDIADriver for longer than `grace`.",
        "Run `oc describe nvidiadriver NAME`.",
    ),
    Code(
        "GPU-NVD-FOREIGN",
        "The task returns to the driver of the ClusterPolicy, but an NVIDIADriver that the collection did "
        "not make serves nodes.",
        "Run `oc label --field-manager=accelerators.openshift nvidiadriver NAME "
        "app.kubernetes.io/managed-by=accelerators.openshift` to let the "
        "task replace it too.",
    ),
    Code(
        "GPU-NVD-LEFT",
        "The ClusterPolicy disables NVIDIADriver objects, but a DaemonSet of one still holds a node for "
        "longer than `grace`.",
        "Set `gpu_operator_spec: {driver: {useNvidiaDriverCRD: false}}` (module option `spec`, or "
        "`driver.use_nvidia_driver_crd: false`).",
    ),
    Code(
        "GPU-NVD-MODE",
        "NVIDIADriver objects install the drivers, and backend clusterpolicy would replace them with one "
        "driver for all nodes.",
        "Set `gpu_operator_spec: {driver: {useNvidiaDriverCRD: false}}` (module option `spec`, or "
        "`driver.use_nvidia_driver_crd: false`) to go back, or keep pools with different drivers in "
        "`gpu_pools` (module option `backend`: nvidiadriver).",
    ),
    Code(
        "GPU-NVD-NOTREADY",
        "An NVIDIADriver does not exist, is not ready, or has not passed its new version to its DaemonSet.",
        "Run `oc describe nvidiadriver NAME`.",
    ),
    Code(
        "GPU-NVD-OVERLAP",
        "Two NVIDIADrivers select the same node, or two are the default.",
        "Change `node_selector` so that no node matches two drivers, or run `oc delete nvidiadriver "
        "NAME`. The deletion ends the pods with GPUs on the nodes of that driver alone.",
    ),
    Code(
        "GPU-NVD-OWNER",
        "A node's driver belongs to another NVIDIADriver than the one that selects the node, or to none.",
        "Run `oc get nvidiadriver -o yaml` to find another one that selects the node.",
    ),
    Code(
        "GPU-NVD-RELEASE",
        "The GPU operator is older than 26.7, and would remove the old driver from all nodes at once.",
        "Upgrade the operator with `gpu_operator_approve: upgrade`, or give all pools of `gpu_pools` the "
        "same driver.",
    ),
    Code(
        "GPU-RDMA-ABI",
        "nvidia-peermem was built for another NIC driver.",
        "Run `oc delete pod NAME -n nvidia-gpu-operator` for one driver pod after the other. Each ends "
        "the pods with GPUs on its node.",
    ),
    Code(
        "GPU-RDMA-ORDER",
        "The peermem container waits for the NIC driver.",
        "Run `oc describe nicclusterpolicy`.",
    ),
    Code(
        "GPU-UPG-EMPTYDIR",
        "A pod with an emptyDir volume holds the GPU.",
        "Set `driver.upgrade_policy` with deleteEmptyDir, or delete the pod with `oc delete pod NAME -n "
        "NAMESPACE`. Both end the pod, and what is in its volume is lost.",
    ),
    Code(
        "GPU-UPG-FAILED",
        "A driver upgrade failed on a node. The node stays cordoned, unless a rollback followed.",
        "If the new driver pod is there, repair it and run `oc delete pod NAME -n nvidia-gpu-operator`; "
        "if the old one is, end the pods that hold GPUs and run `oc label node NODE "
        "nvidia.com/gpu-driver-upgrade-state=upgrade-required --overwrite`. Both end the pods with GPUs "
        "on the node.",
    ),
    Code(
        "GPU-UPG-HELD",
        "A run of upgrade_driver.yml that was killed or paused, that waits for its window, or that left the "
        "pool out, holds a node with an older driver back. The message names the run and since when.",
        "Run `ansible-playbook playbooks/upgrade_driver.yml -e gpu_upgrade_action=resume`. It asks before it "
        "ends pods with GPUs on these nodes.",
    ),
    Code(
        "GPU-UPG-KEPT",
        "The GPU operator's upgrade controller cannot delete pods with GPUs, so it would delete none on "
        "their nodes and leave these cordoned at upgrade-failed. It deletes no static pods and none of "
        "DaemonSets, and pods with an emptyDir or without a controller only if "
        "`upgradePolicy.podDeletion` says so.",
        "Keep the DaemonSet off the nodes by a nodeSelector, or move the static pod's file away: both end "
        "the pods. For the others save what they hold, and allow the deletion in "
        "`gpu_operator_spec: {driver: {upgradePolicy: {podDeletion: {force: true, deleteEmptyDir: true}}}}`.",
    ),
    Code(
        "GPU-UPG-POLICY",
        "The upgrade policy forbids what the driver manager needs to do.",
        "Set pod deletion or drain in `driver.upgrade_policy`.",
    ),
    Code(
        "GPU-UPG-RUNNING",
        "A driver upgrade is still running on a node. The operator needs 2 to 10 minutes a node; the "
        "message says how many nodes are left.",
        "Run the same task again, which waits for the rest, or raise `gpu_operator_node_timeout`; `oc get "
        "pods -A --field-selector spec.nodeName=NODE` finds pods that hold a GPU.",
    ),
)
