# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of known failures in logs, conditions and events, and Xids, with a remedy for each.

An Xid is the driver's number of a GPU error. The device plugin withdraws a GPU after every Xid except those
of applications (13, 31, 43, 45, 68 and 109), so these are not here. The advice is from NVIDIA's catalogue for
Ampere and newer.
"""

from __future__ import annotations

import re
import typing as t

from .._catalogue import driver_branches, driver_modules


class Signature(t.NamedTuple):
    """A known text. pattern: a regular expression. code, remedy: for an error with this text."""

    pattern: str
    code: str
    meaning: str
    remedy: str


NFD_WORKERS: t.Final = (
    "Run `oc get pods -n openshift-nfd -o wide` to check nfd-worker on the GPU nodes, and add 03 to "
    "node_feature_discovery_pci_classes."
)

SIGNATURES: t.Final = (
    Signature(
        r"failed to install elfutils packages|Unable to find a match: elfutils-libelf-devel",
        "GPU-DRV-NODTK",
        "the driver is being built without the Driver Toolkit",
        "Run `oc get imagestream driver-toolkit -n openshift -o yaml`, and add a tag for the node's "
        "OSTREE_VERSION; entitlements are not needed.",
    ),
    Signature(
        r"driver-toolkit imagestream not found|DriverToolkit was requested but could not be enabled"
        r"|no matches for kind .?ImageStream",
        "GPU-DTK-STREAM",
        "the ImageStream openshift/driver-toolkit is missing",
        "Run `oc get imagestream driver-toolkit -n openshift`, then "
        "`oc get clusteroperators openshift-samples image-registry`.",
    ),
    Signature(
        r"could not find osImage .* in OS --> DTK mapping",
        "GPU-DTK-OSIMAGE",
        "no Driver Toolkit is known for this version of RHCOS",
        "Import a Driver Toolkit tag for that RHCOS version, or update Kernel Module Management.",
    ),
    Signature(
        r"No GPU node in the cluster, do not create DaemonSets",
        "GPU-NFD-EMPTY",
        "the operator sees no node with an NVIDIA PCI label",
        NFD_WORKERS,
    ),
    Signature(
        r"Couldn't get kernelVersion, did you run the node feature discovery",
        "GPU-NFD-KERNEL",
        "node feature discovery did not label the kernel version",
        "Run `oc delete pod -n openshift-nfd -l app=nfd-worker --field-selector spec.nodeName=NODE`.",
    ),
    Signature(
        r"Could not unload NVIDIA driver kernel modules, driver is in use",
        "GPU-DRV-INUSE",
        "the old driver is still in use on the node",
        "Run `oc adm drain NODE --ignore-daemonsets`, or reboot the node; do not delete driver pods by hand. "
        "Both end the pods on the node.",
    ),
    Signature(
        r"disabled by the upgrade policy|superseded by the GPU Operator's upgrade policy",
        "GPU-UPG-POLICY",
        "the upgrade policy forbids what the driver manager needs to do",
        "Set driver.upgrade_policy.podDeletion or driver.upgrade_policy.drain.",
    ),
    Signature(
        r"cannot delete Pods with local storage",
        "GPU-UPG-EMPTYDIR",
        "a pod with an emptyDir volume holds the GPU",
        "Set deleteEmptyDir in driver.upgrade_policy, or delete those pods. Both end them, and what is in "
        "their volumes is lost.",
    ),
    Signature(
        r"not signed by a key that is trusted|Loading of unsigned module is rejected"
        r"|Required key not available|Key was rejected by service",
        "GPU-DRV-SIGN",
        "Secure Boot rejects the kernel module",
        "Turn Secure Boot off in the machine set, or use signed precompiled drivers with "
        "driver.use_precompiled.",
    ),
    Signature(
        r"sign-file: /run/secrets/(key|cert)/",
        "GPU-KMM-SIGN",
        "a Secret does not hold a key, or a certificate, to sign with",
        "Put the private key in PEM under `key` of key_secret, and its certificate in DER under `cert` of "
        "cert_secret.",
    ),
    Signature(
        r"installed in this system is not supported by the\b",
        "GPU-DRV-BRANCH",
        "the branch of the driver no longer supports the GPU",
        f"Set driver of the pool to {driver_branches.as_option(driver_modules.LAST_FOR_OLD)}.",
    ),
    Signature(
        r"RmInitAdapter failed|not supported by open nvidia\.ko",
        "GPU-DRV-FLAVOUR",
        "this flavour of the kernel module does not fit the GPU",
        "Set driver.kernel_module_type (auto, open or proprietary).",
    ),
    Signature(
        r'no runtime for "nvidia" is configured',
        "GPU-TK-RUNTIME",
        "the container runtime does not know the runtime class nvidia",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-container-toolkit-daemonset`, or set "
        "cdi.enabled to true.",
    ),
    Signature(
        r"system not yet initialized",
        "GPU-FABRIC",
        "the NVSwitch fabric is not up",
        "Run `oc logs -n nvidia-gpu-operator POD` for the driver pod of that node; its fabric manager gives "
        "the cause.",
    ),
    Signature(
        r"Requested: 1, Available: 0, which is unexpected",
        "GPU-VAL-BUSY",
        "the operator's validator found no free GPU; the installation itself is not faulty",
        "Set WITH_WORKLOAD=false in spec.validator.plugin.env.",
    ),
    Signature(
        r"XidCriticalError: Xid=\d+",
        "GPU-HW-XID",
        "the device plugin took a GPU out of service after a critical Xid",
        "Run `oc adm cordon NODE`, then reset or replace the GPU.",
    ),
    Signature(
        r"Failed to initialize NVML: Unknown Error",
        "GPU-CDI-LOST",
        "the container lost its devices",
        "Delete the pod, which ends its work; its controller starts a new one. Set cdi.enabled to true.",
    ),
    Signature(
        r"At least one mode change pending",
        "GPU-MIG-REBOOT",
        "a change of the MIG mode needs a reboot",
        "Run `oc adm drain NODE --ignore-daemonsets`, then reboot the node. All its pods end.",
    ),
    Signature(
        r"unable to read MDEV devices directory",
        "GPU-VGPU-MDEV",
        "the node has no mediated devices",
        "Turn on SR-IOV and the IOMMU in the host's firmware, and check the driver type with `oc get "
        "clusterpolicy -o yaml`.",
    ),
    Signature(
        r"could not insert 'nvidia_peermem': Invalid argument",
        "GPU-RDMA-ABI",
        "nvidia-peermem was built against another NIC driver",
        "Run `oc delete pod -n nvidia-gpu-operator POD` for one driver pod after the other. Each ends the "
        "pods with GPUs on its node.",
    ),
    Signature(
        r"cannot access '/run/mellanox/drivers/\.driver-ready'",
        "NIC-DRV-BUILD",
        "the NIC driver has not been built",
        "Run `oc logs -n nvidia-network-operator POD` for the node's mofed pod; if the build is only slow, "
        "raise ofed_driver.startup_probe.",
    ),
    Signature(
        r"waiting for mellanox ofed and nvidia drivers",
        "GPU-RDMA-ORDER",
        "the peermem container waits for the NIC driver",
        "Run `oc describe nicclusterpolicy`.",
    ),
    Signature(
        r"conflicting GPUCluster resource",
        "GPU-CP-CONFLICT",
        "a GPUCluster exists, and it excludes the ClusterPolicy",
        "Keep one of the two: `oc delete gpucluster gpu-cluster`, then clear the node label "
        "nvidia.com/gpu-operator.resource-allocation.mode. Pods that hold its claims end.",
    ),
    Signature(
        r"states not ready: \[",
        "GPU-CP-OPERAND",
        "the operator waits for its operands",
        "Run `oc get pods -n nvidia-gpu-operator`, and start with the first operand in the list; the driver "
        "comes before all others.",
    ),
)


def recognise(text: str) -> Signature | None:
    """Return the first signature that the text matches, or None; surer signatures come first."""
    return next((entry for entry in SIGNATURES if re.search(entry.pattern, text)), None)


def remedy_for(text: str, otherwise: str) -> str:
    """Return the remedy for a known text, else the other one."""
    found = recognise(text)
    return found.remedy if found else otherwise


RESET, REBOOT, REPLACE, WATCH = "reset", "reboot", "replace", "watch"
_REPORT: t.Final = re.compile(r"XidCriticalError: Xid=(\d+)(?: on Device=([^\s;,]+))?")


class Xid(t.NamedTuple):
    """A GPU error. meaning: what happened. action: NVIDIA's advice, a key of REMEDIES."""

    meaning: str
    action: str


XIDS: t.Final[dict[int, Xid]] = {
    46: Xid("the GPU stopped processing", RESET),
    48: Xid("double-bit ECC error, not correctable", RESET),
    54: Xid("the board's auxiliary power is not connected", REPLACE),
    62: Xid("an internal micro-controller halted", RESET),
    63: Xid("a memory row was remapped", WATCH),
    64: Xid("a memory row could not be remapped", REPLACE),
    74: Xid("NVLink error, here or at the other end of the link", RESET),
    79: Xid("the GPU has fallen off the bus", REBOOT),
    92: Xid("many single-bit ECC errors", WATCH),
    94: Xid("memory error, contained in one application", WATCH),
    95: Xid("memory error, not contained: every application on the GPU is affected", RESET),
    110: Xid("security fault", REBOOT),
    119: Xid("the GPU's system processor (GSP) does not answer", RESET),
    120: Xid("error in the GPU's system processor (GSP)", RESET),
    136: Xid("link training failed", RESET),
    140: Xid("ECC error that could not be recovered from", RESET),
    143: Xid("the GPU could not be initialized", RESET),
    154: Xid("the recovery action changed; the driver's log names it", REBOOT),
    158: Xid("fatal timeout", RESET),
}
_REPAIR: t.Final = "`ansible-playbook playbooks/repair_node.yml -e gpu_node=NODE`"
_AGAIN: t.Final = "if the Xid comes back, have the GPU or the machine replaced"
REMEDIES: t.Final = {
    RESET: f"Run {_REPAIR} to reset the GPU: it drains, reboots and validates the node, and pods "
    f"there end; {_AGAIN}.",
    REBOOT: f"Run {_REPAIR} to drain and reboot the node, which ends its pods, and to validate it; {_AGAIN}.",
    REPLACE: (
        f"Run {_REPAIR} to drain and reboot the node once, which ends its pods; if the Xid comes back, "
        "have it replaced "
        "(the GPU, or the machine with `-e gpu_repair_replace=true`)."
    ),
    WATCH: f"Restart the application that was hit. When the other pods of the node may end, run {_REPAIR} "
    "to reset the GPU.",
}
_UNKNOWN: t.Final = Xid("not in our table; look it up in NVIDIA's catalogue of Xids", REBOOT)
_GRAVITY: t.Final = (REPLACE, REBOOT, RESET, WATCH)


def reported_xids(log: str) -> list[tuple[int, str]]:
    """Return each (Xid, device) in the device plugin's log once; an empty device means every device."""
    return list(dict.fromkeys((int(number), device or "") for number, device in _REPORT.findall(log)))


def xid(number: int) -> Xid:
    """Return the entry of an Xid; an unknown one has a default."""
    return XIDS.get(number, _UNKNOWN)


def advice(found: t.Sequence[tuple[int, str]]) -> tuple[str, str]:
    """Return what happened, and the remedy for the gravest Xid."""
    texts = [f"Xid {number} on {device or 'every device'}: {xid(number).meaning}" for number, device in found]
    return "; ".join(texts), REMEDIES[gravest(found)]


def gravest(found: t.Sequence[tuple[int, str]]) -> str:
    """Return the gravest action of these (Xid, device): a key of REMEDIES."""
    return min((xid(number).action for number, _device in found), key=_GRAVITY.index)
