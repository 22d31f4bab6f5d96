# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts of known failures in logs, conditions and events, and Xids, with a remedy for each.

An Xid is the driver's number of a GPU error. The device plugin withdraws a GPU after every Xid except 13, 31,
43, 45, 68 and 109. After 109 the GPU needs a reset all the same, so only metrics, events and the driver's own
text tell of it; the others of these are errors of applications, and not here. The advice is from NVIDIA's
catalogue for Ampere and newer.
"""

from __future__ import annotations

import re
import typing as t

from .._core.errors import template_of


class Signature(t.NamedTuple):
    """A known text. pattern: a regular expression. code: for an error with this text.

    meaning, remedy: of a code that has several signatures; the others have the text of the code. The remedy
    may hold {node}, {pod} and {namespace}, which `advice` fills in.
    """

    pattern: str
    code: str
    meaning: str = ""
    remedy: str = ""

    def advice(self, otherwise: str = "", **names: str) -> str:
        """Return the remedy with these names; the other one if it needs a name that is not known."""
        if not all(names.get(one) for one in _NAMES.findall(self.remedy)):
            return otherwise
        return _NAMES.sub(lambda found: names[found[1]], self.remedy)


_NAMES: t.Final = re.compile(r"\{(node|pod|namespace)\}")
# What may be between two words of a message of the kernel, which goes over several lines.
_ON: t.Final = r"\s+(?:\[[^\]\n]*\]\s*)?(?:NVRM:\s+)?"
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

SIGNATURES: t.Final = (
    Signature(
        r"imagetag missing, using entitlement-based fallback|istag/driver-toolkit:\S+ -n openshift' missing",
        "GPU-DTK-STREAM",
        "the ImageStream openshift/driver-toolkit has no tag for the node's RHCOS version",
        f"{_TOOLKIT}, and import the tag that the node's OSTREE_VERSION names.",
    ),
    Signature(
        r"(?i:broken driver toolkit) (?:image )?detected",
        "GPU-DTK-STREAM",
        "the Driver Toolkit's image is for another kernel than the node runs",
        f"{_TOOLKIT}, and import the tag of the node's OSTREE_VERSION again.",
    ),
    Signature(
        r"failed to install elfutils|RHEL entitlement may be improperly deployed"
        r"|Unable to find a match: (?:\S+ )*?(?:elfutils-libelf|kernel-(?:headers|devel|core|modules))"
        r"|Could not resolve Linux kernel version",
        "GPU-DRV-NODTK",
    ),
    Signature(
        r"failed to reach RHEL package repositories|failed to update the dnf metadata cache"
        r"|Failed to download metadata for repo|Cannot download repomd\.xml",
        "GPU-DRV-REPO",
    ),
    Signature(
        r"driver-toolkit imagestream not found|DriverToolkit was requested but could not be enabled"
        r"|no matches for kind .?ImageStream",
        "GPU-DTK-STREAM",
        "the ImageStream openshift/driver-toolkit is missing",
        "Run `oc get imagestream driver-toolkit -n openshift`, then "
        "`oc get clusteroperators openshift-samples image-registry`.",
    ),
    Signature(r"could not find osImage .* in OS --> DTK mapping", "GPU-DTK-OSIMAGE"),
    Signature(
        r"No GPU node in the cluster, do not create DaemonSets",
        "GPU-NFD-EMPTY",
        "the operator sees no node with an NVIDIA PCI label",
        NFD_WORKERS,
    ),
    Signature(
        r"Couldn't get kernelVersion, did you run the node feature discovery"
        r"|Could not find kernel full version",
        "GPU-NFD-KERNEL",
        "node feature discovery did not label the kernel version",
        "Run `oc get nodes -L feature.node.kubernetes.io/kernel-version.full` to find the GPU node without "
        "it, and `oc get pods -n openshift-nfd -o wide` to check the nfd-worker there.",
    ),
    Signature(r"Could not unload NVIDIA driver kernel modules, driver is in use", "GPU-DRV-INUSE"),
    Signature(
        r"disabled by the upgrade policy|superseded by the GPU Operator's upgrade policy", "GPU-UPG-POLICY"
    ),
    Signature(r"cannot delete Pods with local storage", "GPU-UPG-EMPTYDIR"),
    Signature(
        r"not signed by a key that is trusted|[Ll]oading of unsigned module is rejected"
        r"|unsigned module loading is restricted|Required key not available|Key was rejected by service",
        "GPU-DRV-SIGN",
    ),
    Signature(
        r"sign-file: /run/secrets/(key|cert)/",
        "GPU-KMM-SIGN",
        "a Secret does not hold a key, or a certificate, to sign with",
        "Put the private key in PEM under `key` of key_secret, and its certificate in DER under `cert` of "
        "cert_secret.",
    ),
    Signature(
        rf"not{_ON}supported{_ON}by{_ON}open{_ON}nvidia\.ko",
        "GPU-DRV-FLAVOUR",
        "the GPU needs the proprietary kernel modules, and the open ones are loaded",
        "Set driver.kernel_module_type of the pool in gpu_pools (module option driver) to auto or "
        "proprietary; the new driver pods end pods that use GPUs.",
    ),
    Signature(
        rf"requires{_ON}use{_ON}of{_ON}the{_ON}NVIDIA{_ON}open{_ON}kernel{_ON}modules",
        "GPU-DRV-FLAVOUR",
        "the GPU needs the open kernel modules, and the proprietary ones are loaded",
        "Set driver.kernel_module_type of the pool in gpu_pools (module option driver) to auto or open; the "
        "new driver pods end pods that use GPUs.",
    ),
    Signature(
        rf"not{_ON}supported{_ON}by{_ON}the{_ON}(?:NVIDIA|NVRM)\b|supported{_ON}through{_ON}the{_ON}"
        rf"NVIDIA{_ON}\S+{_ON}Legacy{_ON}drivers?",
        "GPU-DRV-BRANCH",
    ),
    Signature(
        r"The Nouveau kernel driver is currently in use|probe routine was not called"
        r"|[Ff]ailed to unload (?:the )?nouveau|rmmod: ERROR: Module nouveau is in use",
        "GPU-DRV-NOUVEAU",
    ),
    Signature(
        r"modpost: GPL-incompatible module \S+ uses GPL-only symbol",
        "GPU-DRV-BUILD",
        "this release of the driver does not support the node's kernel: it uses a symbol that only GPL "
        "modules may use",
        _ANOTHER,
    ),
    Signature(
        r"/nvidia[^\s:]*\.[ch]:\d+(?::\d+)?: (?:fatal )?error:|modpost: \".*\" \[\S*nvidia\S*\] undefined"
        r"|FATAL: no NVIDIA driver generated"
        r"|performing the step: \"(?:Building kernel modules|Checking to see)",
        "GPU-DRV-BUILD",
        "this release of the driver does not support the node's kernel, and cannot be built for it",
        _ANOTHER,
    ),
    Signature(
        r"could not insert '?nvidia\S*: (?:Exec format error|Invalid module format)"
        r"|nvidia\S*: (?:disagrees about version of symbol|version magic )",
        "GPU-DRV-BUILD",
        "the driver's kernel module was built for another kernel than the node runs",
        f"{_TOOLKIT} to compare its tag with the node's OSTREE_VERSION; a precompiled image must name the "
        "kernel that `oc get node {node} -o wide` shows.",
    ),
    Signature(
        r"RmInitAdapter failed|rm_init_adapter failed|nvidia-persistenced failed to initialize"
        r"|_kgspBootGspRm|BAR\d is 0M|This PCI I/O region assigned to your NVIDIA device is invalid",
        "GPU-DRV-INIT",
    ),
    Signature(
        r"has fallen off the bus|GPU is lost\.",
        "GPU-HW-XID",
        "a GPU has fallen off the bus",
        "Run `ansible-playbook playbooks/repair_node.yml -e gpu_node={node}`, which drains and reboots the "
        "node; if it comes back, have the GPU or the machine replaced.",
    ),
    Signature(
        r"could not insert '?nvidia'?: No such device|No NVIDIA GPU found",
        "GPU-DRV-LOAD",
        "the driver finds no GPU that it can serve: this release or flavour does not support it, another "
        "driver holds it, or it is not on the node's bus",
        f"{_MESSAGES}: its lines with NVRM name the cause.",
    ),
    Signature(
        r"Unable to load the kernel module '?nvidia\.ko",
        "GPU-DRV-LOAD",
        "the node does not load the driver's kernel module",
        f"{_MESSAGES}: its lines with NVRM or nvidia name the cause.",
    ),
    Signature(r"[Dd]river/library version mismatch|API mismatch: the (?:client|NVIDIA)", "GPU-DRV-MISMATCH"),
    Signature(r"error creating symlink|Failed to create symlinks under /dev/char", "GPU-VAL-DEVCHAR"),
    Signature(
        r'no runtime for "nvidia" is configured|failed to find runtime handler nvidia'
        r"|ERROR_LIBRARY_NOT_FOUND|could not load NVML library|libnvidia-ml\.so\.1: cannot open shared object"
        r"|did you set the docker default runtime to",
        "GPU-TK-RUNTIME",
        "the container runtime does not know the runtime class nvidia, so the container has no driver",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-container-toolkit-daemonset`, or set "
        "cdi.enabled to true.",
    ),
    Signature(
        r"unresolvable CDI devices|CDI device injection failed",
        "GPU-TK-RUNTIME",
        "the container runtime finds no CDI description of the GPU",
        "Run `oc logs -n nvidia-gpu-operator daemonset/nvidia-container-toolkit-daemonset`, which writes it.",
    ),
    Signature(
        r"system not yet initialized|CUDA_ERROR_SYSTEM_NOT_READY|failed to start fabric manager"
        r"|[Ff]abric manager .*interface version \S+ does(?:n't| not) match",
        "GPU-FABRIC",
    ),
    Signature(r"Requested: 1, Available: 0, which is unexpected", "GPU-VAL-BUSY"),
    Signature(
        r"XidCriticalError: Xid=\d+",
        "GPU-HW-XID",
        "the device plugin took a GPU out of service after a critical Xid",
        "Run `oc adm cordon {node}`, then reset or replace the GPU.",
    ),
    Signature(r"Failed to initialize NVML: Unknown Error", "GPU-CDI-LOST"),
    Signature(
        r"At least one mode change pending",
        "GPU-MIG-REBOOT",
        "a change of the MIG mode needs a reboot",
        "Run `oc adm drain {node} --ignore-daemonsets`, which ends the pods of the node, then reboot it.",
    ),
    Signature(
        r"(?:setting|destroying|creating|MIG mode).*: In use by another client",
        "GPU-MIG-FAILED",
        "a program holds a GPU that the MIG manager has to partition",
        "Run `oc get pods -A --field-selector spec.nodeName={node}` to find pods that hold a GPU, also by "
        "hostPath, and end them.",
    ),
    Signature(r"unable to read MDEV devices directory", "GPU-VGPU-MDEV"),
    Signature(r"could not insert 'nvidia[-_]peermem': Invalid argument", "GPU-RDMA-ABI"),
    Signature(r"rmmod: ERROR: Module (?:mlx|ib_|rdma_|iw_)\S* is in use", "NIC-DRV-INUSE"),
    Signature(r"cannot access '/run/mellanox/drivers/\.driver-ready'", "NIC-DRV-BUILD"),
    Signature(r"waiting for mellanox ofed and nvidia drivers", "GPU-RDMA-ORDER"),
    Signature(
        r"proxyconnect tcp|https://172\.30\.0\.1(?::443)?/\S*\"?: (?:Service Unavailable|Forbidden)",
        "GPU-PROXY",
    ),
    Signature(
        r"conflicting GPUCluster resource",
        "GPU-CP-CONFLICT",
        "a GPUCluster exists, and it excludes the ClusterPolicy",
        "Keep one of the two: `oc delete gpucluster gpu-cluster` removes its stack and ends pods with its "
        "claims; then clear the node label nvidia.com/gpu-operator.resource-allocation.mode.",
    ),
    Signature(r"states not ready: \[", "GPU-CP-OPERAND"),
)
# Why a kubelet does not get an image.
_GPU_IMAGE: t.Final = "GPU-IMAGE"
PULLS: t.Final = (
    Signature(
        r"toomanyrequests|[Tt]oo [Mm]any [Rr]equests|pull rate limit",
        _GPU_IMAGE,
        "the registry limits how often it is asked",
        "The node tries again by itself. To end it, log in to the registry (gpu_pull_secret_file of "
        "`playbooks/rotate_pull_secret.yml`), or mirror the image.",
    ),
    Signature(
        r"(?i:unauthorized|authentication required|no basic auth credentials|access denied|resource is denied"
        r"|invalid username/password|status(?: code)?:? 40[13]\b|403 forbidden)",
        _GPU_IMAGE,
        "the registry does not accept the login, or there is none",
        "Give the namespace a login for that registry with `ansible-playbook "
        "playbooks/rotate_pull_secret.yml -e gpu_pull_secret_file=FILE`, where FILE is what `podman login "
        "--authfile` wrote.",
    ),
    Signature(
        r"no (?:matching manifest|image found in (?:image index|manifest list)) for|no match for platform",
        _GPU_IMAGE,
        "the image is not there for the node's processor architecture",
        "Run `oc get node {node} -o jsonpath={.status.nodeInfo.architecture}`, and set an image that has it.",
    ),
    Signature(
        r"couldn't parse image|invalid reference format|InvalidImageName|Failed to apply default image tag",
        _GPU_IMAGE,
        "the name of the image is not one that a registry can have",
        "Set repository, image and version together, without a scheme and with the tag in version alone.",
    ),
    Signature(
        r"manifest unknown|name unknown|[Nn]ot [Ff]ound|does not exist",
        _GPU_IMAGE,
        "the registry has no such image or tag",
        "Correct repository, image and version of the operand (gpu_operator_spec, or driver of the pool in "
        "gpu_pools), or push the image.",
    ),
    Signature(
        r"no such host|i/o timeout|connection refused|no route to host|network is unreachable|x509:"
        r"|TLS handshake|context deadline exceeded|connection reset|pinging container registry",
        _GPU_IMAGE,
        "the node does not reach the registry, or does not trust it",
        "Mirror the image, or run `oc get proxy cluster -o yaml` and `oc get image.config cluster -o yaml` "
        "to check the proxy and the trusted certificates.",
    ),
)


def recognise(text: str, table: t.Iterable[Signature] = SIGNATURES) -> Signature | None:
    """Return the first signature that the text matches, or None; surer signatures come first."""
    found = next((entry for entry in table if re.search(entry.pattern, text)), None)
    return with_text(found) if found else None


def with_text(known: Signature) -> Signature:
    """Return the signature with the text of its code if it has none of its own."""
    if known.meaning:
        return known
    text = template_of(known.code)
    meaning = text.message[0].lower() + text.message[1:-1]
    return known._replace(meaning=meaning, remedy=text.remedy)


def remedy_for(text: str, otherwise: str, **names: str) -> str:
    """Return the remedy for a known text, else the other one. names: of node, pod and namespace."""
    found = recognise(text)
    return found.advice(otherwise, **names) if found else otherwise


def spoken(known: Signature, log: str) -> str:
    """Return the line of the log in which a known text begins."""
    at = re.search(known.pattern, log)
    begin = log.rfind("\n", 0, at.start()) + 1 if at else 0
    return log[begin:].partition("\n")[0].strip()


# What a program prints while it ends, and what a shell or a compiler prints of its own work.
_NOISE: t.Final = re.compile(
    r"\++ |(?:Stopping|Unloading|Unmounting|Cleaning|Shutting|Terminating|Exiting|Restoring)\b"
    r"(?!.*(?:[Ff]ailed|error))"
    r"|Caught signal|[Ee]xiting\b|(?:Received|caught) (?:signal|SIG)|Done\b|#+$|[=+*-]{3,}|command terminated"
    r"|make(?:\[\d+\])?: (?:Entering|Leaving) |\s*(?:CC|LD|AR|MODPOST|BTF)\s"
)
_TRAP: t.Final = re.compile(
    r"(?:\++ (?:echo ')?)?(?:Stopping |Unloading |Unmounting |Shutting down|Caught signal|_shutdown)"
)
_ERROR: t.Final = re.compile(
    r"(?i:\b(?:error|fatal|fail(?:ed|ure|s)?|can(?:not|'t)|(?:could|did|does|is|was)(?: not|n't)|unable|"
    r"denied|no such|invalid|panic|unsupported|refused|reject(?:ed|s)?|timed out|timeout|missing|"
    r"unauthorized|forbidden|mismatch|exception|not found|no space|killed|incompatible|unknown)\b)"
    r"|^[EF]\d{4} "
)
_NO_ERROR: t.Final = re.compile(
    r"(?i:\b(?:no|0|zero|without(?: any)?) (?:errors?|failures?)\b"
    r"|\berr(?:or)?s?\"?[:=] ?(?:0|nil|null|none|<nil>|\"\"|\[\])"
    r"|\bfailed[:=] ?0\b)"
)
# Lines that may have an error for a consequence, or none at all.
_WEAK: t.Final = re.compile(r"(?i)\W*warn(?:ing)?\b|W\d{4} |.*\blevel\"?[=:] ?\"?warn|make(?:\[\d+\])?: ")


def telling(log: str) -> tuple[str, bool]:
    """Return the line that says most likely why a program ended, and whether it looks like an error.

    It is the last line that looks like an error before the program began to clean up. Without one it is the
    last line that is no noise; empty if all is noise.
    """
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    said = [line for line in lines if not _NOISE.match(line)]
    before = [line for line in lines[: _trap(lines)] if not _NOISE.match(line)]
    for place in (before, said):
        errors = [line for line in place if _ERROR.search(line) and not _NO_ERROR.search(line)]
        if found := [line for line in errors if not _WEAK.match(line)] or errors:
            return found[-1], True
    return (before or said or [""])[-1], False


def _trap(lines: t.Sequence[str]) -> int:
    """Return the index at which the last clean-up begins; the number of lines if there is none."""
    start = last = max((at for at, line in enumerate(lines) if _TRAP.match(line)), default=len(lines))
    for at in range(last - 1, -1, -1):
        if _TRAP.match(lines[at]):
            start = at
        elif not _NOISE.match(lines[at]):
            break
    return start


RESET, REBOOT, REPLACE, WATCH = "reset", "reboot", "replace", "watch"
_REPORT: t.Final = re.compile(r"XidCriticalError: Xid=(\d+)(?: on Device=([^\s;,]+))?")
# The same of the driver in the kernel's log.
_KERNEL: t.Final = re.compile(r"NVRM: Xid \((PCI:[0-9A-Fa-f:.]+)\): (\d+)\b")


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
    109: Xid("a context switch timed out; the GPU needs a reset and stays allocatable", RESET),
    110: Xid("security fault", REBOOT),
    119: Xid("the GPU's system processor (GSP) does not answer", RESET),
    120: Xid("error in the GPU's system processor (GSP)", RESET),
    136: Xid("link training failed", RESET),
    140: Xid("ECC error that could not be recovered from", RESET),
    142: Xid("an error that NVIDIA's support has to look at", REPLACE),
    143: Xid("the GPU could not be initialized", RESET),
    144: Xid("NVLink error (SAW); the driver's log has the details", RESET),
    145: Xid("NVLink error (RLW); the driver's log has the details", RESET),
    146: Xid("NVLink error (TLW); the driver's log has the details", RESET),
    147: Xid("NVLink error (TREX); the driver's log has the details", RESET),
    148: Xid("NVLink error (NVLPW_CTRL); the driver's log has the details", RESET),
    149: Xid("NVLink error (NETIR); the driver's log has the details", RESET),
    150: Xid("NVLink error (MSE); the driver's log has the details", RESET),
    151: Xid("key rotation failed", REBOOT),
    154: Xid("the recovery action changed; the driver's log names it", REBOOT),
    155: Xid("NVLink error that the driver defines", RESET),
    156: Xid("a resource of the GPU was retired", RESET),
    158: Xid("fatal timeout", RESET),
}
# After these the device plugin leaves the GPU allocatable.
UNNOTICED: t.Final = frozenset({13, 31, 43, 45, 68, 109} & XIDS.keys())
_REPAIR: t.Final = "`ansible-playbook playbooks/repair_node.yml -e gpu_node={node}`"
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
    """Return each (Xid, device) in a log once; an empty device means every device.

    The device plugin names those after which it withdraws a GPU; the driver names all, also those of
    applications, which are left out.
    """
    found = [(int(number), device or "") for number, device in _REPORT.findall(log)]
    kernel = [(int(number), device) for device, number in _KERNEL.findall(log) if int(number) in XIDS]
    return list(dict.fromkeys([*found, *kernel]))


def xid(number: int) -> Xid:
    """Return the entry of an Xid; an unknown one has a default."""
    return XIDS.get(number, _UNKNOWN)


def advice(found: t.Sequence[tuple[int, str]], node: str) -> tuple[str, str]:
    """Return what happened, and the remedy for the gravest Xid of a node."""
    texts = [f"Xid {number} on {device or 'every device'}: {xid(number).meaning}" for number, device in found]
    return "; ".join(texts), _NAMES.sub(node, REMEDIES[gravest(found)])


def gravest(found: t.Sequence[tuple[int, str]]) -> str:
    """Return the gravest action of these (Xid, device): a key of REMEDIES."""
    return min((xid(number).action for number, _device in found), key=_GRAVITY.index)
