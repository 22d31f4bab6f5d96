# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""NVIDIADriver: one driver for the nodes that its selector finds. Wishes to manifests, and selectors that overlap."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import driver_modules
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import merge
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import owned
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import labels
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import matches
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    manifest as clusterpolicy_manifest,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.default_spec import (
    release,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.options import (
    spec as fields,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
    options as nvidiadriver_options,
)

Data = dict[str, t.Any]
API_VERSION: t.Final = "nvidia.com/v1alpha1"
# What a driver needs to be pulled and built: kept from the policy while nodes go over to NVIDIADriver objects.
IDENTITY: t.Final = ("repository", "image", "version", "kernelModuleType")
# Fields of the ClusterPolicy's driver section that an NVIDIADriver has under another name, or not at all.
_RENAMED: t.Final = {
    "repoConfig": ("configMapName", "repoConfig"),
    "virtualTopology": ("config", "virtualTopologyConfig"),
}
_POLICY_ONLY: t.Final = ("enabled", "useNvidiaDriverCRD", "useOpenKernelModules", "hostNetwork", *_RENAMED)


def check(params: Data) -> None:
    if (params.get("driver") or {}).get("use_nvidia_driver_crd") is False:
        remedy = "Remove it, or set backend to clusterpolicy."
        raise InputError(
            "INPUT-VALUE",
            "driver.use_nvidia_driver_crd is false, and NVIDIADriver objects would be disabled.",
            remedy,
        )
    for index, pool in enumerate(params["pools"]):
        clusterpolicy_manifest.check_image(
            pool.get("driver") or {}, f"pools[{index}].driver", "INPUT-DRIVER-IMAGE"
        )
        clusterpolicy_manifest.check_branch(
            (pool.get("driver") or {}).get("version"), [pool], f"pools[{index}].driver"
        )
    entries = params.get("nvidia_drivers") or []
    pools = {pool.get("name"): pool for pool in params["pools"]}
    for index, entry in enumerate(entries):
        path = f"nvidia_drivers[{index}]"
        clusterpolicy_manifest.check_image(entry, path, "INPUT-DRIVER-IMAGE")
        clusterpolicy_manifest.check_driver(entry, path)
        clusterpolicy_manifest.check_branch(
            entry.get("version"),
            [pool for pool in params["pools"] if pool.get("name") == entry["name"]],
            path,
        )
        if [one["name"] for one in entries].count(entry["name"]) > 1:
            raise InputError(
                "INPUT-VALUE", f"{path}.name {entry['name']} is there twice.", "Name each driver once."
            )
        if entry.get("default") and entry.get("node_selector"):
            raise InputError(
                "INPUT-VALUE",
                f"{path} has default and node_selector: the API refuses that.",
                "Keep one of the two.",
            )
        if entry["state"] == "present" and not (
            entry.get("default") or entry.get("node_selector") or entry["name"] in pools
        ):
            message = f"{path} has no node_selector, and no pool is named {entry['name']}: it would be for every GPU node."
            raise InputError(
                "INPUT-REQUIRED",
                message,
                f"Give {path}.node_selector, or default: true for all nodes that no other driver selects.",
            )
        if entry.get("use_precompiled") and any(
            (entry.get(key) or {}).get("enabled") for key in ("gds", "gdrcopy")
        ):
            raise InputError(
                "INPUT-VALUE",
                f"{path} has use_precompiled with gds or gdrcopy: the operator refuses that.",
                "Keep one of the two.",
            )
    if not entries and not params["pools"] and params["state"] == "present":
        raise InputError(
            "INPUT-REQUIRED",
            "There are neither nvidia_drivers nor pools, so no node would have a driver.",
            "Give one of the two.",
        )


def selector(pools: t.Sequence[Data], name: str) -> dict[str, str]:
    """What all parts of a pool have in common: nodes of a pool may be of several instance types."""
    parts = [pool["node_selector"].items() for pool in pools if pool["name"] == name]
    return dict(sorted(set.intersection(*map(set, parts)))) if parts else {}


def build(params: Data, driver: Data, example: Data) -> list[Data]:
    """The wanted objects. driver: the ClusterPolicy's driver section; example: the installed operator's."""
    base = merge(example, from_policy(driver))
    pools = list(params["pools"])
    given = params.get("nvidia_drivers") or []
    entries = [entry for entry in given if entry["state"] == "present"]
    if not entries:
        leaving = {entry["name"] for entry in given}
        entries = [
            {"name": name} for name in dict.fromkeys(pool["name"] for pool in pools) if name not in leaving
        ]
    return [_manifest(entry, base, pools, params) for entry in entries]


def _manifest(entry: Data, base: Data, pools: t.Sequence[Data], params: Data) -> Data:
    name = entry["name"]
    of_pool: Data = next(
        (pool["driver"] for pool in pools if pool["name"] == name and pool.get("driver")), {}
    )
    wishes = merge(fields(of_pool, nvidiadriver_options.FIELDS), fields(entry, nvidiadriver_options.FIELDS))
    spec = merge(base, merge(wishes, entry.get("spec") or {}))
    clusterpolicy_manifest.count_unavailable(spec)
    spec["driverType"] = spec.get("driverType") or "gpu"
    spec.pop("nodeSelector", None)
    if not spec.get("default"):
        spec["nodeSelector"] = (
            wishes.get("nodeSelector")
            or (entry.get("spec") or {}).get("nodeSelector")
            or selector(pools, name)
        )
    spec["tolerations"] = clusterpolicy_manifest.wanted_tolerations(params, None)
    if wrong := driver_modules.storage(spec.get("gds") or {}, spec.get("kernelModuleType") or "auto"):
        raise InputError(
            "INPUT-VALUE",
            f"NVIDIADriver {name}: {wrong}; the operator refuses that.",
            "Set its kernel_module_type to open.",
        )
    models = [model for pool in pools if pool["name"] == name for model in pool.get("gpu_models") or []]
    if wrong := driver_modules.outgrown(spec.get("version"), models):
        raise InputError(
            "INPUT-VALUE",
            f"NVIDIADriver {name} would have version {spec['version']}, and {wrong}.",
            "Give that pool a driver of branch 580.",
        )
    return {"apiVersion": API_VERSION, "kind": "NVIDIADriver", "metadata": {"name": name}, "spec": spec}


def from_policy(driver: Data) -> Data:
    """The ClusterPolicy's driver section as an NVIDIADriver says it, without what is empty."""
    spec: Data = _filled({key: value for key, value in driver.items() if key not in _POLICY_ONLY})
    for key, (old, new) in _RENAMED.items():
        if found := (driver.get(key) or {}).get(old):
            spec[new] = {"name": found}
    return spec


def _filled(value: t.Any) -> t.Any:
    if not isinstance(value, dict):
        return value
    inner = {key: _filled(one) for key, one in value.items()}
    return {key: one for key, one in inner.items() if one not in ("", None, {}, [])}


def as_before(wanted: Data, driver: Data) -> Data:
    """The same object with the driver that the ClusterPolicy brings, so that going over changes no node's driver."""
    kept = {key: driver[key] for key in IDENTITY if driver.get(key)}
    if "version" not in kept:
        return wanted
    return {**wanted, "spec": {**wanted["spec"], **kept}}


def refuse_release(csvs: t.Iterable[Data]) -> None:
    """Before 26.7 no label says whose a node is, and the switch ends the policy's driver pods on all nodes at once (the operator's source, 2026-11)."""
    found = release(csvs)
    if found and found < (26, 7):
        installed = f"GPU operator {'.'.join(map(str, found))} is installed"
        message = f"{installed}: before 26.7 it takes the ClusterPolicy's driver from all nodes at once when NVIDIADriver objects take over."
        raise NotReadyError(
            "GPU-NVD-RELEASE", message, "Upgrade it first (olm_operator), or use backend clusterpolicy."
        )


def clashing(wanted: t.Sequence[Data], leaving: t.Sequence[Data], nodes: t.Sequence[Data]) -> list[str]:
    """Those of the leaving ones that have to go before any wanted one comes."""
    return [name(one) for one in leaving if any(_shared(one, other, nodes) is not None for other in wanted)]


def unlisted(params: Data, wanted: t.Sequence[Data], live: t.Sequence[Data]) -> list[Data]:
    """Drivers of ours that nothing asks for any more, as when their pool left the list."""
    told = {name(one) for one in wanted} | {entry["name"] for entry in params.get("nvidia_drivers") or []}
    return [one for one in live if owned(one) and name(one) not in told]


def refuse_overlap(wanted: t.Sequence[Data], others: t.Sequence[Data], nodes: t.Sequence[Data]) -> None:
    """Two drivers for one node stop every driver. Judged on the nodes there are, and on selectors of which one holds the other."""
    drivers = [
        *wanted,
        *(
            one
            for one in others
            if one["metadata"]["name"] not in {own["metadata"]["name"] for own in wanted}
        ),
    ]
    for index, one in enumerate(drivers):
        for other in drivers[index + 1 :]:
            both = _shared(one, other, nodes)
            if both is not None:
                _refuse(one, other, both)
    defaults = [name(one) for one in drivers if one["spec"].get("default")]
    if len(defaults) > 1:
        message = (
            f"NVIDIADrivers {' and '.join(sorted(defaults))} are both for all nodes that no other selects."
        )
        raise NotReadyError("GPU-NVD-OVERLAP", message, "Keep one of them.", defaults)


def _shared(one: Data, other: Data, nodes: t.Sequence[Data]) -> list[str] | None:
    """Nodes of both, whether they have a GPU or not; none, but a list, where one selector holds the other."""
    if one["spec"].get("default") or other["spec"].get("default"):
        return None
    mine, theirs = one["spec"].get("nodeSelector") or {}, other["spec"].get("nodeSelector") or {}
    both = sorted(
        name(node) for node in nodes if matches(mine, labels(node)) and matches(theirs, labels(node))
    )
    return both if both or mine.items() <= theirs.items() or theirs.items() <= mine.items() else None


def _refuse(one: Data, other: Data, nodes: list[str]) -> t.NoReturn:
    written = " and ".join(
        f"{name(driver)} ({_written(driver['spec'].get('nodeSelector') or {})})" for driver in (one, other)
    )
    where = (
        f"node {nodes[0]}{f' and {len(nodes) - 1} more' if nodes[1:] else ''}"
        if nodes
        else "every node that one of them selects"
    )
    message = f"NVIDIADrivers {written} are both for {where}: the operator would go on with none at all."
    raise NotReadyError(
        "GPU-NVD-OVERLAP",
        message,
        "Give them selectors of which no node has both, or delete one of them.",
        nodes,
    )


def undecided(wanted: t.Sequence[Data]) -> list[str]:
    """Remarks on selectors that no node matches both of today, although one could."""
    remarks = []
    for index, one in enumerate(wanted):
        for other in wanted[index + 1 :]:
            mine, theirs = (driver["spec"].get("nodeSelector") or {} for driver in (one, other))
            if mine and theirs and all(mine[key] == theirs[key] for key in mine.keys() & theirs.keys()):
                remarks.append(
                    f"A node could have the labels of NVIDIADrivers {name(one)} and {name(other)} both; it would get no driver."
                )
    return remarks


def name(obj: Data) -> str:
    return str(obj["metadata"]["name"])


def _written(wanted: Data) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(wanted.items())) or "all nodes"
