# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The labels that the GPU operator writes on nodes, by what they run: containers or virtual machines.

The real one also has the stack of DRA. Compared with the source of v26.7.0 (2026-11), which has the same
rules since v24.9: a node without a valid label of its own has the policy's default workload.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.gpu_operator.operands import DEPLOY, OPERANDS

Labels = t.Mapping[str, str]

PRESENT: t.Final = "nvidia.com/gpu.present"
FEATURES: t.Final = "feature.node.kubernetes.io/"
PCI: t.Final = tuple(f"{FEATURES}pci-{device}.present" for device in ("10de", "0302_10de", "0300_10de"))
OPTED_OUT: t.Final = f"{DEPLOY}operands"
MIG_CONFIG, ALL_DISABLED = "nvidia.com/mig.config", "all-disabled"
MIG_MANAGER: t.Final = f"{DEPLOY}mig-manager"
STATE_LABELS: t.Final = frozenset(
    {f"{DEPLOY}client", *(f"{DEPLOY}{one.component}" for one in OPERANDS if one.component != "mig-manager")}
)


WORKLOAD, CONTAINER, PASSTHROUGH = "nvidia.com/gpu.workload.config", "container", "vm-passthrough"
_MACHINES: t.Final = {
    PASSTHROUGH: (
        "sandbox-device-plugin",
        "sandbox-validator",
        "vfio-manager",
        "kata-manager",
        "cc-manager",
        "client",
    ),
    "vm-vgpu": (
        "sandbox-device-plugin",
        "vgpu-manager",
        "vgpu-device-manager",
        "sandbox-validator",
        "cc-manager",
        "client",
    ),
}
WORKLOADS: t.Final = (CONTAINER, *_MACHINES)
_KUBEVIRT, _KATA = f"{DEPLOY}sandbox-device-plugin", f"{DEPLOY}kata-sandbox-device-plugin"
_EVERY: t.Final = STATE_LABELS | {
    MIG_MANAGER,
    _KATA,
    *(f"{DEPLOY}{one}" for names in _MACHINES.values() for one in names),
}
_NONE: t.Final[t.Mapping[str, t.Any]] = {}


def workload(labels: Labels, sandbox: t.Mapping[str, t.Any]) -> str:
    """Return what a node runs; `sandbox` is the part sandboxWorkloads of the policy."""
    if not sandbox.get("enabled"):
        return CONTAINER
    own, default = labels.get(WORKLOAD, ""), str(sandbox.get("defaultWorkload") or CONTAINER)
    return next((one for one in (own, default) if one in WORKLOADS), CONTAINER)


def _wanted(labels: Labels, sandbox: t.Mapping[str, t.Any]) -> frozenset[str]:
    runs = workload(labels, sandbox)
    if runs == CONTAINER:
        return STATE_LABELS | ({MIG_MANAGER} if mig_capable(labels) else frozenset())
    found = frozenset(f"{DEPLOY}{one}" for one in _MACHINES[runs])
    if runs == PASSTHROUGH and sandbox.get("mode") == "kata":
        found = found - {_KUBEVIRT} | {_KATA}
    return found


def has_features(labels: Labels) -> bool:
    """Return whether node feature discovery has labelled the node."""
    return any(key.startswith(FEATURES) for key in labels)


def has_gpu(labels: Labels) -> bool:
    """Return whether a label names a PCI device of NVIDIA."""
    return any(labels.get(key) == "true" for key in PCI)


def mig_capable(labels: Labels) -> bool:
    """Return whether the GPUs of a node can be split."""
    if "nvidia.com/mig.capable" in labels:
        return labels["nvidia.com/mig.capable"] == "true"
    product = labels.get("nvidia.com/gpu.product", "").lower()
    return any(model in product for model in ("h100", "a100", "a30"))


def uncut(labels: Labels, manager: t.Mapping[str, t.Any]) -> dict[str, str | None]:
    """Return the label that leaves GPUs whole, where the policy makes it the default of the MIG manager."""
    wanted = (manager.get("config") or {}).get("default")
    if wanted != ALL_DISABLED or manager.get("enabled") is False or labels.get(MIG_CONFIG):
        return {}
    return {MIG_CONFIG: ALL_DISABLED} if has_gpu(labels) and mig_capable(labels) else {}


def label_changes(labels: Labels, sandbox: t.Mapping[str, t.Any] = _NONE) -> dict[str, str | None]:
    """Return labels to set, or to remove (None); a value that somebody wrote, such as "false", stays."""
    if not has_gpu(labels):
        changes: dict[str, str | None] = {key: None for key in labels if key in _EVERY}
        return changes | ({PRESENT: "false"} if labels.get(PRESENT) == "true" else {})
    changes = {} if labels.get(PRESENT) == "true" else {PRESENT: "true"}
    if labels.get(OPTED_OUT) == "false":
        return changes | {key: None for key in labels if key in _EVERY}
    wanted = _wanted(labels, sandbox)
    kept = {MIG_MANAGER} if workload(labels, sandbox) == CONTAINER else set()
    changes |= {key: None for key in sorted(labels) if key in _EVERY - wanted - kept}
    return changes | {key: "true" for key in sorted(wanted) if not labels.get(key)}
