# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of known texts in logs, events, conditions and webhook answers: what each means, what helps.

A row needs a real text in tests/unit/stack/corpus. Surer rows come before rows that name a symptom: the first
row that fits a text counts. Logs are long and anybody's: a pattern bounds what may stand between two words.
"""

from __future__ import annotations

import re
import typing as t

# Where a text can stand.
DRIVER: t.Final = "driver log"
KERNEL: t.Final = "kernel log"
VALIDATOR: t.Final = "validator log"
OPERAND: t.Final = "operand log"
OPERATOR: t.Final = "operator log"
BUILD: t.Final = "build log"
WORKLOAD: t.Final = "workload log"
EVENT: t.Final = "kubelet event"
CRIO: t.Final = "CRI-O error"
WEBHOOK: t.Final = "webhook answer"


class Signature(t.NamedTuple):
    """A known text. pattern: a regular expression. code: for an error with this text.

    where: the places in which the text can stand. source: a report or a page with the text.
    meaning, remedy: the cause and the remedy if they are not those of the code. The remedy may hold {node},
    {pod} and {namespace}, which `advice` fills in. releases: those with this fault, if not all have it.
    """

    pattern: str
    code: str
    where: tuple[str, ...]
    source: str
    meaning: str = ""
    remedy: str = ""
    releases: str = ""

    def advice(self, otherwise: str = "", **names: str) -> str:
        """Return the remedy with these names; the other one if it needs a name that is not known."""
        if not all(names.get(one) for one in NAMES.findall(self.remedy)):
            return otherwise
        return NAMES.sub(lambda found: names[found[1]], self.remedy)


NAMES: t.Final = re.compile(r"\{(node|pod|namespace)\}")
# What may be between two words of a message of the kernel, which goes over several lines.
_ON: t.Final = r"\s+(?:\[[^\]\n]*\]\s*)?(?:\S+ \S+ \S+ \S+ kernel:\s*)?(?:NVRM:\s+)?"
_GPU: t.Final = "https://github.com/NVIDIA/gpu-operator/issues/"
_OPEN: t.Final = "https://github.com/NVIDIA/open-gpu-kernel-modules/issues/"
_PLUGIN: t.Final = "https://github.com/NVIDIA/k8s-device-plugin/issues/"
_NIC: t.Final = "https://github.com/Mellanox/network-operator/issues/"
_MANAGER: t.Final = "https://github.com/NVIDIA/k8s-driver-manager/"
_OPERATOR: t.Final = "https://github.com/NVIDIA/gpu-operator/blob/main/controllers/"
_DOCS: t.Final = "https://docs.nvidia.com/datacenter/cloud-native/"

NFD_WORKERS: t.Final = (
    "Run `oc get pods -n openshift-nfd -o wide` to check nfd-worker on the GPU nodes, and add 03 to "
    "node_feature_discovery_pci_classes."
)
_TOOLKIT: t.Final = "Run `oc get imagestream driver-toolkit -n openshift -o yaml`"
_ANOTHER: t.Final = (
    "Set driver.version of the pool in gpu_pools (module option driver) to a release that does; the new "
    "driver pods end pods that use GPUs, and playbooks/upgrade_driver.yml asks first."
)
_MESSAGES: t.Final = "Run `oc debug node/{node} -- chroot /host dmesg`"
_CTK_LOG: t.Final = (
    "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-container-toolkit-daemonset`, or set "
    "cdi.enabled to true."
)
_DRIVER_PODS: t.Final = (
    "Run `oc get pods -n nvidia-gpu-operator -l app.kubernetes.io/component=nvidia-driver -o wide`: the "
    "driver pod of the node has to be Ready first."
)
_REPAIR: t.Final = (
    "Run `ansible-playbook playbooks/repair_node.yml -e gpu_node={node}`, which drains and reboots the "
    "node and ends its pods"
)
_MODULE_TYPE: t.Final = "Set driver.kernel_module_type of the pool in gpu_pools (module option driver) to"

_TOOLKIT_AND_DISCOVERY: t.Final = (
    Signature(
        r"imagetag missing, using entitlement-based fallback|istag/driver-toolkit:\S+ -n openshift' missing",
        "GPU-DTK-STREAM",
        (DRIVER, OPERATOR),
        f"{_GPU}428",
        "the ImageStream openshift/driver-toolkit has no tag for the node's RHCOS version",
        f"{_TOOLKIT}, and import the tag that the node's OSTREE_VERSION names.",
    ),
    Signature(
        r"(?i:broken driver toolkit) (?:image )?detected",
        "GPU-DTK-STREAM",
        (DRIVER,),
        f"{_GPU}970",
        "the Driver Toolkit's image is for another kernel than the node runs",
        f"{_TOOLKIT}, and import the tag of the node's OSTREE_VERSION again. If the node's label "
        "OSTREE_VERSION is that of an older release, run `oc delete pod -n openshift-nfd -l app=nfd-worker "
        "--field-selector spec.nodeName={node}`.",
        "OKD 4.22 up to okd-scos.5; NFD whose label is older than the node",
    ),
    Signature(
        r"failed to install elfutils|RHEL entitlement may be improperly deployed"
        r"|Unable to find a match: (?:\S{1,200} ){0,40}?"
        r"(?:elfutils-libelf|kernel-(?:headers|devel|core|modules|\d))"
        r"|Could not resolve Linux kernel version|Unable to find the kernel source tree"
        r"|/lib/modules/\S+/build: No such file or directory",
        "GPU-DRV-NO-DTK",
        (DRIVER,),
        f"{_GPU}234",
    ),
    Signature(
        r"SSL certificate problem|[Cc]url error \(60\)",
        "GPU-DRV-REPO",
        (DRIVER, BUILD),
        f"{_GPU}190",
        "a package repository, or the proxy before it, has a certificate that the container does not trust",
        "Put the certificate into a ConfigMap NAME of nvidia-gpu-operator, and set gpu_operator_spec: "
        "{driver: "
        "{certConfig: {name: NAME}}}; with a Driver Toolkit of the node's release "
        "(`oc get imagestream driver-toolkit -n openshift`) no repository is needed. The new driver pods end "
        "pods that use GPUs.",
    ),
    Signature(
        r"failed to reach RHEL package repositories|failed to update the dnf metadata cache"
        r"|Failed to (?:download metadata|synchronize cache) for repo|Cannot download repomd\.xml",
        "GPU-DRV-REPO",
        (DRIVER, BUILD),
        f"{_NIC}830",
    ),
    Signature(
        r"driver-toolkit imagestream not found|DriverToolkit was requested but could not be enabled"
        r"|no matches for kind .?ImageStream",
        "GPU-DTK-STREAM",
        (OPERATOR,),
        f"{_OPERATOR}object_controls.go",
        "the ImageStream openshift/driver-toolkit is missing",
        "Run `oc get imagestream driver-toolkit -n openshift`, then "
        "`oc get clusteroperators openshift-samples image-registry`.",
    ),
    Signature(
        r"could not find osImage .{0,200} in OS --> DTK mapping",
        "GPU-DTK-OSIMAGE",
        (OPERATOR,),
        "https://github.com/kubernetes-sigs/kernel-module-management/issues/1308",
    ),
    Signature(
        r"No GPU node in the cluster, do not create DaemonSets",
        "GPU-NFD-EMPTY",
        (OPERATOR,),
        f"{_OPERATOR}object_controls.go",
        "the operator sees no node with an NVIDIA PCI label",
        NFD_WORKERS,
    ),
    Signature(
        r"Couldn't get kernelVersion, did you run the node feature discovery"
        r"|Could not find kernel full version",
        "GPU-NFD-KERNEL",
        (OPERATOR,),
        f"{_GPU}64",
        "node feature discovery did not label the kernel version",
        "Run `oc get nodes -L feature.node.kubernetes.io/kernel-version.full` to find the GPU node without "
        "it, and `oc get pods -n openshift-nfd -o wide` to check the nfd-worker there.",
    ),
)

_DRIVERS: t.Final = (
    Signature(
        r"Cannot evict pod as it would violate the pod's disruption budget",
        "NODE-PDB",
        (DRIVER, OPERATOR),
        "https://github.com/rancher/system-upgrade-controller/issues/78",
        "a disruption budget keeps a pod that has to leave the node",
        "Run `oc get pdb -A`, and run more pods of the application that the line names on other nodes, or "
        "raise its budget. The drain tries again by itself, and the pod ends.",
    ),
    Signature(
        r"Could not unload NVIDIA driver kernel modules, driver is in use"
        r"|failed to unload driver: resource temporarily unavailable",
        "GPU-DRV-IN-USE",
        (DRIVER,),
        f"{_GPU}2166",
    ),
    Signature(
        r"disabled by the upgrade policy|superseded by the GPU Operator's upgrade policy",
        "GPU-UPG-POLICY",
        (DRIVER,),
        f"{_GPU}901",
    ),
    Signature(
        r"cannot delete Pods with local storage",
        "GPU-UPG-EMPTYDIR",
        (DRIVER, OPERATOR),
        "https://github.com/kubernetes/kubectl/blob/master/pkg/drain/filters.go",
    ),
    Signature(
        r"not signed by a key that is trusted|[Ll]oading of unsigned module is rejected"
        r"|unsigned module loading is restricted|Required key not available|Key was rejected by service",
        "GPU-DRV-SIGN",
        (DRIVER, KERNEL, BUILD),
        f"{_GPU}266",
    ),
    Signature(
        r"sign-file: /run/secrets/(key|cert)/",
        "GPU-KMM-SIGN",
        (BUILD,),
        "https://github.com/kubernetes-sigs/kernel-module-management",
        "a Secret does not hold a key, or a certificate, to sign with",
        "Put the private key in PEM under `key` of key_secret, and its certificate in DER under `cert` of "
        "cert_secret.",
    ),
    Signature(
        rf"not{_ON}supported{_ON}by{_ON}open{_ON}nvidia\.ko",
        "GPU-DRV-FLAVOR",
        (DRIVER, KERNEL),
        "https://github.com/negativo17/nvidia-driver/issues/158",
        "the GPU needs the proprietary kernel modules, and the open ones are loaded",
        f"{_MODULE_TYPE} auto or proprietary; the new driver pods end pods that use GPUs.",
        "GPUs older than Turing",
    ),
    Signature(
        rf"requires{_ON}use{_ON}of{_ON}the{_ON}NVIDIA{_ON}open{_ON}kernel{_ON}modules",
        "GPU-DRV-FLAVOR",
        (DRIVER, KERNEL),
        "https://github.com/NVIDIA/cloud-native-docs/pull/6",
        "the GPU needs the open kernel modules, and the proprietary ones are loaded",
        f"{_MODULE_TYPE} auto or open; the new driver pods end pods that use GPUs.",
        "Blackwell, GH200 and newer GPUs",
    ),
    Signature(
        rf"supported{_ON}through{_ON}the{_ON}NVIDIA{_ON}\S+{_ON}Legacy{_ON}drivers?",
        "GPU-DRV-BRANCH",
        (DRIVER, KERNEL),
        "https://github.com/NixOS/nixos-hardware/issues/1880",
        releases="branches after 580 with Maxwell, Pascal and Volta",
    ),
    Signature(
        rf"not{_ON}supported{_ON}by{_ON}the{_ON}(?:NVIDIA|NVRM)\b",
        "GPU-DRV-BRANCH",
        (DRIVER, KERNEL),
        f"{_GPU}1371",
        "this release of the driver does not support the device: the GPU is too old or too new for it, or "
        "the "
        "device is a vGPU, which needs the guest driver of NVIDIA's licensing portal",
        "Run `oc debug node/{node} -- chroot /host lspci -nn -d 10de:`. For a GPU set driver.version of the "
        "pool "
        "in gpu_pools (module option driver) to a release that supports it, for Maxwell, Pascal and Volta of "
        "branch 580; for a vGPU set its own driver image. The new driver pods end pods that use GPUs.",
    ),
    Signature(
        r"The Nouveau kernel driver is currently in use|probe routine was not called"
        r"|[Ff]ailed to unload (?:the )?nouveau|Module nouveau is in use"
        r"|is already bound to (?:nouveau|[Nn]ova|vfio-pci)",
        "GPU-DRV-NOUVEAU",
        (DRIVER, KERNEL),
        f"{_MANAGER}issues/37",
    ),
    Signature(
        r"modpost: GPL-incompatible module nvidia\S* uses GPL-only symbol",
        "GPU-DRV-BUILD",
        (DRIVER,),
        f"{_GPU}729",
        "this release of the driver does not support the node's kernel: it uses a symbol that only GPL "
        "modules may use",
        _ANOTHER,
        "branch 535 before 535.183.08, and others that are older than the kernel",
    ),
    Signature(
        r"/nvidia[^\s:]*\.[ch]:\d+(?::\d+)?: (?:fatal )?error:"
        r"|modpost: \"[^\"\n]*\" \[\S*nvidia\S*\] undefined"
        r"|FATAL: no NVIDIA driver generated"
        r"|performing the step: \"(?:Building kernel modules|Checking to see)",
        "GPU-DRV-BUILD",
        (DRIVER,),
        f"{_GPU}718",
        "this release of the driver does not support the node's kernel, and cannot be built for it",
        _ANOTHER,
    ),
    Signature(
        r"could not insert '?nvidia[-_]peermem'?: (?:Invalid argument|Unknown symbol)"
        r"|Module nvidia[-_]peermem not found in directory"
        r"|nvidia[-_]peermem: (?:disagrees about version of symbol|Unknown symbol)",
        "GPU-RDMA-ABI",
        (DRIVER, KERNEL),
        f"{_GPU}2868",
        releases="after an update of the NIC driver; operator 26.3.0 also after a restart of the driver pod",
    ),
    Signature(
        r"could not insert (?:module )?'?\S*nvidia\S*: (?:Exec format error|Invalid module format)"
        r"|Module nvidia(?:[-_](?:uvm|modeset))? not found in directory"
        r"|nvidia\S*: (?:disagrees about version of symbol|version magic )",
        "GPU-DRV-BUILD",
        (DRIVER, KERNEL),
        f"{_GPU}257",
        "the driver's kernel module was built for another kernel than the node runs",
        f"{_TOOLKIT} to compare its tag with the node's OSTREE_VERSION; a precompiled image must name the "
        "kernel that `oc get node {node} -o wide` shows.",
    ),
    Signature(
        r"could not insert (?:module )?'?\S*nvidia\S*: Permission denied",
        "GPU-DRV-LOAD",
        (DRIVER,),
        f"{_GPU}553",
        "the node's SELinux policy does not let the container load the kernel module",
        "Run `oc debug node/{node} -- chroot /host ausearch -m avc -ts recent`: it names the rule.",
    ),
    Signature(
        r"could not insert (?:module )?'?\S*nvidia\S*: Unknown symbol|\bnvidia\S*: Unknown symbol",
        "GPU-DRV-LOAD",
        (DRIVER, KERNEL),
        "https://github.com/src-d/coreos-nvidia/issues/3",
        "a kernel module that the driver depends on is not loaded, or is of another kernel",
        f"{_MESSAGES}: its line with Unknown symbol names what is missing.",
    ),
    Signature(
        r"could not insert '?(?!nvidia)[\w-]+'?: (?:Unknown symbol|Exec format error|Invalid module format)"
        r"|Module \S+ not found in directory \S*opt/lib/modules",
        "GPU-KMM-LOAD",
        (BUILD, OPERAND, KERNEL),
        "https://github.com/Xilinx-CNS/onload/issues/164",
        "the kernel module uses a symbol that the node's kernel and its loaded modules do not have: it was "
        "built for another kernel, or a module before it is missing",
        f"{_MESSAGES}: its line with Unknown symbol names it. Build the image for that kernel "
        "(`kmm.kernel_mappings`), or add the module that has the symbol to modules_loading_order.",
    ),
    Signature(
        r"could not insert '?(?!nvidia)[\w-]+'?: File exists"
        r"|modprobe: FATAL: Module (?!nvidia|nouveau|mlx|ib_|rdma_)\S+ is in use",
        "GPU-KMM-LOAD",
        (OPERAND,),
        "https://github.com/kubernetes-sigs/kernel-module-management/issues/458",
        "the node has a module of its own that is loaded, or that another module uses",
        "Add it to `kmm.in_tree_modules_to_remove`, after the modules that use it.",
    ),
)

_HARDWARE: t.Final = (
    Signature(
        r"BAR\d is 0M @|This PCI I/O region assigned to your NVIDIA device is invalid",
        "GPU-DRV-INIT",
        (DRIVER, KERNEL),
        f"{_GPU}492",
        "the host's firmware or hypervisor gives the GPU no PCI address space",
        "In a virtual machine of vSphere set pciPassthru.use64bitMMIO to TRUE, and "
        "pciPassthru.64bitMMIOSizeGB "
        "to twice the memory of its GPUs, rounded up to a power of two; on bare metal turn on addresses "
        "above "
        "4 GiB in the firmware. First run `oc adm drain {node} --ignore-daemonsets`, which ends the node's "
        "pods: the machine has to be shut down.",
    ),
    Signature(
        r"(?:loading|firmware load for) \S*nvidia/\S*gsp_\w+\.bin failed with error",
        "GPU-DRV-INIT",
        (DRIVER, KERNEL),
        f"{_OPEN}943",
        "the kernel cannot read the firmware of the GPU's system processor (GSP)",
        "Run `oc debug node/{node} -- chroot /host cat /sys/module/firmware_class/parameters/path`: it has "
        "to "
        "name the folder in which the driver pod has its firmware, and that pod has to be the current one.",
    ),
    Signature(
        r"FWSEC cmd|s_vbios\w+: |failed to (?:read|parse|extract) (?:the )?VBIOS",
        "GPU-DRV-INIT",
        (KERNEL, DRIVER),
        f"{_OPEN}943",
        "the driver cannot use the firmware of the board (VBIOS)",
        f"{_MESSAGES}: its line with VBIOS names the version. Ask the vendor of the machine for a newer one.",
    ),
    Signature(
        r"_kgspBootGspRm|Cannot initialize GSP firmware RM|kgspWaitForGfwBootOk|GFW_BOOT",
        "GPU-DRV-INIT",
        (KERNEL, DRIVER),
        f"{_OPEN}1230",
        "the GPU's system processor (GSP) does not start; the GPU is in a bad state, or its firmware is too "
        "old",
        f"{_REPAIR}. If that does not help, have the power of the machine cut for a minute, then have the "
        "firmware updated or the board replaced.",
    ),
    Signature(
        rf"has{_ON}fallen{_ON}off{_ON}the{_ON}bus|GPU is lost\b|GPU_IS_LOST"
        r"|Unable to determine the device handle for GPU",
        "GPU-HW-XID",
        (KERNEL, DRIVER, OPERAND, VALIDATOR, WORKLOAD, EVENT),
        f"{_PLUGIN}2038",
        "a GPU has fallen off the bus",
        f"{_REPAIR}; if the GPU does not come back, have it or the machine replaced.",
    ),
    Signature(
        r"NVRM: Xid \(PCI:[^)]*\): (?!(?:13|31|43|45|63|68|92|94|109)\b)\d+,(?! \w+ Nonfatal)",
        "GPU-HW-XID",
        (KERNEL, DRIVER),
        f"{_OPEN}1355",
        "the driver reported a critical error of a GPU (Xid)",
        f"Look the number up in docs/driver-stack.md. {_REPAIR}, and resets the GPU.",
    ),
    Signature(
        r"uncorrectable ECC error encountered|CUDA_ERROR_ECC_UNCORRECTABLE",
        "GPU-ECC",
        (WORKLOAD, VALIDATOR),
        "https://github.com/vllm-project/vllm/issues/5222",
        "the GPU has a memory error that ECC could not correct",
        f"{_REPAIR}: a reset of the GPU clears it. If it comes back, have the GPU replaced.",
    ),
    Signature(
        r"SXid \(PCI:[^)]*\): \d+, Fatal",
        "GPU-FABRIC",
        (KERNEL, DRIVER),
        "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
        "an NVSwitch reported a fatal error (SXid)",
        f"{_REPAIR}. If it comes back, have the board with the NVSwitches replaced.",
    ),
    Signature(
        r"XidCriticalError: Xid=\d+",
        "GPU-HW-XID",
        (OPERAND,),
        f"{_PLUGIN}189",
        "the device plugin took a GPU out of service after a critical Xid",
        "Run `oc adm cordon {node}`, then reset or replace the GPU.",
    ),
    Signature(
        r"NV_WARN_NOTHING_TO_DO|Unknown option: \S*fabricmanager\.cfg",
        "GPU-FABRIC",
        (DRIVER,),
        f"{_GPU}2781",
        "the fabric manager finds no NVSwitch: the node has none, or the modules mlx5_ib and ib_umad, which "
        "NVLink 5 needs, are not loaded",
        "Run `oc debug node/{node} -- chroot /host lspci -d 10de:`. With NVSwitches or HGX B200 add the NIC "
        "driver with `nvidia_network_operator_nic_cluster_policy`; without them nothing is wrong.",
    ),
    Signature(
        r"(?i:system not yet initialized)|CUDA_ERROR_SYSTEM_NOT_READY|cudaErrorSystemNotReady"
        r"|failed to start fabric manager"
        r"|[Ff]abric manager .{0,100}interface version \S+ (?:does(?:n't| not)|don't) match",
        "GPU-FABRIC",
        (DRIVER, VALIDATOR, WORKLOAD),
        f"{_GPU}544",
    ),
    Signature(
        r"nvidia-gridd(?:\[\d+\])?: (?:Failed to (?:acquire|renew|borrow|register)"
        r"|Valid \S+ license not found)"
        r"|License Status\s*: Unlicensed",
        "GPU-VGPU-LICENSE",
        (DRIVER, KERNEL),
        f"{_GPU}220",
    ),
    Signature(
        r"no parent devices found for GPU at index",
        "GPU-VGPU-MDEV",
        (OPERAND,),
        "https://github.com/NVIDIA/vgpu-device-manager/pull/195",
        "the vGPU manager's driver offers virtual functions (SR-IOV) and no mediated devices, which this "
        "vGPU device manager does not know",
        "Run `oc get pods -n nvidia-gpu-operator -l app=nvidia-vgpu-manager-daemonset`; these GPUs need a "
        "vGPU "
        "device manager that knows the vendor's VFIO, or full GPUs (passthrough).",
        "vGPU 17 and newer with Ada, Hopper and newer GPUs",
    ),
    Signature(
        r"unable to read MDEV devices directory",
        "GPU-VGPU-MDEV",
        (OPERAND,),
        f"{_GPU}591",
    ),
    Signature(
        r"error validating vfio-pci driver installation|device not bound to 'vfio-pci'"
        r"|failed to bind \S+ to vfio-pci",
        "GPU-VM-VFIO",
        (OPERAND, VALIDATOR),
        "https://github.com/NVIDIA/gpu-operator/blob/main/cmd/nvidia-validator/main.go",
    ),
    Signature(
        r"(?:HostDevice|GPU) \S{1,100} is not permitted in permittedHostDevices configuration",
        "GPU-VM-REFUSED",
        (EVENT,),
        "https://github.com/kubevirt/kubevirt/tree/main/pkg/virt-controller",
    ),
)

_RUNTIME: t.Final = (
    Signature(
        r"[Dd]river/library version mismatch|API mismatch: the (?:client|NVIDIA)|LIB_RM_VERSION_MISMATCH",
        "GPU-DRV-MISMATCH",
        (OPERAND, VALIDATOR, WORKLOAD, KERNEL, CRIO),
        f"{_GPU}898",
    ),
    Signature(
        r"Incompatible Guest/Host drivers|Guest driver is incompatible with host",
        "GPU-DRV-MISMATCH",
        (OPERAND, KERNEL),
        "https://github.com/mbilker/vgpu_unlock-rs/issues/10",
        "the guest's vGPU driver and the vGPU manager of its host are of branches that do not fit",
        "Set the version of the guest driver, or of vgpuManager in gpu_operator_spec, so that both are of "
        "one "
        "release of vGPU; the new pods of the driver end pods and virtual machines that use GPUs.",
    ),
    Signature(
        r"unsatisfied condition: cuda|CUDA driver version is insufficient for CUDA runtime version"
        r"|PTX was compiled with an unsupported toolchain"
        r"|forward compatibility was attempted on non supported HW",
        "GPU-DRV-CUDA",
        (CRIO, VALIDATOR, WORKLOAD),
        "https://github.com/microsoft/pai/issues/2962",
    ),
    Signature(
        r"error executing hook `?\S*nvidia-container-(?:runtime-hook|toolkit)",
        "GPU-TK-HOOK",
        (CRIO,),
        f"{_GPU}1598",
        releases="OpenShift 4.18.21 to 4.18.23",
    ),
    Signature(
        r"error executing hook `?\S*nvidia-(?:ctk|cdi-hook)|hook #\d+: .{0,200}No help topic for '",
        "GPU-TK-HOOK",
        (CRIO,),
        "https://github.com/podman-container-tools/podman/issues/24502",
        "a hook of NVIDIA's toolkit fails: it is of another release than the CDI description that calls it, "
        "or is 1.17.0",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-container-toolkit-daemonset`, and set the "
        "toolkit "
        "of the ClusterPolicy to the release that the operator comes with.",
        "toolkit 1.17.0, and mixed releases",
    ),
    Signature(
        r"nvidia-container-cli: (?:initialization|detection|device) error"
        r"|lstat /run/nvidia/driver/\S+: no such file",
        "GPU-TK-HOOK",
        (CRIO,),
        "https://github.com/NVIDIA/nvidia-container-toolkit/issues/131",
        "the toolkit finds no driver that is loaded on the node",
        _DRIVER_PODS,
    ),
    Signature(
        r"error creating symlink|Failed to create symlinks under /dev/char",
        "GPU-VAL-DEVCHAR",
        (VALIDATOR,),
        f"{_GPU}1015",
    ),
    Signature(
        r"unresolvable CDI devices|CDI device injection failed",
        "GPU-TK-RUNTIME",
        (CRIO,),
        f"{_GPU}531",
        "the container runtime finds no CDI description of the GPU",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-container-toolkit-daemonset`, which writes it.",
    ),
    Signature(
        r"(?:cannot stat|error stat'ing file) `?\S*(?:nvidia|libcuda)\S*\.so",
        "GPU-TK-RUNTIME",
        (CRIO,),
        "https://github.com/NVIDIA/nvidia-container-toolkit/issues/450",
        "the CDI description names files of another driver release than the node has",
        "Run `oc delete pod -n nvidia-gpu-operator -l app=nvidia-container-toolkit-daemonset "
        "--field-selector "
        "spec.nodeName={node}`: the new pod writes it again, and no other pod ends.",
    ),
    Signature(
        r"DRA driver (?:gpu|compute-domain)\.nvidia\.com is not registered",
        "GPU-DRA-SLICES",
        (EVENT,),
        "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/814",
        "the kubelet of the node does not know the DRA driver: its kubelet plugin does not run there",
        "Run `oc get pods -n nvidia-gpu-operator -o wide --field-selector spec.nodeName={node}`, and read "
        "the "
        "log of the DRA driver's kubelet plugin.",
    ),
    Signature(
        r'no runtime for "nvidia" is configured|failed to find runtime handler nvidia'
        r"|ERROR_LIBRARY_NOT_FOUND|could not load NVML library|libnvidia-ml\.so\.1: cannot open shared object"
        r"|did you set the docker default runtime to|did you configure the NVIDIA Container Toolkit"
        r'|Incompatible (?:platform|strategy) detected|"?nvidia-smi\\*": executable file not found',
        "GPU-TK-RUNTIME",
        (EVENT, OPERAND, VALIDATOR),
        f"{_PLUGIN}479",
        "the container runtime does not know the runtime class nvidia, so the container has no driver",
        _CTK_LOG,
    ),
    Signature(
        r"initialize NVML: (?:Unknown Error|ERROR_UNKNOWN)",
        "GPU-CDI-LOST",
        (WORKLOAD, OPERAND),
        f"{_GPU}485",
    ),
)

_PLUGINS: t.Final = (
    Signature(
        r"cannot allocate unhealthy devices nvidia\.com/",
        "GPU-ALLOC",
        (EVENT,),
        "https://github.com/kubernetes/kubernetes/pull/117719",
        "the kubelet knows no healthy device of this kind: the device plugin has not registered since the "
        "kubelet started, or took the GPU out of service",
        "Run `oc logs -n nvidia-gpu-operator $(oc get pods -n nvidia-gpu-operator -o name -l "
        "app=nvidia-device-plugin-daemonset --field-selector spec.nodeName={node}) --all-containers`.",
    ),
    Signature(
        r"(?:unavailable for nvidia\.com/\S+ |(?<!\. ))Requested: \d+, Available: \d+, which is unexpected",
        "GPU-VAL-BUSY",
        (EVENT,),
        f"{_GPU}480",
    ),
    Signature(
        r"error (?:waiting for MPS daemon|checking MPS daemon health)"
        r"|[Ff]ailed to send command to MPS daemon",
        "GPU-MPS-DAEMON",
        (OPERAND,),
        f"{_PLUGIN}712",
    ),
    Signature(
        r"has an invalid MIG configuration|migEnabled=true was not configured correctly"
        r"|No MIG devices associated with",
        "GPU-MIG-FAILED",
        (OPERAND,),
        f"{_PLUGIN}253",
        "a GPU has its MIG mode on and no partitions, or partitions that strategy single does not allow",
        "Run `oc get node {node} -o jsonpath={.metadata.labels}`, and look at nvidia.com/mig.config and its "
        "state; GPUs of one node with different layouts need sharing.mig.strategy mixed.",
    ),
    Signature(
        r"(?:setting|destroying|creating|destroy|MIG mode|MIGConfig"
        r"|\bGPU [\dA-F:.]+).{0,200}: In use by another client",
        "GPU-MIG-FAILED",
        (OPERAND,),
        "https://github.com/NVIDIA/DCGM/issues/276",
        "a program holds a GPU that the MIG manager has to partition",
        "Run `oc get pods -A --field-selector spec.nodeName={node}` to find pods that hold a GPU, also by "
        "hostPath, and end them.",
    ),
    Signature(
        r"At least one mode change pending(?![\s\S]{0,20000}MIG configuration applied successfully)"
        r"|Resetting GPU \S+ is not supported",
        "GPU-MIG-REBOOT",
        (OPERAND,),
        f"{_GPU}603",
        "a change of the MIG mode needs a reboot",
        "Run `oc adm drain {node} --ignore-daemonsets`, which ends the pods of the node, then reboot it.",
    ),
    Signature(
        r"third-party Profiling module returned an unrecoverable error"
        r"|serviced by a module of DCGM that is not currently loaded",
        "GPU-DCGM-PROFILING",
        (OPERAND,),
        "https://github.com/NVIDIA/dcgm-exporter/issues/148",
    ),
)

_CLUSTER: t.Final = (
    Signature(
        r"exec \S+: exec format error|exec user process caused:? \"?exec format error",
        "GPU-IMAGE",
        (OPERAND, WORKLOAD, CRIO),
        "https://github.com/kubernetes/node-problem-detector/issues/797",
        "the image is for another processor architecture than the node has",
        "Run `oc get node {node} -o jsonpath={.status.nodeInfo.architecture}`, and set an image that has it.",
    ),
    Signature(
        r"[Nn]o space left on device|low on resource: ephemeral-storage|had condition: \[DiskPressure\]"
        r"|Failed to garbage collect required amount of images",
        "GPU-NODE-DISK",
        (DRIVER, OPERAND, BUILD, EVENT, CRIO),
        "https://github.com/cri-o/cri-o/issues/5187",
    ),
    Signature(
        r"rmmod: ERROR: Module (?:mlx|ib_|rdma_|iw_)\S* is in use",
        "NIC-DRV-IN-USE",
        (OPERAND,),
        f"{_NIC}1639",
    ),
    Signature(
        r"cannot (?:access|statx?) '/run/mellanox/drivers/\.driver-ready'",
        "NIC-DRV-BUILD",
        (EVENT, DRIVER),
        "https://github.com/Mellanox/network-operator/pull/318",
    ),
    Signature(
        r"waiting for mellanox ofed and nvidia drivers(?![\s\S]{0,20000}successfully loaded nvidia-peermem)",
        "GPU-RDMA-ORDER",
        (DRIVER,),
        f"{_DOCS}gpu-operator/latest/gpu-operator-rdma.html",
    ),
    Signature(
        r"(?:failed calling|conversion) webhook [\s\S]{0,800}x509: certificate",
        "API-WEBHOOK",
        (WEBHOOK,),
        "https://github.com/openshift/service-ca-operator/issues/200",
        "the API server does not trust the certificate of a webhook: the service CA did not write it, or it "
        "is old",
        "Run `oc get clusteroperator service-ca`, and `oc get pods -n openshift-service-ca`; then run again.",
    ),
    Signature(
        r"(?:failed calling|conversion) webhook [\s\S]{0,800}(?:no endpoints available for service"
        r"|connection refused"
        r"|context deadline exceeded)",
        "API-WEBHOOK",
        (WEBHOOK,),
        "https://github.com/operator-framework/operator-sdk/issues/5859",
        "no pod answers for a webhook that the API server has to ask",
        "Run `oc get pods -A -o wide`, find the pods of the service that the message names, and run again "
        "when they are Ready.",
    ),
    Signature(
        r"unable to validate against any security context constraint",
        "GPU-SCC",
        (WEBHOOK,),
        "https://github.com/openshift/instaslice-operator/pull/399",
    ),
    Signature(
        r"proxyconnect tcp|https://172\.30\.0\.1(?::443)?/\S*\"?: (?:Service Unavailable|Forbidden)",
        "GPU-PROXY",
        (DRIVER, OPERAND, OPERATOR),
        f"{_GPU}199",
    ),
    Signature(
        r"repository, image and version must all be set",
        "GPU-CP-RECONCILE",
        (OPERATOR,),
        "https://github.com/NVIDIA/gpu-operator/issues/2006",
        "some of the version, repository and image of a component are set, and others are not",
        "Set version, repository and image of the component together, such as gpu_operator_driver: {version: "
        "580.105.08, repository: nvcr.io/nvidia, image: driver}, or none of them. Drivers that are replaced "
        "end pods with GPUs.",
    ),
    Signature(
        r"conflicting GPUCluster resource",
        "GPU-CP-CONFLICT",
        (OPERATOR,),
        "https://github.com/NVIDIA/gpu-operator/pull/2696",
        "a GPUCluster exists, and it excludes the ClusterPolicy",
        "Keep one of the two: `oc delete gpucluster gpu-cluster` removes its stack and ends pods with its "
        "claims; then clear the node label nvidia.com/gpu-operator.resource-allocation.mode.",
        "operator 26.7 and newer",
    ),
)

# Rows that name a symptom with several causes. Every other row goes before them.
_SYMPTOMS: t.Final = (
    Signature(
        r"RmInitAdapter failed|rm_init_adapter failed|nvidia-persistenced failed to initialize"
        r"|^(?:\w+ probe failed: )?No devices were found",
        "GPU-DRV-INIT",
        (DRIVER, KERNEL, EVENT),
        f"{_GPU}653",
    ),
    Signature(
        r"could not insert '?nvidia'?: No such device|No NVIDIA GPU found",
        "GPU-DRV-LOAD",
        (DRIVER, KERNEL),
        f"{_GPU}671",
        "the driver finds no GPU that it can serve: this release or flavour does not support it, another "
        "driver holds it, or it is not on the node's bus",
        f"{_MESSAGES}: its lines with NVRM name the cause.",
    ),
    Signature(
        r"Unable to load the kernel module '?nvidia\.ko",
        "GPU-DRV-LOAD",
        (DRIVER,),
        f"{_GPU}239",
        "the node does not load the driver's kernel module",
        f"{_MESSAGES}: its lines with NVRM or nvidia name the cause.",
    ),
    Signature(
        r"NVIDIA-SMI has failed because it couldn't communicate|(?i:driver[ _]not[ _]loaded)",
        "GPU-DRV-LOAD",
        (VALIDATOR, OPERAND, WORKLOAD, EVENT),
        "https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/1380",
        "no driver is loaded on the node, or the container does not have its devices",
        _DRIVER_PODS,
    ),
    Signature(
        r"no CUDA-capable device is detected",
        "GPU-TK-RUNTIME",
        (VALIDATOR, WORKLOAD),
        f"{_GPU}253",
        "the program sees no GPU in its container",
        _CTK_LOG,
    ),
    Signature(
        r"No devices found\. Waiting indefinitely",
        "GPU-TK-RUNTIME",
        (OPERAND,),
        f"{_PLUGIN}1552",
        "the device plugin sees no GPU: its container has no driver, or the driver no GPU",
        _CTK_LOG,
    ),
    Signature(r"states not ready: \[", "GPU-CP-OPERAND", (OPERATOR,), f"{_GPU}667"),
)

SIGNATURES: t.Final = (
    *_TOOLKIT_AND_DISCOVERY,
    *_DRIVERS,
    *_HARDWARE,
    *_RUNTIME,
    *_PLUGINS,
    *_CLUSTER,
    *_SYMPTOMS,
)

# Why a kubelet does not get an image.
_GPU_IMAGE: t.Final = "GPU-IMAGE"
PULLS: t.Final = (
    Signature(
        r"[Nn]o space left on device",
        _GPU_IMAGE,
        (EVENT,),
        "https://github.com/cri-o/cri-o/issues/5187",
        "the node's disk is full",
        "Run `oc describe node {node}`, and give new nodes of the pool a larger disk (key disk in "
        "gpu_pools).",
    ),
    Signature(
        r"pull QPS exceeded",
        _GPU_IMAGE,
        (EVENT,),
        "https://github.com/kubernetes/kubernetes/blob/master/pkg/kubelet/images/helpers.go",
        "the kubelet limits how often its node pulls",
        "The node tries again by itself.",
    ),
    Signature(
        r"toomanyrequests|[Tt]oo [Mm]any [Rr]equests|pull rate limit",
        _GPU_IMAGE,
        (EVENT,),
        "https://github.com/red-hat-storage/ocs-ci/issues/4494",
        "the registry limits how often it is asked",
        "The node tries again by itself. To pull at once, log in to the registry (gpu_pull_secret_file of "
        "`playbooks/rotate_pull_secret.yml`), or mirror the image.",
    ),
    Signature(
        r"Source image rejected|signature was required, but no signature exists"
        r"|signature verification failed",
        _GPU_IMAGE,
        (EVENT,),
        "https://github.com/containers/image/blob/main/docs/containers-policy.json.5.md",
        "the node's policy for signatures does not accept the image",
        "Run `oc get image.config cluster -o yaml` and `oc get clusterimagepolicies`; the registry needs the "
        "signature, or the policy an exception.",
    ),
    Signature(
        r"(?i:unauthorized|authentication required|no basic auth credentials|access denied|resource is denied"
        r"|invalid username/password|status(?: code)?:? 40[13]\b|403 forbidden)",
        _GPU_IMAGE,
        (EVENT,),
        f"{_GPU}91",
        "the registry does not accept the login, or there is none",
        "Give the namespace a login for that registry with `ansible-playbook "
        "playbooks/rotate_pull_secret.yml -e gpu_pull_secret_file=FILE`, where FILE is what `podman login "
        "--authfile` wrote.",
    ),
    Signature(
        r"no (?:matching manifest|image found in (?:image index|manifest list)) for|no match for platform",
        _GPU_IMAGE,
        (EVENT,),
        "https://github.com/containers/image/blob/main/internal/manifest/docker_schema2_list.go",
        "the image is not there for the node's processor architecture",
        "Run `oc get node {node} -o jsonpath={.status.nodeInfo.architecture}`, and set an image that has it.",
    ),
    Signature(
        r"couldn't parse image|invalid reference format|InvalidImageName|Failed to apply default image tag",
        _GPU_IMAGE,
        (EVENT,),
        f"{_GPU}2006",
        "the name of the image is not one that a registry can have",
        "Set repository, image and version together, without a scheme and with the tag in version alone.",
    ),
    Signature(
        r"manifest unknown|name unknown|[Nn]ot [Ff]ound|does not exist",
        _GPU_IMAGE,
        (EVENT,),
        f"{_GPU}592",
        "the registry has no such image or tag",
        "Correct repository, image and version of the operand (gpu_operator_spec, or driver of the pool in "
        "gpu_pools), or push the image.",
    ),
    Signature(
        r"no such host|i/o timeout|connection refused|no route to host|network is unreachable|x509:"
        r"|TLS handshake|context deadline exceeded|connection reset|pinging container registry|proxyconnect"
        r"|server misbehaving|Service Unavailable|Bad Gateway|HTTP response to HTTPS client|unexpected EOF",
        _GPU_IMAGE,
        (EVENT,),
        f"{_GPU}427",
        "the node does not reach the registry, or does not trust it",
        "Mirror the image, or run `oc get proxy cluster -o yaml` and `oc get image.config cluster -o yaml` "
        "to check the proxy and the trusted certificates.",
    ),
)
