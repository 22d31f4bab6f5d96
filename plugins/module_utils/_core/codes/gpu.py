# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes about the GPU stack: policy, nodes and operands."""

from __future__ import annotations

import typing as t

from .code import Code

STACK: t.Final = (
    Code(
        "GPU-ALLOC",
        "A node offers another number of devices than its pool expects.",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-device-plugin-daemonset`, and check `sharing` "
        "in the pool.",
    ),
    Code(
        "GPU-CDI-LOST",
        "A container lost its devices.",
        "Restart the pod with `oc delete pod NAME -n NAMESPACE`, and set `cdi.enabled: true`. This ends "
        "what the pod computes.",
    ),
    Code(
        "GPU-CP-ABSENT",
        "The ClusterPolicy disappeared during the wait.",
        "Run `oc get events -n nvidia-gpu-operator`.",
    ),
    Code(
        "GPU-CP-CONFLICT",
        "A GPUCluster exists next to the ClusterPolicy, or a GPUCluster still needs the drivers that "
        "the task would remove.",
        "Keep one of the two: run `oc delete gpucluster gpu-cluster`, or keep the GPUCluster with "
        "`backend: dra`. Pods that hold claims of the deleted GPUCluster end.",
    ),
    Code(
        "GPU-CP-IGNORED",
        "An older ClusterPolicy exists, and the operator ignores all others. It does not turn to a younger "
        "one by itself, even once the older one is gone.",
        "Set `name` to the older one, or run `oc delete clusterpolicy OLDER YOUNGER`, and the task again."
        " The deletion takes the drivers away from all nodes, and pods with GPUs end.",
    ),
    Code(
        "GPU-CP-NOTREADY",
        "The ClusterPolicy is not ready, for a reason without a code of its own.",
        "Run `oc describe clusterpolicy NAME`, then `oc logs -n nvidia-gpu-operator "
        "deployment/gpu-operator`.",
    ),
    Code(
        "GPU-CP-OPERAND",
        "The operator waits for operands.",
        "Run `oc get pods -n nvidia-gpu-operator`, and start with the first operand that the message lists.",
    ),
    Code(
        "GPU-CP-RECONCILE",
        "The operator cannot reconcile the ClusterPolicy for longer than `grace`, and makes nothing for any "
        "node. The message quotes the operator.",
        "Run `oc logs -n nvidia-gpu-operator deployment/gpu-operator`; for a missing label of the operating "
        "system run `oc delete pod -n openshift-nfd -l app=nfd-worker`.",
    ),
    Code(
        "GPU-CP-REFERENCE",
        "A Secret, ConfigMap or claim that an option or a pod names does not exist, or lacks a key.",
        "Create it, for example with `oc create configmap NAME -n NAMESPACE --from-file=FILE`, or correct "
        "the option that the message names.",
    ),
    Code(
        "GPU-FABRIC",
        "The NVSwitch fabric of a node is not up.",
        "Run `oc logs -n nvidia-gpu-operator POD` for the driver pod of that node; its fabric manager gives "
        "the cause.",
    ),
    Code(
        "GPU-HW-XID",
        "The device plugin took a GPU out of service after a critical Xid error, or the GPU has fallen off "
        "the "
        "bus.",
        "Run `ansible-playbook playbooks/repair_node.yml -e gpu_node=NODE` ([more](repair.md)); the [table]"
        "(driver-stack.md) has what each Xid requires.",
    ),
    Code(
        "GPU-IMAGE",
        "The image of an operand or of a kernel module cannot be pulled for longer than `grace`. The message "
        "says whether the registry lacks it, refuses the login, limits pulls, or is not reached.",
        "Correct the operand's `repository`, `image` and `version`, mirror the image, or change the login "
        "with "
        "`ansible-playbook playbooks/rotate_pull_secret.yml`, as the message says.",
    ),
    Code(
        "GPU-LEFTOVER",
        "Operands still exist after the ClusterPolicy was deleted.",
        "Run `oc get daemonset,pods -n nvidia-gpu-operator` to find finalizers and pods that do not end.",
    ),
    Code(
        "GPU-MIG-BUSY",
        "Nodes whose GPUs are to be partitioned anew have pods with GPUs. Nothing was changed.",
        "Set `gpu_on_busy: wait` or `gpu_on_busy: drain` (module option `on_busy`). `drain` ends them.",
    ),
    Code(
        "GPU-MIG-CHANGE",
        "Nodes that offer GPUs are partitioned in another way than their pool says. Pods may use these GPUs, "
        "so only repartition.yml changes them. Nothing was changed.",
        "Run `ansible-playbook accelerators.openshift.repartition -e @FILE`.",
    ),
    Code(
        "GPU-MIG-FAILED",
        "The MIG manager cannot partition a node's GPUs as the label nvidia.com/mig.config says.",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-mig-manager`; the layout must exist, and no "
        "pod may hold a GPU.",
    ),
    Code(
        "GPU-MIG-FILE",
        "The ConfigMap that the ClusterPolicy names for the MIG manager is not written in a form to which "
        "configurations can be added. Nothing was changed.",
        "Run `oc edit configmap NAME -n nvidia-gpu-operator`, and write config.yaml in block style, with the "
        "configurations below a line mig-configs.",
    ),
    Code(
        "GPU-MIG-FOREIGN",
        "A node has a MIG configuration of the operator's own file, and the MIG manager would read the file "
        "of the pools instead. Nothing was changed.",
        "Make the node part of a pool with that geometry, or write a ConfigMap NAME that has the "
        'configuration, and run `oc patch $(oc get clusterpolicy -o name) --type merge -p \'{"spec": '
        '{"migManager": {"config": {"name": "NAME"}}}}\'`. The MIG manager then restarts on every node, '
        "and a geometry that differs ends the pods with GPUs there.",
    ),
    Code(
        "GPU-MIG-MANAGER",
        "The MIG manager of a node has not read the file of configurations as it is now.",
        "Run `oc describe daemonset -n nvidia-gpu-operator nvidia-mig-manager`.",
    ),
    Code(
        "GPU-MIG-POLICY",
        "The ClusterPolicy does not name the ConfigMap of the pools for the MIG manager, has another "
        "strategy, or the ConfigMap lacks a configuration. Nothing was changed.",
        "Run `ansible-playbook accelerators.openshift.repartition -e @FILE`, which prepares it.",
    ),
    Code(
        "GPU-MIG-REBOOT",
        "A change of the MIG mode needs a reboot of the node.",
        "Set `gpu_mig_reboot: true` and run repartition.yml again: the MIG manager then reboots such a node.",
    ),
    Code(
        "GPU-MIG-RUNNING",
        "The MIG manager is still partitioning a node.",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-mig-manager`.",
    ),
    Code(
        "GPU-MIG-STRATEGY",
        "The pools need another MIG strategy than pools of another list, and a ClusterPolicy has one "
        "strategy. Nothing was changed.",
        "Set `strategy` below sharing.mig of all pools to the same value.",
    ),
    Code(
        "GPU-MODE",
        "The label resource-allocation.mode on a node belongs to the other stack.",
        "Run `oc label node NODE nvidia.com/gpu-operator.resource-allocation.mode-`. No pod ends: the "
        "node offers no device.",
    ),
    Code(
        "GPU-NFD-EMPTY",
        "The operator sees no GPU: a node of the pool has no NVIDIA PCI label for longer than `grace`, or "
        "the ClusterPolicy reports no GPU nodes.",
        "Run `oc get pods -n openshift-nfd -o wide` to check nfd-worker on that node, and add class 03 to "
        "`node_feature_discovery_pci_classes`.",
    ),
    Code(
        "GPU-NFD-KERNEL",
        "A node has no label with its kernel version.",
        "Run `oc delete pod -n openshift-nfd -l app=nfd-worker --field-selector spec.nodeName=NODE`.",
    ),
    Code(
        "GPU-NFD-OSTREE",
        "A node of RHCOS has no label OSTREE_VERSION, which the operator needs to find the Driver Toolkit.",
        "Install Red Hat's operator nfd instead of upstream's: `ansible-playbook playbooks/enable_gpus.yml "
        "-e @FILE`.",
    ),
    Code(
        "GPU-NODE-DEGRADED",
        "The machine-config daemon cannot configure a node and has stopped trying.",
        "Run `oc logs POD -n openshift-machine-config-operator -c machine-config-daemon` for the daemon's "
        "pod on that node.",
    ),
    Code(
        "GPU-NODE-NOTREADY",
        "A node of the pool is not Ready.",
        "Run `oc describe node NODE`.",
    ),
    Code(
        "GPU-NODE-UPDATING",
        "The machine-config operator is about to reboot a node with a new configuration.",
        "Run `oc get machineconfigpools`, and find the pods that keep the node from being drained.",
    ),
    Code(
        "GPU-NODES",
        "A pool has fewer nodes than it expects.",
        "Run `oc get nodes -l SELECTOR` and `oc get machines -n openshift-machine-api`.",
    ),
    Code(
        "GPU-OPERAND",
        "An operand's pod does not exist, is not Ready, or has an older revision than its DaemonSet.",
        "Run `oc describe pod NAME -n nvidia-gpu-operator`.",
    ),
    Code(
        "GPU-OPERAND-CRASH",
        "An operand other than the driver crashes.",
        "Run `oc logs -n nvidia-gpu-operator POD --previous`.",
    ),
    Code(
        "GPU-OPERAND-OOM",
        "A container of the stack was ended because it needed more memory than its limit, or than its node "
        "has (OOMKilled).",
        "Raise `resources.limits.memory` of the operand that the message names, in gpu_operator_spec.",
    ),
    Code(
        "GPU-OPERAND-LACKING",
        "A node's labels require an operand, but no DaemonSet selects the node, or its DaemonSet wants no "
        "pod there.",
        "Run `oc describe daemonset -n nvidia-gpu-operator`, and compare its nodeSelector with the node's "
        "labels; for the driver compare OSTREE_VERSION.",
    ),
    Code(
        "GPU-OPTED-OUT",
        "A label nvidia.com/gpu.deploy.*=false keeps operands away from a node of the pool.",
        "Run `oc label node NODE nvidia.com/gpu.deploy.operands-` for the label that the message names. "
        "If pods with GPUs run there, a driver that starts ends them.",
    ),
    Code(
        "GPU-PAUSED",
        "Labels with the value paused-for-driver-upgrade are left from a driver upgrade and keep operands "
        "away.",
        "Run `oc label node NODE --overwrite nvidia.com/gpu.deploy.device-plugin=true` for each label "
        "that the message names. No pod ends: the operator only adds what is missing.",
    ),
    Code(
        "GPU-PROFILE",
        "A label of a node, or the ClusterPolicy, names a profile of the device plugin or a layout of the "
        "MIG manager that its ConfigMap does not have, or one that the program refuses. The message names "
        "the label, the node, the ConfigMap and the keys that exist.",
        "Run `oc label node NODE nvidia.com/device-plugin.config=KEY --overwrite` (or nvidia.com/mig.config) "
        "with a key that exists, or add the key to the ConfigMap. Another layout of the MIG manager ends the "
        "pods that use the GPUs.",
    ),
    Code(
        "GPU-PROXY",
        "A container sends its requests to the API server to the proxy, which does not pass them on.",
        "Run `oc get proxy cluster -o jsonpath={.status.noProxy}`: it must have the networks of services, "
        "pods "
        "and machines, .svc and .cluster.local.",
    ),
    Code(
        "GPU-SHARING-BUSY",
        "The way of sharing changes from or to MPS on nodes where pods use GPUs. MPS servers stop or start, "
        "and the CUDA contexts of these pods end. Nothing was changed.",
        "Set `gpu_on_busy: wait` or `gpu_on_busy: drain` (module option `on_busy`). `drain` ends them.",
    ),
    Code(
        "GPU-SHARING-FOREIGN",
        "The device plugin's ConfigMap has a profile with the name of the pool's, another client wrote it, "
        "and it is not what the pool asks for. Nothing was changed.",
        "Run the `oc patch configmap` of the message, or rename the pool. No pod ends: nodes that name "
        "the profile keep it until their device plugin restarts.",
    ),
    Code(
        "GPU-SHARING-LABEL",
        "A node of the pool has the label `nvidia.com/device-plugin.config` for a profile of others. Nothing "
        "was changed.",
        "Run `oc label node NAME nvidia.com/device-plugin.config-`, or remove `sharing` of the pool. The "
        "device plugin then offers whole GPUs; pods that run do not end.",
    ),
    Code(
        "GPU-SHARING-SHARES",
        "A node does not offer the shares of its GPUs that the pool's profile gives, or its labels say "
        "otherwise.",
        "Run the `oc delete pod` of the message: the device plugin reads its profile when it starts. Pods"
        " that run do not end, except those that share by MPS.",
    ),
    Code(
        "GPU-TAINT",
        "The operands do not tolerate a taint of a node.",
        "Add the taint to `gpu_tolerations` (module option `tolerations`), or run `oc adm taint nodes NODE "
        "KEY:EFFECT-`.",
    ),
    Code(
        "GPU-TK-RUNTIME",
        "The container runtime of a node does not know the runtime class nvidia.",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-container-toolkit-daemonset`, or set "
        "`cdi.enabled: true`.",
    ),
    Code(
        "GPU-VAL-BUSY",
        "The operator's validator found no free GPU. The installation itself is not faulty.",
        "Set the variable WITH_WORKLOAD to false in `spec.validator.plugin.env` of the ClusterPolicy.",
    ),
    Code(
        "GPU-VAL-DEVCHAR",
        "The operator's validator cannot create the links to the GPUs below /dev/char; the driver itself may "
        "work.",
        "Set the variable DISABLE_DEV_CHAR_SYMLINK_CREATION to true in `spec.validator.driver.env` of the "
        "ClusterPolicy.",
    ),
    Code(
        "GPU-VGPU-MDEV",
        "A node has no mediated devices.",
        "Turn on SR-IOV and the IOMMU in the host's firmware, and check the driver type with `oc get "
        "clusterpolicy -o yaml`.",
    ),
    Code(
        "GPU-WORKLOAD",
        "A node serves virtual machines for longer than `grace`, by its label nvidia.com/gpu.workload.config "
        "or by `sandbox_workloads.default_workload`, and so offers no GPUs to containers.",
        "Run `oc label node NODE nvidia.com/gpu.workload.config=container --overwrite`. Virtual machines "
        "with GPUs of the node end.",
    ),
)
