# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The gate after a wave: which nodes are validated, and how."""

from __future__ import annotations

import typing as t

from .._core.errors import InputError
from .._core.objects import KubeObject, name
from .._workload.pods import HOSTNAME, GpuWorkloadParams, defaults, host_of
from .options import GpuDriverUpgradeParams

_KEYS: t.Final = ("namespace", "image", "benchmark", "claims", "hold", "grace")
_ITS_OWN: t.Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")


def check(params: GpuDriverUpgradeParams) -> None:
    """Raise InputError for keys that a validation does not have."""
    if wrong := sorted(set(params["validation"] or {}) - set(_KEYS)):
        raise InputError(
            "INPUT-OPTION",
            f"validation.{wrong[0]}: is no option of a validation here.",
            f"Set gpu_upgrade_validation (module option validation) with {', '.join(_KEYS)}.",
        )


def tolerations_of(node: KubeObject) -> list[KubeObject]:
    """Return tolerations of the node's taints, except those that Kubernetes itself sets."""
    return [
        {"key": one["key"], "operator": "Exists", "effect": one["effect"]}
        for one in node["spec"].get("taints") or []
        if not one["key"].startswith(_ITS_OWN)
    ]


def validation(
    params: GpuDriverUpgradeParams,
    nodes: t.Sequence[KubeObject],
    pools: t.Mapping[str, t.Mapping[str, t.Any]],
) -> GpuWorkloadParams:
    """Return the parameters of a validation of these nodes. pools: node -> its pool."""
    entries = [
        {
            "pool": name(node),
            "node_selector": {HOSTNAME: host_of(node)},
            "tolerations": tolerations_of(node),
            "expected": pools[name(node)].get("expected"),
        }
        for node in nodes
    ]
    given = defaults() | {"state": "present", "wait": True, "wait_timeout": params["wait_timeout"]}
    return t.cast(GpuWorkloadParams, given | {"pools": entries} | (params["validation"] or {}))
