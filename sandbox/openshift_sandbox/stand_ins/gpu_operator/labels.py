# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The labels that the GPU operator writes on nodes of the container stack.

The real one also has the stacks of virtual machines and of DRA.
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


def label_changes(labels: Labels) -> dict[str, str | None]:
    """Return labels to set, or to remove (None); a value that somebody wrote, such as "false", stays."""
    if not has_gpu(labels):
        changes: dict[str, str | None] = {
            key: None for key in labels if key in STATE_LABELS or key == MIG_MANAGER
        }
        return changes | ({PRESENT: "false"} if labels.get(PRESENT) == "true" else {})
    changes = {} if labels.get(PRESENT) == "true" else {PRESENT: "true"}
    if labels.get(OPTED_OUT) == "false":
        return changes | {key: None for key in labels if key in STATE_LABELS or key == MIG_MANAGER}
    wanted = STATE_LABELS | ({MIG_MANAGER} if mig_capable(labels) else set())
    return changes | {key: "true" for key in sorted(wanted) if not labels.get(key)}
