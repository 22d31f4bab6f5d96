# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of validation."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "WORK-ARCH",
        "Node {node}: image {image} of pod {pod} has no code for the architecture of the GPU.",
        "Set `validate.programs[].image` of the pool in `gpu_pools` to an image for this "
        "GPU: one with CUDA 12 for Volta and older, with CUDA 12.8 or newer for Blackwell.",
    ),
    Code(
        "WORK-BASELINE",
        "Node {node}: {program} measured {figure} on {device}. Its own baseline allows {limit}: the node "
        "became slower.{reasons}",
        "Run `oc debug node/{node} -- chroot /host dmesg` to find Xid lines and throttling. If the new "
        "figures are right, `oc delete configmap gpu-validation-baselines -n gpu-validation` lets the "
        "baselines of all nodes begin anew.",
    ),
    Code(
        "WORK-BUSY",
        "Other pods hold devices that the validation needs: {holders}.",
        "Wait for those pods, or set `gpu_validation_strict: false` (module option `strict`) to validate "
        "the other nodes. The installation is not the cause.",
    ),
    Code(
        "WORK-CLAIM-DEVICE",
        "Pool {pool}: one claim did not give its pods the same devices: {why}.",
        "Run `oc describe node {node}`, then `oc get pods -n nvidia-gpu-operator -o wide` to find the DRA "
        "driver's pod on it, and read its log.",
    ),
    Code(
        "WORK-CONSUMER",
        "Consumer {consumer} of the GPUs did not end well: {object}: {answer}",
        "Correct the objects in gpu_validation_consumers (module option prove.consumers), and run "
        "`ansible-playbook playbooks/validate.yml -e @FILE`; the evidence has the end of the log.",
    ),
    Code(
        "WORK-CONTAINER",
        "the container of pod {pod} on node {node} cannot start: {answer}",
        "Set `gpu_validation_image` (module option `image`) to an image that runs as an ordinary user.",
    ),
    Code(
        "WORK-FABRIC",
        "Node {node}: {why}",
        "Run `oc logs -n nvidia-gpu-operator -l app.kubernetes.io/component=nvidia-driver --tail=200`: the "
        "fabric manager runs in the driver pod. In an NVL72 rack it runs on the NVLink switches.",
    ),
    Code(
        "WORK-FAILED",
        "Node {node}: pod {pod} did not pass: it {ended}: {last_line}",
        "Run `oc debug node/{node} -- chroot /host dmesg` to find Xid lines; the evidence has the end of the "
        "pod's log.",
    ),
    Code(
        "WORK-FAULT",
        "Node {node}: {faults}",
        "Run `oc debug node/{node} -- chroot /host dmesg` to find Xid lines of the GPU.",
    ),
    Code(
        "WORK-GATE-DOWN",
        "The gate for new nodes has not worked for 15 minutes, so new nodes stay closed to pods.",
        "Run `oc logs -n gpu-validation -l accelerators.openshift/gate` to see why. `ansible-playbook "
        "playbooks/validate.yml -e @FILE` validates the new nodes and opens them.",
    ),
    Code(
        "WORK-GATE-IMAGE",
        "ImageStream openshift/cli has no image of `oc` for the gate of new nodes.",
        "Run `oc get imagestream cli -n openshift -o yaml`, or set `gpu_validation_gate_image` (module "
        "option `gate_image`) to an image with `oc` and bash.",
    ),
    Code(
        "WORK-GONE",
        "{number} gone before the result was read: {names}.",
        "Run the playbook again when no other run validates these nodes: `ansible-playbook "
        "playbooks/enable_gpus.yml -e @FILE`.",
    ),
    Code(
        "WORK-IMAGE",
        "pod {pod} on node {node} cannot pull its image: {answer}",
        "Mirror the image, or set `gpu_validation_image` (module option `image`).",
    ),
    Code(
        "WORK-IMEX-CHANNEL",
        "Node {node}: a pod that claims one channel of a ComputeDomain does not have exactly one: {why}.",
        "Run `oc get pods -A -o wide --field-selector spec.nodeName={node}` to find the pods of the DRA "
        "driver and of the ComputeDomain there, and read their logs.",
    ),
    Code(
        "WORK-IMEX-KIND",
        "Node {node} is in an NVLink domain, but the cluster has no kind ComputeDomain: no pod can claim a "
        "channel.",
        "Remove compute_domain from `validate.programs` of the pool in `gpu_pools`, or install NVIDIA's DRA "
        "driver with its compute domains.",
    ),
    Code(
        "WORK-LOW",
        "Node {node}: {program} measured {figure} on {device}, and a good one measures at least "
        "{limit}.{reasons}",
        "Run `oc debug node/{node} -- chroot /host dmesg` to find Xid lines and throttling; set `expected` "
        "of the program in `validate.programs` of the pool in `gpu_pools` if this figure is good here.",
    ),
    Code(
        "WORK-NO-ACCOUNT",
        "The service account default does not exist yet.",
        "Run `oc get clusteroperator kube-controller-manager`.",
    ),
    Code(
        "WORK-NODES",
        "{selector} selects {number} of {wanted}, so nothing can be validated.",
        "Run `oc get nodes -l {selector}`, and create the nodes of the pool first with `ansible-playbook "
        "playbooks/enable_gpus.yml -e @FILE`.",
    ),
    Code(
        "WORK-PEER",
        "Node {node}: {program} measured {figure} on {device}, and the others of {pool} measure {limit} "
        "(median).{reasons}",
        "Run `oc debug node/{node} -- chroot /host dmesg` to find Xid lines and throttling; set "
        "`validate.tolerance` of the pool in `gpu_pools` if devices of the pool may differ more.",
    ),
    Code(
        "WORK-RDMA-DEVICE",
        "Node {node}: the pod has no RDMA device of its network: {why}.",
        "Run `oc describe node {node}`: the resource of the network has to be in its Allocatable. "
        "`ansible-playbook playbooks/enable_gpus.yml -e @FILE` makes the networks.",
    ),
    Code(
        "WORK-RDMA-EXTRA",
        "Node {node}: pods get RDMA devices that they did not ask for: {why}.",
        "Run `ansible-playbook playbooks/upgrade_operators.yml -e @FILE`: GPU operator 26.3.0 to 26.3.2 "
        "gives each GPU pod all RDMA devices of its node, and 26.3.3 does not.",
    ),
    Code(
        "WORK-RDMA-GPU",
        "Node {node}: the NIC does not reach the memory of the GPU: {why}.",
        "Set `driver.kernel_module_type` of the pool in `gpu_pools` to open for DMA-BUF, or, for GPUs before "
        "Turing, `driver.rdma.enabled` to true with the NIC driver of NVIDIA. New driver pods end pods that "
        "use GPUs.",
    ),
    Code(
        "WORK-RDMA-IMAGE",
        "Node {node}: the image of program rdma cannot test it: {why}.",
        "Set `validate.programs[].image` of the pool in `gpu_pools` to an image with perftest that was built "
        "with CUDA.",
    ),
    Code(
        "WORK-RDMA-PATH",
        "Node {node}: RDMA does not reach the other node: {why}.",
        "Run `oc debug node/{node} -- chroot /host rdma link` on both nodes: the links have to be ACTIVE, in "
        "one network, and for RoCE with addresses of one subnet.",
    ),
    Code(
        "WORK-RDMA-RAIL",
        "Node {node}: {program} measured {figure} on {device}, at most half of what host memory gives, and a "
        "good one measures at least {limit}: the data goes over the processor.{reasons}",
        "Run `oc debug node/{node} -- chroot /host lspci -tv` to see under which switch NIC and GPU are. "
        "Choose NICs near the GPUs for the network, and switch ACS off in the firmware of the machine.",
    ),
    Code(
        "WORK-RDMA-RIGHTS",
        "Node {node}: pods may not lock the memory that RDMA needs: {why}.",
        "Ask a cluster administrator to save the objects of docs/validation.md (Rights for RDMA) as "
        "rights.yml and to run `oc apply -f rights.yml`: they give ServiceAccount default of the namespace "
        "capability IPC_LOCK. Or set an unlimited memlock for CRI-O, as that page says.",
    ),
    Code(
        "WORK-RDMA-SOCKETS",
        "Node {node}: NCCL did not use RDMA over the network of the program: {why}.",
        "Run `oc debug node/{node} -- chroot /host rdma link`. Program rdma over the same network says what "
        "keeps RDMA from working, and the evidence has the lines of NCCL.",
    ),
    Code(
        "WORK-RUNNING",
        "Validation pods did not end in time. The task deletes them; a pod that it cannot delete ends by "
        "itself after its `activeDeadlineSeconds`.",
        "Run `oc describe pods -n {namespace}`.",
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
        "Pool {pool}: pods that should share GPUs did not run at the same time: {why}.",
        "Run `oc describe node {node}`, and read the log of the device plugin, or of the DRA driver, on this "
        "node.",
    ),
    Code(
        "WORK-SHARE-DEVICE",
        "Pool {pool}: not each device had as many pods as `sharing` of the pool says: {why}.",
        "Run `oc get configmap gpu-sharing -n nvidia-gpu-operator -o yaml`, which has the profile of the "
        "pool, and read the log of the device plugin on node {node}.",
    ),
    Code(
        "WORK-SHARE-MORE",
        "Pool {pool}: the node has a place for more pods than shares: {why}.",
        "Run `oc get node {node} -o jsonpath='{.status.allocatable}'` while no pod holds a device there.",
    ),
    Code(
        "WORK-UNSCHEDULABLE",
        "{pod} for node {node} cannot be scheduled: {answer}",
        "Add the taint that the message names to `taints` of the pool in `gpu_pools` (module option "
        "tolerations), or free devices.",
    ),
)
