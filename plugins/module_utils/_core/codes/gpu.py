# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of the GPU stack."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "GPU-ALLOC",
        "A node offers another number of devices than its pool expects.",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-device-plugin-daemonset`, and check `sharing` "
        "in the pool.",
    ),
    Code(
        "GPU-BUSY",
        "The write would replace or remove the driver of nodes on which pods use GPUs. The message names the "
        "nodes, the pods, why they end and who ends them. Nothing was changed.",
        "Set `gpu_on_busy` (module option `on_busy`) to wait or drain.",
    ),
    Code(
        "GPU-CDI-LOST",
        "The container lost its devices.",
        "Run `oc delete pod {pod} -n {namespace}`, which ends its work; its controller starts a new one. "
        "Set `cdi.enabled` to true.",
    ),
    Code(
        "GPU-CLAIM-BUSY",
        "Pods use a shared claim that has to go, because its pool no longer has it or wants other devices. "
        "The spec of a claim cannot change.",
        "Set `gpu_on_busy: wait` or `gpu_on_busy: drain` (module option `on_busy`). `drain` ends them.",
    ),
    Code(
        "GPU-CLAIM-FOREIGN",
        "ResourceClaim {namespace}/{name} of pool {pool} exists, and another client made it. Nothing was "
        "changed.",
        "Run `oc delete resourceclaim {name} -n {namespace}`, or give the claim another name in "
        "`sharing.claims` of the pool.",
    ),
    Code(
        "GPU-CLAIM-NO-NAMESPACE",
        "Namespace {namespace} of a shared claim does not exist. Nothing was changed.",
        "Run `oc create namespace {namespace}`.",
    ),
    Code(
        "GPU-CLAIM-QUOTA",
        "A quota refuses ResourceClaim {namespace}/{name} of pool {pool}: {answer}",
        "Run `oc describe resourcequota -n {namespace}`, and raise the quota that it names.",
    ),
    Code(
        "GPU-CP-ABSENT",
        "ClusterPolicy {policy} is not there yet.",
        "Run `oc get events -n nvidia-gpu-operator`.",
    ),
    Code(
        "GPU-CP-CONFLICT",
        "{other} exists, and {object} beside it stops both; the operator moves no node from one stack to "
        "the other.",
        "Set gpu_backend to {backend} (module option `backend`) to keep {other}; or remove it first by "
        "special_resource with that backend and state absent, or by `oc delete {resource}`. Pods that hold "
        "its GPUs or claims end.",
    ),
    Code(
        "GPU-CP-IGNORED",
        "ClusterPolicy {older} is there first: the operator ignores {policy}, since only the oldest counts. "
        "It does not turn to {policy} by itself, even once {older} is gone.",
        "Set `name` to {older}, or run `oc delete clusterpolicy {names}`, and the task again. Their drivers "
        "go meanwhile, and pods with GPUs end.",
    ),
    Code(
        "GPU-CP-KEY",
        "{who} names ConfigMap {name}{also}, and needs its key {key}; in namespace {namespace} it has only: "
        "{keys}.",
        "Run `oc edit configmap {name} -n {namespace}`, or correct the key.",
    ),
    Code(
        "GPU-CP-NEEDED",
        "GPUCluster {cluster} needs {drivers}: pods that hold its devices would lose the driver.",
        "Remove that stack first: run special_resource with backend dra and state absent, or `oc delete "
        "gpucluster {cluster}` if this collection did not make it. Pods that hold its claims end.",
    ),
    Code(
        "GPU-CP-NOT-READY",
        "ClusterPolicy {policy} is not ready: {why}.",
        "Run `oc describe clusterpolicy {policy}`, then `oc logs -n nvidia-gpu-operator "
        "deployment/gpu-operator`.",
    ),
    Code(
        "GPU-CP-OPERAND",
        "The operator waits for its operands.",
        "Run `oc get pods -n nvidia-gpu-operator`, and start with the first operand in the list; the "
        "driver comes before all others.",
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
        "{who} names {kind} {name}{also}, which does not exist in namespace {namespace}: pods that need it "
        "do not start.",
        "Run `oc create {resource} {name} -n {namespace} --from-file=FILE`, or correct {option}.",
    ),
    Code(
        "GPU-CR-FAILED",
        "{object} says that it failed{also}.",
        "Run `oc describe {resource}`; its events and conditions give the cause.",
    ),
    Code(
        "GPU-CR-NOT-READY",
        "{object} is not ready{also}.",
        "Run `oc describe {resource}`; its events and conditions give the cause.",
    ),
    Code(
        "GPU-DCGM-PROFILING",
        "DCGM cannot read the GPU's profiling counters: another program uses them, or the driver does not "
        "give them.",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-dcgm-exporter`. One program of a node can use "
        "the counters: end a profiler, dcgmi or second nv-hostengine there, or take the metrics that begin "
        "with DCGM_FI_PROF_ out of the ConfigMap that dcgmExporter of the ClusterPolicy names.",
    ),
    Code(
        "GPU-DELETED",
        "{object} does not exist.",
        "Run the task again; if the object disappears again, run `oc adm node-logs --role=master "
        "--path=kube-apiserver/audit.log` to find who deletes it.",
    ),
    Code(
        "GPU-DRA-BUSY",
        "Pods use {devices} through ResourceClaims: {pods}. Without the DRA driver these pods could not end.",
        "Run `oc get resourceclaims -A`, and delete the pods that hold them first: they end.",
    ),
    Code(
        "GPU-DRA-NOT-READY",
        "GPUCluster {cluster} is not ready: {why}.",
        "Run `oc describe gpucluster {cluster}`, then `oc logs -n nvidia-gpu-operator "
        "deployment/gpu-operator`.",
    ),
    Code(
        "GPU-DRA-RELEASE",
        "This cluster{release} does not serve resource.k8s.io/v1, which dynamic resource allocation needs.",
        "Update to OpenShift 4.21 or later (Kubernetes 1.34) with `oc adm upgrade`, leave out "
        "`gpu_backend`, or use kmm.device_plugin.",
    ),
    Code(
        "GPU-DRA-SLICES",
        "Node {node}: {wrong_slices}.",
        "Run `oc get resourceslices --field-selector spec.nodeName={node} -o yaml` to see what the DRA "
        "driver offers.{also}",
    ),
    Code(
        "GPU-DRV-BRANCH",
        "This release of the driver does not support the GPU.",
        "Set `driver.version` of the pool in gpu_pools (module option driver) to a release that does, for "
        "Maxwell, Pascal and Volta of branch 580; the new driver pods end pods that use GPUs, and "
        "playbooks/upgrade_driver.yml asks first.",
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
        "Run `oc logs -n nvidia-gpu-operator {pod} --previous`.",
    ),
    Code(
        "GPU-DRV-CUDA",
        "The program needs a newer CUDA than the node's driver has, or its container has no driver.",
        "Run `oc get nodes -L nvidia.com/cuda.driver-version.full` to see the driver's release; use an image "
        "with an older CUDA, or set `driver.version` of the pool to a newer release. The new driver pods end "
        "pods that use GPUs, and upgrade_driver.yml asks first.",
    ),
    Code(
        "GPU-DRV-FLAVOR",
        "The log names the flavour of kernel modules, open or proprietary, that the GPU needs, and the other "
        "one is loaded.",
        "Set `driver.kernel_module_type` of the pool to auto, or to the flavour that the message names; the "
        "new driver pods end pods that use GPUs.",
    ),
    Code(
        "GPU-DRV-INIT",
        "The driver is loaded and cannot initialize a GPU; possible causes: its system processor (GSP), "
        "its VBIOS, too little PCI address space (BAR), a broken board.",
        "Run `oc debug node/{node} -- chroot /host dmesg` and read the lines with NVRM: GSP or VBIOS "
        "point to firmware, BAR to the address space that the host's firmware or hypervisor gives. If a "
        "reboot, which ends the node's pods, does not help, have the board replaced.",
    ),
    Code(
        "GPU-DRV-IN-USE",
        "The old driver is still in use on the node.",
        "Run `oc adm drain {node} --ignore-daemonsets`, which ends the pods of the node, or reboot it; do "
        "not delete driver pods by hand.",
    ),
    Code(
        "GPU-DRV-LOAD",
        "The node does not load the driver's kernel module, or the module finds no GPU that it can serve.",
        "Run `oc debug node/NODE -- chroot /host dmesg`: its lines with NVRM or nvidia name the cause.",
    ),
    Code(
        "GPU-DRV-MISMATCH",
        "The node still has the kernel module of another driver release loaded, or the program brings its "
        "own NVIDIA library.",
        "If other pods of the node work, update that program. Else run `oc adm drain {node} "
        "--ignore-daemonsets`, which ends the pods of the node, and reboot it.",
    ),
    Code(
        "GPU-DRV-NO-DTK",
        "The driver is being built without the Driver Toolkit, from packages that it does not find.",
        "Run `oc get imagestream driver-toolkit -n openshift -o yaml`, and add a tag for the node's "
        "OSTREE_VERSION; entitlements are not needed.",
    ),
    Code(
        "GPU-DRV-NOUVEAU",
        "Another driver, such as nouveau or vfio-pci, holds the GPU.",
        "Run `oc debug node/{node} -- chroot /host lspci -nnk -d 10de:` to see which; for nouveau set "
        "kernel_arguments: [modprobe.blacklist=nouveau] below `tuning` of the pool, which reboots its "
        "nodes.",
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
        "Node {node}: {wrong_image}.",
        "Build and push {image}, which `oc image info {image}` then finds, or set `driver.use_precompiled` "
        "to false.",
    ),
    Code(
        "GPU-DRV-REPO",
        "The driver's container does not reach a package repository.",
        "Run `oc get imagestream driver-toolkit -n openshift -o yaml`: with a tag for the node's "
        "OSTREE_VERSION the driver needs no repository. If it needs one all the same, run `oc get proxy "
        "cluster -o yaml`.",
    ),
    Code(
        "GPU-DRV-SIGN",
        "The node's Secure Boot rejects the kernel module.",
        "Turn Secure Boot off in the machine set, or use signed precompiled drivers with "
        "`driver.use_precompiled`.",
    ),
    Code(
        "GPU-DTK-DAEMONSET",
        "The operator has no driver DaemonSet for a node's RHCOS version or kernel for longer than `grace`.",
        "Run `oc logs -n nvidia-gpu-operator deployment/gpu-operator`.",
    ),
    Code(
        "GPU-DTK-OSIMAGE",
        "No Driver Toolkit is known for this version of RHCOS.",
        "Import a Driver Toolkit tag for that RHCOS version (`oc get imagestream driver-toolkit -n "
        "openshift -o yaml`), or update Kernel Module Management.",
    ),
    Code(
        "GPU-DTK-STREAM",
        "Node {node}: ImageStream openshift/driver-toolkit has no tag {tag} ({tags}).",
        "Run `oc tag --source=docker $(oc adm release info VERSION --image-for=driver-toolkit) "
        "openshift/driver-toolkit:{tag}` with the release of OpenShift that has this RHCOS as VERSION.",
    ),
    Code(
        "GPU-ECC",
        "A GPU has memory errors that ECC could not correct.",
        "Run `ansible-playbook playbooks/repair_node.yml -e gpu_node=NODE`: a reset of the GPU clears them.",
    ),
    Code(
        "GPU-FABRIC",
        "The NVSwitch fabric is not up.",
        "Run `oc logs -n nvidia-gpu-operator $(oc get pods -n nvidia-gpu-operator -o name -l "
        "app.kubernetes.io/component=nvidia-driver --field-selector spec.nodeName={node}) "
        "--all-containers`; its fabric manager gives the cause.",
    ),
    Code(
        "GPU-HOT",
        "A GPU is hotter than the limit.",
        "Run `oc debug node/NODE`, and look at fans and air flow; `gpu_monitoring_limits: {temperature: "
        "90}` raises the limit.",
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
        "GPU-IDLE",
        "A pod holds a GPU and does not use it.",
        "Run `oc delete pod NAME -n NAMESPACE` if its owner agrees, or raise `gpu_monitoring_limits: "
        "{idle: 4h}`. The pod ends, with all its work.",
    ),
    Code(
        "GPU-IMAGE",
        "The image of an operand or of a kernel module cannot be pulled for longer than `grace`. The message "
        "says whether the registry lacks it, refuses the login, limits pulls, or is not reached.",
        "Correct the operand's `repository`, `image` and `version`, mirror the image, or change the login "
        "with `ansible-playbook playbooks/rotate_pull_secret.yml -e gpu_pull_secret_file=FILE`, as the "
        "message says.",
    ),
    Code(
        "GPU-KMM-BUILD",
        "KMM cannot build the image of a Module for a node's kernel. The evidence has the log of the build.",
        "Correct the Dockerfile in `kmm.kernel_mappings`.",
    ),
    Code(
        "GPU-KMM-IN-USE",
        "Node {node} cannot get version {version} while pods hold its devices: {pods}.",
        "End these pods, or run `oc adm cordon {node}` and move them; then run the task again. Nodes that "
        "have the version keep it.",
    ),
    Code(
        "GPU-KMM-KERNEL",
        "No kernel mapping fits {nodes}.",
        "Add a mapping for that kernel to `kmm.kernel_mappings`.",
    ),
    Code(
        "GPU-KMM-LOAD",
        "KMM's worker pod cannot load the kernel module on a node. The message quotes its log.",
        "Run `oc logs {pod} -n {namespace}`.",
    ),
    Code(
        "GPU-KMM-ABSENT",
        "{option}: there is no {kind} {name} in namespace {namespace}.",
        "Create it first{also}; `oc get {kind} -n {namespace}` lists what is there.",
    ),
    Code(
        "GPU-KMM-NONE",
        "There is no Module {module} to verify.",
        "Leave `name` out to verify every Module.",
    ),
    Code(
        "GPU-KMM-PENDING",
        "KMM is not done with {object} yet: {progress}.",
        "Run `oc logs -n openshift-kmm deployment/kmm-operator-controller`{also}.",
    ),
    Code(
        "GPU-KMM-PLUGIN",
        "A Module's device plugin or DRA driver does not run on a node. The message quotes its log.",
        "Run `oc logs {pod} -n {namespace}`.",
    ),
    Code(
        "GPU-KMM-PREFLIGHT",
        "{number} of {all} Modules would not load on kernel {kernel}: {reasons}.",
        "Add a mapping for that kernel to `kmm.kernel_mappings` and push its image before the update.",
    ),
    Code(
        "GPU-KMM-RECREATE",
        "Module {namespace}/{name} {difference}: KMM refuses to give or take a version.",
        "Run `oc delete module {name} -n {namespace}`, which unloads the kernel module on every node, and "
        "the task again; or {otherwise}. Pods that use the module end with the deletion.",
    ),
    Code(
        "GPU-KMM-SELECTOR",
        "Node {node}: lacks label {lacking}, which the Module selects.",
        "Set `kmm.selector`, or run `oc label node {node} {labels}`. No pod ends.",
    ),
    Code(
        "GPU-KMM-SIGN",
        "KMM cannot sign the image of a Module. The message quotes the log.",
        "Put the private key in PEM into the Secret `key_secret`, and its certificate in DER into the "
        "Secret `cert_secret`.",
    ),
    Code(
        "GPU-KMM-VERSION",
        "Node {node}: {wrong_version}.",
        "Run `oc label node {node} {label} --overwrite`. If the node has another version, KMM unloads it, "
        "and pods with its devices end.",
    ),
    Code(
        "GPU-LEFT",
        "{what} are still there: {left}.",
        "Run `oc get daemonset,pods -n {namespace}` to find finalizers and pods that do not end.",
    ),
    Code(
        "GPU-LOST",
        "The device plugin took devices of a node out of service.",
        "Run `ansible-playbook playbooks/repair_node.yml -e gpu_node=NODE`.",
    ),
    Code(
        "GPU-MIG-BUSY",
        "Nodes whose GPUs are to be partitioned anew have pods with GPUs. Nothing was changed.",
        "Set `gpu_on_busy: wait` or `gpu_on_busy: drain` (module option `on_busy`). `drain` ends them.",
    ),
    Code(
        "GPU-MIG-CHANGE",
        "The GPUs of {nodes} are partitioned in another way than their pool says, and may be in use: "
        "{difference}. Nothing was changed.",
        "Run `ansible-playbook accelerators.openshift.repartition -e @FILE`, which empties one node after "
        "the other; -e gpu_report_only=true shows what that would end.",
    ),
    Code(
        "GPU-MIG-FAILED",
        "node {node} could not be partitioned ({config})",
        "Run `oc logs -n nvidia-gpu-operator -l app=nvidia-mig-manager --prefix`, and look for the pod of "
        "{node}. The layout must exist, and no pod may hold a GPU.",
    ),
    Code(
        "GPU-MIG-FILE",
        "The file config.yaml in ConfigMap {config_map} has no line 'mig-configs:', so the configurations "
        "of the pools cannot be added. Nothing was changed.",
        "Run `oc edit configmap {config_map} -n nvidia-gpu-operator`, and write config.yaml in block "
        "style, with the configurations below a line 'mig-configs:'.",
    ),
    Code(
        "GPU-MIG-FOREIGN",
        "Node {node} has the MIG configuration {configuration} of the operator's own file. The MIG "
        "manager would no longer know it, because it reads ConfigMap {config_map} instead. Nothing was "
        "changed.",
        "Make the node part of a pool with that geometry; or write a ConfigMap NAME with {configuration}, "
        'and run `oc patch $(oc get clusterpolicy -o name) --type merge -p \'{"spec": {"migManager": '
        '{"config": {"name": "NAME"}}}}\'`: the MIG manager restarts, and a geometry that differs '
        "ends the pods with GPUs of its node.",
    ),
    Code(
        "GPU-MIG-MANAGER",
        "{state|the MIG manager has not read the file of configurations as it is now}",
        "Run `oc describe daemonset -n nvidia-gpu-operator nvidia-mig-manager`.",
    ),
    Code(
        "GPU-MIG-POLICY",
        "The ClusterPolicy {problem}. Nothing was changed.",
        "Run `ansible-playbook accelerators.openshift.repartition -e @FILE`, which prepares it (modules "
        "gpu_sharing and special_resource).",
    ),
    Code(
        "GPU-MIG-REBOOT",
        "A change of the MIG mode needs a reboot of the node.",
        "Set `gpu_mig_reboot: true` and run repartition.yml again: the MIG manager then reboots such a node.",
    ),
    Code(
        "GPU-MIG-RUNNING",
        "node {node} is being partitioned ({config}: {state})",
        "Run `oc logs -n nvidia-gpu-operator -l app=nvidia-mig-manager --prefix`, and look for the pod of "
        "{node}.",
    ),
    Code(
        "GPU-MIG-SHARES",
        "node {node} of pool {pool} offers {shares}",
        "Run `oc logs -n nvidia-gpu-operator -l app=nvidia-mig-manager --prefix`, and look for the pod of "
        "{node}.",
    ),
    Code(
        "GPU-MIG-STRATEGY",
        "The pools need MIG strategy {strategy}. The configuration {configuration} of another list of "
        "pools is in use with strategy {other}, and a ClusterPolicy has one. Nothing was changed.",
        "Set `sharing.mig.strategy: {other}`, or change the other pools first.",
    ),
    Code(
        "GPU-MODE",
        "Node {node}: label {label}.",
        "Run `oc label node {node} nvidia.com/gpu-operator.resource-allocation.mode-`: the other stack "
        "left the label. If pods with GPUs run there, a driver that starts ends them.",
    ),
    Code(
        "GPU-MPS-DAEMON",
        "The device plugin does not reach the MPS control daemon of its node, which it needs to share GPUs.",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-device-plugin-mps-control-daemon "
        "--all-containers`.",
    ),
    Code(
        "GPU-NFD-EMPTY",
        "Node {node}: no label feature.node.kubernetes.io/pci-10de.present, so the operator leaves the node "
        "out.",
        "Run `oc get pods -A -o wide --field-selector spec.nodeName={node}` to check that an nfd-worker "
        "runs there, and add class 03 to `node_feature_discovery_pci_classes`.",
    ),
    Code(
        "GPU-NFD-KERNEL",
        "Node {node}: {wrong_label}.",
        "Run `oc delete pod -n openshift-nfd -l app=nfd-worker --field-selector spec.nodeName={node}`, "
        "which writes the labels of kernel and operating system anew.",
    ),
    Code(
        "GPU-NFD-OSTREE",
        "Node {node}: no label system-os_release.OSTREE_VERSION, by which the operator finds the Driver "
        "Toolkit.",
        "Use Red Hat's operator nfd, with `ansible-playbook playbooks/enable_gpus.yml -e @FILE`: "
        "upstream's node feature discovery does not write that label.",
    ),
    Code(
        "GPU-NO-METRICS",
        "A node has GPUs, and the exporter has no metrics of them.",
        "Run `oc get pods -n nvidia-gpu-operator -o wide` to see whether the exporter runs on the node.",
    ),
    Code(
        "GPU-NO-STACK",
        "{nodes} should have GPUs, and nothing brings their driver: the cluster has no ClusterPolicy, no "
        "GPUCluster and no Module.",
        "Run `ansible-playbook playbooks/enable_gpus.yml -e @FILE`, with the file that has your gpu_pools.",
    ),
    Code(
        "GPU-NODE-DEGRADED",
        "Node {node}: the machine-config daemon has given up ({state}): {why}.",
        "Run `oc logs -n openshift-machine-config-operator -c machine-config-daemon --tail=50 $(oc get "
        "pods -n openshift-machine-config-operator -o name -l k8s-app=machine-config-daemon "
        "--field-selector spec.nodeName={node})`.",
    ),
    Code(
        "GPU-NODE-DISK",
        "A disk of the node is full.",
        "Run `oc describe node {node}`: its condition DiskPressure says how full it is. Images and logs that "
        "nobody uses go by themselves; give new nodes of the pool a larger disk with its key `disk`.",
    ),
    Code(
        "GPU-NODE-NOT-READY",
        "Node {node}: the node is not Ready.",
        "Run `oc describe node {node}`.",
    ),
    Code(
        "GPU-NODE-PRESSURE",
        "Node {node} has {kind}: {why}.",
        "Run `oc describe node {node}`: its condition {kind} and its list of pods say what uses so much. The "
        "kubelet evicts pods there, and starts no new ones, until the condition is over.",
    ),
    Code(
        "GPU-NODE-UPDATING",
        "Node {node} is being updated by the machine-config operator{also}, still on kernel {kernel}.",
        "Run `oc get machineconfigpools`; a pod that cannot be evicted delays the update.",
    ),
    Code(
        "GPU-NODES",
        "Pool {pool} has {number} of {wanted} nodes.",
        "Run `oc get nodes -l {selector}`{also}.",
    ),
    Code(
        "GPU-NVD-BACK",
        "The operator would not replace the pods of NVIDIADriver objects: {causes}.",
        "Change that, or run `ansible-playbook playbooks/remove_gpus.yml -e @FILE --tags gpu_operator` "
        "first (special_resource with backend nvidiadriver and state absent); all nodes are without a "
        "driver meanwhile, and pods with GPUs end.",
    ),
    Code(
        "GPU-NVD-DISABLED",
        "ClusterPolicy {policy} was made by {manager}, and its driver.useNvidiaDriverCRD is off, which "
        "disables NVIDIADriver objects.",
        "Set `gpu_operator_adopt: take` (module option `adopt`), or switch useNvidiaDriverCRD on where "
        "the policy is kept.",
    ),
    Code(
        "GPU-NVD-EMPTY",
        "Node {node}: NVIDIADriver {driver} has no DaemonSet for it{also}.",
        "Run `oc logs -n nvidia-gpu-operator deployment/gpu-operator`; if the node has no label "
        "VERSION_ID.major, run `oc get pods -n openshift-nfd -o wide --field-selector spec.nodeName={node}` "
        "to check nfd-worker.",
    ),
    Code(
        "GPU-NVD-FAILED",
        "The operator cannot reconcile NVIDIADriver {driver}: {why}.",
        "Run `oc describe nvidiadriver {driver}`, then `oc logs -n nvidia-gpu-operator "
        "deployment/gpu-operator`.",
    ),
    Code(
        "GPU-NVD-FOREIGN",
        "NVIDIADriver {drivers} was made by {manager} and has nodes. Without driver.use_nvidia_driver_crd "
        "it is disabled, but its DaemonSet keeps the policy's driver off these nodes.",
        "Run `oc label --field-manager=accelerators.openshift nvidiadriver {names} "
        "app.kubernetes.io/managed-by=accelerators.openshift`, so that the task replaces it node by node. "
        "Deleting it would take the driver from all its nodes at once.",
    ),
    Code(
        "GPU-NVD-LEFT",
        "Node {node}: the DaemonSet of NVIDIADriver {driver}, which is switched off, keeps the policy's "
        "driver away.",
        "Set `gpu_operator_spec: {driver: {useNvidiaDriverCRD: false}}` (module option "
        "`driver.use_nvidia_driver_crd`: false); the nodes then move to the policy's driver one by one.",
    ),
    Code(
        "GPU-NVD-MODE",
        "ClusterPolicy {policy} leaves drivers to NVIDIADriver objects; with backend clusterpolicy it "
        "would bring one driver to all nodes again.",
        "Set `gpu_operator_spec: {driver: {useNvidiaDriverCRD: false}}` (module option "
        "`driver.use_nvidia_driver_crd`: false) to go back, or keep pools with different drivers in "
        "`gpu_pools` (module option `backend`: nvidiadriver).",
    ),
    Code(
        "GPU-NVD-NOT-READY",
        "NVIDIADriver {driver} is not ready: {why}.",
        "Run `oc describe nvidiadriver {driver}`, then `oc logs -n nvidia-gpu-operator "
        "deployment/gpu-operator`.",
    ),
    Code(
        "GPU-NVD-OVERLAP",
        "NVIDIADrivers {drivers} are both for {nodes}: the operator would then install no driver at all.",
        "Change `node_selector` (or `default`) so that each node has one driver, or run `oc delete "
        "nvidiadriver` for one of them: pods with GPUs on its other nodes end.",
    ),
    Code(
        "GPU-NVD-OWNER",
        "Node {node}: {wrong_owner}.",
        "Run `oc get nvidiadriver -o yaml` to find another one that selects the node (label "
        "nvidia.com/gpu-operator.driver.owner).",
    ),
    Code(
        "GPU-NVD-RELEASE",
        "GPU operator {release} is installed: before 26.7 it takes the ClusterPolicy's driver from all "
        "nodes at once when NVIDIADriver objects take over.",
        "Set `gpu_operator_approve: upgrade` (of olm_operator: `approve`), or give all pools of "
        "`gpu_pools` the same driver (module option `backend`: clusterpolicy).",
    ),
    Code(
        "GPU-OPERAND",
        "An operand's pod does not exist, is not Ready, or has an older revision than its DaemonSet.",
        "Run `oc describe pod NAME -n nvidia-gpu-operator`.",
    ),
    Code(
        "GPU-OPERAND-CRASH",
        "An operand other than the driver crashes.",
        "Run `oc logs -n nvidia-gpu-operator {pod} --previous`.",
    ),
    Code(
        "GPU-OPERAND-LACKING",
        "Node {node}: its labels require {components}, but no DaemonSet selects it.",
        "Run `oc describe daemonset -n nvidia-gpu-operator`, and compare its nodeSelector with the node's "
        "labels; for the driver compare OSTREE_VERSION.",
    ),
    Code(
        "GPU-OPERAND-OOM",
        "A container of the stack was ended because it needed more memory than its limit, or than its node "
        "has (OOMKilled).",
        "Raise `resources.limits.memory` of the operand that the message names, in gpu_operator_spec.",
    ),
    Code(
        "GPU-OPERAND-UNWANTED",
        "Node {node}: DaemonSet {daemonset} selects it and wants no pod anywhere (0 desired).",
        "Run `oc describe daemonset -n nvidia-gpu-operator {daemonset}` to find an affinity or a taint; the "
        "operator counts such a DaemonSet as ready.",
    ),
    Code(
        "GPU-OPTED-OUT",
        "Node {node}: label {label}=false keeps {operands} away.",
        "Run `oc label node {node} {labels}`. If pods with GPUs run there, a driver that starts ends them.",
    ),
    Code(
        "GPU-PAUSED",
        "Node {node}: its driver runs, and label {label} still keeps {operands} away.",
        "Run `oc label node {node} --overwrite {labels}`. No pod ends: the operator only adds what is "
        "missing.",
    ),
    Code(
        "GPU-PROFILE",
        "{wrong_choice}, and ConfigMap {config_map} in namespace {namespace} has only: {keys}.",
        "Run `oc edit configmap {config_map} -n {namespace}` to add {value}{also}.",
    ),
    Code(
        "GPU-PROFILE-REPLICAS",
        "{wrong_choice}, and that profile in ConfigMap {config_map} in namespace {namespace} says replicas: "
        "{number}, which the device plugin refuses: it takes {fewest} or more. The ConfigMap has: {keys}.",
        "Run `oc edit configmap {config_map} -n {namespace}` and set replicas of {value} to {fewest} or "
        "more; without sharing leave the whole entry out.",
    ),
    Code(
        "GPU-PROXY",
        "A container sends its requests to the API server to the proxy, which does not pass them on.",
        "Run `oc get proxy cluster -o jsonpath={.status.noProxy}`: it must have the networks of services, "
        "pods and machines, .svc and .cluster.local.",
    ),
    Code(
        "GPU-RDMA-ABI",
        "nvidia-peermem was built against another NIC driver.",
        "Run `oc delete pod -n {namespace} {pod}`, for one driver pod after the other; this ends pods "
        "that use GPUs on its node.",
    ),
    Code(
        "GPU-RDMA-HOST",
        "ClusterPolicy {policy}: driver.rdma.useHostMofed says that the host has the NIC driver, and "
        "{others} brings one. Nothing was changed.",
        "Set driver.rdma.use_host_mofed to false (module option `driver`; in a playbook gpu_operator_spec: "
        "{driver: {rdma: {useHostMofed: false}}}).",
    ),
    Code(
        "GPU-RDMA-IOMMU",
        "An IOMMU translates what GPUs and network adapters of {nodes} send, so GPUDirect RDMA is slow or "
        "fails.",
        "Run `oc debug node/{node} -- cat /proc/cmdline`, and set iommu=pt, as tuning: {profile: training} "
        "of a pool in gpu_pools does; its nodes reboot.",
    ),
    Code(
        "GPU-RDMA-NIC",
        "ClusterPolicy {policy}: driver.rdma.enabled loads nvidia-peermem, which waits for a NIC driver, and "
        "no NicClusterPolicy or NicNodePolicy brings one.",
        "Run `oc get nicclusterpolicies,nicnodepolicies`, and set "
        "nvidia_network_operator_nic_cluster_policy: {ofed_driver: {}}. For DMA-BUF set driver.rdma.enabled "
        "to false: with open kernel modules it needs neither.",
    ),
    Code(
        "GPU-RDMA-ORDER",
        "The peermem container waits for the NIC driver.",
        "Run `oc describe nicclusterpolicy`.",
    ),
    Code(
        "GPU-RDMA-PEERMEM",
        "Node {node}: nvidia-peermem is not loaded: container nvidia-peermem-ctr of pod {pod} is not ready.",
        "Run `oc logs -n nvidia-gpu-operator {pod} -c nvidia-peermem-ctr`. After a change of the NIC driver "
        "run `oc delete pod -n nvidia-gpu-operator {pod}`: this ends pods that use GPUs on its node.",
    ),
    Code(
        "GPU-REMAP",
        "A GPU remapped a row of its memory, and needs a reset.",
        "Run `ansible-playbook playbooks/repair_node.yml -e gpu_node=NODE` at the next chance.",
    ),
    Code(
        "GPU-REMAP-FAILED",
        "A GPU could not remap a row of its memory.",
        "Run `ansible-playbook playbooks/repair_node.yml -e gpu_node=NODE` for the report that the vendor "
        "asks for, and replace the GPU.",
    ),
    Code(
        "GPU-SCC",
        "OpenShift refuses a pod, because its service account may not use a security context constraint that "
        "allows what the pod asks for.",
        "Run `oc logs -n nvidia-gpu-operator deployment/gpu-operator`: the operator grants these rights. "
        "`oc auth can-i use scc/privileged --as system:serviceaccount:nvidia-gpu-operator:nvidia-driver` "
        "shows whether the driver has them.",
    ),
    Code(
        "GPU-SHARING-BUSY",
        "The way of sharing changes from or to MPS on nodes where pods use GPUs. MPS servers stop or start, "
        "and the CUDA contexts of these pods end. Nothing was changed.",
        "Set `gpu_on_busy: wait` or `gpu_on_busy: drain` (module option `on_busy`). `drain` ends them.",
    ),
    Code(
        "GPU-SHARING-FOREIGN",
        "ConfigMap {name} has the profile {profile} already, another client wrote it, and it is not what "
        "the pool asks for. Nothing was changed.",
        'Run `oc patch configmap {name} -n {namespace} --type=json -p \'[{"op": "remove", "path": '
        '"/data/{profile}"}]\'`, or rename the pool. No pod ends: nodes that name the profile keep it '
        "until their device plugin restarts.",
    ),
    Code(
        "GPU-SHARING-LABEL",
        "Node {node} of pool {pool} has the label nvidia.com/device-plugin.config={profile}, so its "
        "device plugin reads a profile of others. Nothing was changed.",
        "Run `oc label node {node} nvidia.com/device-plugin.config-`, or remove `sharing` of the pool. "
        "The device plugin then starts again; pods that run do not end, except those that share by MPS.",
    ),
    Code(
        "GPU-SHARING-SHARES",
        "node {node} of pool {pool} {state|does not offer the shares that the pool's profile gives}",
        "Run `oc delete pod -n nvidia-gpu-operator -l 'app in "
        "(nvidia-device-plugin-daemonset,gpu-feature-discovery)' --field-selector spec.nodeName={node}`: "
        "the device plugin reads its profile when it starts. Pods that run do not end, except those that "
        "share by MPS.",
    ),
    Code(
        "GPU-SRO-ERRORED",
        "SpecialResource {name} is {state}.",
        "Run `oc describe specialresource {name}`, check that its operator runs, or set `sro.migrate_to`.",
    ),
    Code(
        "GPU-SRO-NEEDS",
        "SpecialResource {name} stays as it is: {backend} lacks {needs}.",
        "Install that operator first, for the GPU operator with `ansible-playbook "
        "playbooks/enable_gpus.yml -e @FILE`.",
    ),
    Code(
        "GPU-SRO-NOT-SERVED",
        "The cluster does not serve specialresources.sro.openshift.io/v1beta1. The Special Resource "
        "Operator rendered Helm charts into driver DaemonSets; its last release was for OpenShift 4.11, "
        "and its first API, v1alpha1, cannot exist on Kubernetes 1.22 or newer. Kernel Module Management "
        "(backend kmm) and the NVIDIA GPU Operator (backend clusterpolicy) do that today.",
        "Set `backend` to kmm or clusterpolicy; to replace a SpecialResource of another cluster, start "
        "from its chart and image.",
    ),
    Code(
        "GPU-SRO-NOT-READY",
        "SpecialResource {name} is {state}.",
        "Run `oc describe specialresource {name}`, check that its operator runs, or set `sro.migrate_to`.",
    ),
    Code(
        "GPU-TAINT",
        "Node {node}: taint {taints} is not tolerated by {who}.",
        "Run `oc adm taint nodes {node} {away}`, or add the taint to `gpu_tolerations` (module option "
        "`tolerations`).",
    ),
    Code(
        "GPU-THROTTLED",
        "A GPU runs with a lower clock, because it is too hot or gets too little power.",
        "Run `oc debug node/NODE` to look at power supply and cooling.",
    ),
    Code(
        "GPU-TK-RUNTIME",
        "The container runtime of a node does not know the runtime class nvidia.",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-container-toolkit-daemonset`, or set "
        "`cdi.enabled: true`.",
    ),
    Code(
        "GPU-TK-HOOK",
        "The container runtime of the node fails in a hook of NVIDIA's container toolkit.",
        "Set `cdi.enabled: true`, which needs no hook. With OpenShift 4.18.21 to 4.18.23 "
        "(`oc get clusterversion`) the fault is in their crun: update to 4.18.24, which reboots the nodes "
        "and ends their pods.",
    ),
    Code(
        "GPU-UPG-EMPTYDIR",
        "A pod with an emptyDir volume holds the GPU.",
        "Set deleteEmptyDir in `driver.upgrade_policy`, or delete those pods; both end pods and their data.",
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
        "The GPU operator's upgrade controller cannot delete {number} with GPUs: {pods}. So it would delete "
        "no pod there, and leave {nodes} cordoned at upgrade-failed. {so_far}",
        "Keep the DaemonSet off the nodes by a nodeSelector, or move the static pod's file away: both end "
        "the pods. For the others save what they hold, and allow the deletion in "
        "`gpu_operator_spec: {driver: {upgradePolicy: {podDeletion: {force: true, deleteEmptyDir: true}}}}`.",
    ),
    Code(
        "GPU-UPG-POLICY",
        "The upgrade policy forbids what the driver manager needs to do.",
        "Set podDeletion or drain in `driver.upgrade_policy`; the upgrade then ends pods that use GPUs.",
    ),
    Code(
        "GPU-UPG-RUNNING",
        "A driver upgrade is still running on a node. The operator needs 2 to 10 minutes a node; the "
        "message says how many nodes are left.",
        "Run the same task again, which waits for the rest, or raise `gpu_operator_node_timeout`; `oc get "
        "pods -A --field-selector spec.nodeName=NODE` finds pods that hold a GPU.",
    ),
    Code(
        "GPU-VAL-BUSY",
        "The node had fewer free devices than a pod asks for when it came; the installation itself is not "
        "faulty.",
        "Wait until a pod of the node ends. For the operator's validator set gpu_operator_spec: "
        '{validator: {plugin: {env: [{name: WITH_WORKLOAD, value: "false"}]}}} '
        "(`spec.validator.plugin.env` of the ClusterPolicy).",
    ),
    Code(
        "GPU-VAL-DEVCHAR",
        "The validator cannot create the links to the GPUs below /dev/char; the driver itself may work.",
        "Set gpu_operator_spec: {validator: {driver: {env: [{name: DISABLE_DEV_CHAR_SYMLINK_CREATION, "
        'value: "true"}]}}} (`spec.validator.driver.env` of the ClusterPolicy).',
    ),
    Code(
        "GPU-VGPU-CONFIG",
        "Node {node}: its vGPUs of {config} are not made: the vGPU device manager says {state}.",
        "Run `oc logs -n nvidia-gpu-operator -l app=nvidia-vgpu-device-manager --tail=20`; the type must be "
        "one of the GPU's, and no virtual machine may use a vGPU of the node meanwhile.",
    ),
    Code(
        "GPU-VGPU-LICENSE",
        "The vGPU has no license, so it becomes slow or refuses CUDA.",
        "Run `oc get clusterpolicy -o jsonpath={.items[*].spec.driver.licensingConfig}`: the Secret or "
        "ConfigMap that it names needs client_configuration_token.tok and gridd.conf, and the node has to "
        "reach the license server on port 443.",
    ),
    Code(
        "GPU-VGPU-MDEV",
        "The node has no mediated devices.",
        "Turn on SR-IOV and the IOMMU in the host's firmware, and check the driver type with `oc get "
        "clusterpolicy -o yaml`.",
    ),
    Code(
        "GPU-VGPU-OTHER",
        "Node {node} of pool {pool} has {model}, and {type} is a vGPU of another GPU. Nothing was changed.",
        "Set `virtual_machines.vgpu.type` of the pool to a vGPU of {model}.",
    ),
    Code(
        "GPU-VGPU-TYPE",
        "ConfigMap {config_map} in namespace {namespace} has no vGPUs of type {type}, as pool {pool} wants "
        "them. It has {types}. Nothing was changed.",
        "Set `virtual_machines.vgpu.type` of the pool to one of them.",
    ),
    Code(
        "GPU-VM-DEVICES",
        "Node {node}: it offers {found} to virtual machines, wanted {wanted}.",
        "Run `oc get pods -n nvidia-gpu-operator -o wide --field-selector spec.nodeName={node}`: the pods of "
        "VFIO or vGPU manager and of the sandbox device plugin have to run.",
    ),
    Code(
        "GPU-VM-HELD",
        "Virtual machines keep their GPUs: {machines}. A machine with a GPU cannot move to another node. "
        "KubeVirt answers: {answer}.",
        "Run `virtctl stop {name} -n {namespace}`: this ends the virtual machine. Or set gpu_on_busy: wait "
        "(module option on_busy).",
    ),
    Code(
        "GPU-VM-NAMES",
        "The nodes of pool {pool} offer several devices to virtual machines ({names}), and nobody can tell "
        "which is the GPU.",
        "Set `virtual_machines.resource` of the pool to one of them, such as {name}.",
    ),
    Code(
        "GPU-VM-NO-VIRTUALIZATION",
        "The pool {pool} is for virtual machines, and the cluster has no HyperConverged (OpenShift "
        "Virtualization), or one that is being deleted. Nothing was changed.",
        "Install the operator kubevirt-hyperconverged and create its HyperConverged, or remove `workload` of "
        "the pool.",
    ),
    Code(
        "GPU-VM-PERMIT",
        "HyperConverged {object} permits {device} as {other}, by an entry of others, and {why}. Nothing was "
        "changed.",
        "Run `oc edit hyperconverged {object} -n {namespace}`, and remove the entry of {device} from "
        "permittedHostDevices{also}.",
    ),
    Code(
        "GPU-VM-PROVIDER",
        "HyperConverged {object} has {device} from the provider {theirs} by an entry of others ({other}), "
        "and the pool wants the provider {ours}: a node cannot have both. Nothing was changed.",
        "Set `virtual_machines.provider` of the pool to {theirs}, or run `oc edit hyperconverged {object} -n "
        "{namespace}` and remove that entry.",
    ),
    Code(
        "GPU-VM-REFUSED",
        "KubeVirt does not start the virtual machine: HyperConverged does not permit the device that it asks "
        "for.",
        "Run `oc get hyperconverged -A -o yaml`: deviceName of the virtual machine has to be a resourceName "
        "in permittedHostDevices. After a change of the name run `ansible-playbook "
        "playbooks/enable_gpus.yml -e @FILE` again.",
    ),
    Code(
        "GPU-VM-RESOURCE",
        "The nodes of pool {pool} do not offer {resource} to virtual machines, but {names}.",
        "Set `virtual_machines.resource` of the pool to {name}, or remove it if the nodes offer one device.",
    ),
    Code(
        "GPU-VM-UNPERMITTED",
        "Node {node}: it offers {resources} to virtual machines, and HyperConverged {object} does not permit "
        "that: no virtual machine with it starts.",
        "Run `ansible-playbook playbooks/enable_gpus.yml -e @FILE` again. After an upgrade of the GPU "
        "operator the name may be a new one: set deviceName of the virtual machines to it.",
    ),
    Code(
        "GPU-VM-VFIO",
        "The driver vfio-pci does not have the GPU, so no virtual machine gets it. Most often the IOMMU is "
        "off.",
        "Turn the IOMMU on in the host's firmware (Intel VT-d, AMD-Vi), and remove `virtual_machines.iommu: "
        "false` from the pool.",
    ),
    Code(
        "GPU-WORKLOAD",
        "Node {node}: {cause} gives its GPUs to virtual machines, so containers get none.",
        "Run `oc label node {node} nvidia.com/gpu.workload.config=container --overwrite`. Virtual "
        "machines with GPUs of the node end.",
    ),
)
