# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build NVIDIADriver objects, each with the driver for the nodes of its selector, and refuse overlaps."""

from __future__ import annotations

import typing as t

from ..._catalogue import driver_modules
from ..._core.errors import InputError, NotReadyError
from ..._core.fields import replaced, with_defaults
from ..._core.objects import KubeObject, at, merge, name
from ..._core.ownership import owned
from ..._nodes.labels import labels
from ..._nodes.taints import matches
from ..clusterpolicy import manifest as policy_manifest
from ..clusterpolicy.default_spec import release
from ..clusterpolicy.options import spec as fields
from ..params import StackParams, StackPool, Values
from ..virtual_machines import of_machines
from . import options

API_VERSION: t.Final = "nvidia.com/v1alpha1"
# Image and build of a driver: kept from the policy while nodes move to NVIDIADriver objects.
IDENTITY: t.Final = ("repository", "image", "version", "kernelModuleType")
# Fields of the ClusterPolicy's driver section that an NVIDIADriver has under another name, or lacks.
_RENAMED: t.Final = {
    "repoConfig": ("configMapName", "repoConfig"),
    "virtualTopology": ("config", "virtualTopologyConfig"),
}
_POLICY_ONLY: t.Final = ("enabled", "useNvidiaDriverCRD", "useOpenKernelModules", "hostNetwork", *_RENAMED)


def check(params: StackParams) -> None:
    """Raise InputError for options that cannot work, before the first request."""
    if policy_manifest.goes_back(params):
        message = "driver.use_nvidia_driver_crd is false, and NVIDIADriver objects would be disabled."
        raise InputError("INPUT-VALUE", message, "Remove it, or set backend to clusterpolicy.")
    for index, pool in enumerate(params.pools):
        path, driver = f"pools[{index}].driver", pool.get("driver") or {}
        policy_manifest.check_image(driver, path, is_driver=True)
        policy_manifest.check_branch(driver.get("version"), [pool], path)
    entries = params.nvidia_drivers or []
    for index, entry in enumerate(entries):
        _check_entry(entry, f"nvidia_drivers[{index}]", entries, params.pools)
    if not entries and not params.pools and params.state == "present":
        either = "gpu_pools (module option pools) or nvidia_drivers"
        why = ": no node would have a driver"
        raise InputError("INPUT-REQUIRED", option=either, example="[{name: all, default: true}]", also=why)


def _check_entry(entry: Values, path: str, entries: t.Sequence[Values], pools: t.Sequence[StackPool]) -> None:
    object_name, is_default = entry["name"], entry.get("default")
    own = [pool for pool in pools if pool.get("name") == object_name]
    policy_manifest.check_image(entry, path, is_driver=True)
    policy_manifest.check_raw(entry.get("spec") or {}, f"{path}.spec", is_driver=True)
    policy_manifest.check_driver(entry, path)
    policy_manifest.check_branch(entry.get("version"), own, path)
    if [one["name"] for one in entries].count(object_name) > 1:
        raise InputError(
            "INPUT-VALUE", f"{path}.name {object_name} is there twice.", "Name each driver once."
        )
    if is_default and entry.get("node_selector"):
        raise InputError("INPUT-EXCLUSIVE", option=f"{path}.default", other=f"{path}.node_selector")
    if entry["state"] == "present" and not (is_default or entry.get("node_selector") or own):
        why = f", and no pool is named {object_name}: it would be for every GPU node"
        example = f"{{pool: a}}, or {path}.default: true"
        raise InputError("INPUT-REQUIRED", option=f"{path}.node_selector", example=example, also=why)
    storage = [f"{path}.{key}" for key in ("gds", "gdrcopy") if at(entry, f"{key}.enabled")]
    if entry.get("use_precompiled") and storage:
        raise InputError("INPUT-EXCLUSIVE", option=f"{path}.use_precompiled", other=storage[0])


def selector(pools: t.Sequence[StackPool], object_name: str) -> dict[str, str]:
    """Return the labels that all entries of a pool share: a pool with several instance types has several."""
    parts = [pool["node_selector"].items() for pool in pools if pool["name"] == object_name]
    return dict(sorted(set.intersection(*map(set, parts)))) if parts else {}


def build(
    params: StackParams,
    driver: dict[str, t.Any],
    example: dict[str, t.Any],
    live: t.Iterable[KubeObject] = (),
) -> list[KubeObject]:
    """Return the wanted objects; raise InputError for a driver that does not fit.

    driver: the ClusterPolicy's driver section. example: the spec of the installed operator's example. A new
    object gets all of both; of a live one of ours only what nobody else changed.
    """
    base = merge(example, from_policy(driver))
    there = {name(one): one for one in live if owned(one)}
    given = params.nvidia_drivers or []
    entries = [entry for entry in given if entry["state"] == "present"]
    if not entries:
        absent = {entry["name"] for entry in given}
        # A virtual machine brings its own driver.
        served = [pool for pool in params.pools if not of_machines([pool])]
        names = dict.fromkeys(pool["name"] for pool in served)
        entries = [{"name": object_name} for object_name in names if object_name not in absent]
    return [_manifest(entry, base, params, there.get(entry["name"])) for entry in entries]


def _manifest(
    entry: Values, base: dict[str, t.Any], params: StackParams, live: KubeObject | None
) -> KubeObject:
    object_name = entry["name"]
    own = [pool for pool in params.pools if pool["name"] == object_name]
    of_pool: Values = next((found for pool in own if (found := pool.get("driver"))), {})
    wishes = merge(fields(of_pool, options.FIELDS), fields(entry, options.FIELDS))
    raw = entry.get("spec") or {}
    shared = from_policy(policy_manifest.asked(params).get("driver") or {})
    asked = merge(shared, merge(wishes, raw))
    spec: dict[str, t.Any] = with_defaults(base, asked, live)
    policy_manifest.count_unavailable(spec)
    spec["driverType"] = spec.get("driverType") or "gpu"
    spec.pop("nodeSelector", None)
    if not spec.get("default"):
        wanted = wishes.get("nodeSelector") or raw.get("nodeSelector")
        spec["nodeSelector"] = wanted or selector(own, object_name)
    spec["tolerations"] = policy_manifest.wanted_tolerations(params, None)
    if wrong := driver_modules.storage(spec.get("gds") or {}, spec.get("kernelModuleType") or "auto"):
        message = f"NVIDIADriver {object_name}: {wrong}; the operator refuses that."
        raise InputError("INPUT-VALUE", message, "Set its kernel_module_type to open.")
    metadata = {"name": object_name, **replaced(base, asked)}
    return {"apiVersion": API_VERSION, "kind": "NVIDIADriver", "metadata": metadata, "spec": spec}


def from_policy(driver: dict[str, t.Any]) -> dict[str, t.Any]:
    """Return the ClusterPolicy's driver section with the keys of an NVIDIADriver, without empty values."""
    kept = _filled({key: value for key, value in driver.items() if key not in _POLICY_ONLY})
    found = {new: at(driver, f"{key}.{old}") for key, (old, new) in _RENAMED.items()}
    return {**kept, **{new: {"name": object_name} for new, object_name in found.items() if object_name}}


def _filled(value: t.Any) -> t.Any:
    if not isinstance(value, dict):
        return value
    inner = {key: _filled(one) for key, one in value.items()}
    return {key: one for key, one in inner.items() if one not in ("", None, {}, [])}


def as_before(wanted: KubeObject, driver: dict[str, t.Any]) -> KubeObject:
    """Return the object with the driver of the ClusterPolicy, so that the move changes no node's driver."""
    kept = {key: driver[key] for key in IDENTITY if driver.get(key)}
    return {**wanted, "spec": {**wanted["spec"], **kept}} if "version" in kept else wanted


def refuse_release(csvs: t.Iterable[KubeObject]) -> None:
    """Raise NotReadyError for a GPU operator older than 26.7 (its source, 2026-11).

    It writes no owner label on nodes, and the switch ends the policy's driver pods on all nodes at once.
    """
    found = release(csvs)
    if found and found < (26, 7):
        raise NotReadyError("GPU-NVD-RELEASE", release=".".join(map(str, found)))


def clashing(
    wanted: t.Sequence[KubeObject], leaving: t.Sequence[KubeObject], nodes: t.Sequence[KubeObject]
) -> list[str]:
    """Return the leaving drivers to delete before any wanted one is created."""
    return [name(one) for one in leaving if any(_shared(one, other, nodes) is not None for other in wanted)]


def unlisted(
    params: StackParams, wanted: t.Sequence[KubeObject], live: t.Sequence[KubeObject]
) -> list[KubeObject]:
    """Return drivers of this collection that no option lists any more, such as those of removed pools."""
    listed = {name(one) for one in wanted} | {one["name"] for one in params.nvidia_drivers or []}
    return [one for one in live if owned(one) and name(one) not in listed]


def unlisted_remark(object_name: str, nodes: t.Sequence[str]) -> str:
    """Return the warning about a driver that no option lists any more. nodes: the names of those with it."""
    shown = f"{', '.join(nodes[:5])}{', …' if nodes[5:] else ''}"
    where = f"has nodes: {shown}" if nodes else "has no node"
    return (
        f"NVIDIADriver {object_name} was made by this collection and is in neither pools nor nvidia_drivers; "
        f"it stays and {where}. To remove it and the driver of its nodes, set "
        f"`nvidia_drivers: [{{name: {object_name}, state: absent}}]`, or run `oc delete nvidiadriver "
        f"{object_name}`. Pods with GPUs on its nodes end."
    )


def refuse_overlap(
    wanted: t.Sequence[KubeObject], others: t.Sequence[KubeObject], nodes: t.Sequence[KubeObject]
) -> None:
    """Raise NotReadyError if two drivers select the same node: that stops every driver.

    This checks the existing nodes, and whether one selector includes the other.
    """
    ours = {name(one) for one in wanted}
    drivers = [*wanted, *(one for one in others if name(one) not in ours)]
    for index, one in enumerate(drivers):
        for other in drivers[index + 1 :]:
            both = _shared(one, other, nodes)
            if both is not None:
                _refuse(one, other, both)
    defaults = [name(one) for one in drivers if one["spec"].get("default")]
    if len(defaults) > 1:
        names = " and ".join(sorted(defaults))
        every = "every node that no other driver selects (default: true)"
        raise NotReadyError("GPU-NVD-OVERLAP", drivers=names, nodes=every, evidence=defaults)


def _shared(one: KubeObject, other: KubeObject, nodes: t.Sequence[KubeObject]) -> list[str] | None:
    """Return the nodes, with or without GPU, that both select; [] if only one selector includes the other;
    else None.
    """
    if one["spec"].get("default") or other["spec"].get("default"):
        return None
    mine, theirs = (_selector_of(driver) for driver in (one, other))
    marks = [(name(node), labels(node)) for node in nodes]
    both = sorted(object_name for object_name, one in marks if matches(mine, one) and matches(theirs, one))
    return both if both or mine.items() <= theirs.items() or theirs.items() <= mine.items() else None


def _selector_of(driver: KubeObject) -> dict[str, str]:
    return driver["spec"].get("nodeSelector") or {}


def _refuse(one: KubeObject, other: KubeObject, nodes: list[str]) -> t.NoReturn:
    written = " and ".join(f"{name(driver)} ({_written(_selector_of(driver))})" for driver in (one, other))
    where = "every node that one of them selects"
    if nodes:
        where = f"node {nodes[0]}{f' and {len(nodes) - 1} more' if nodes[1:] else ''}"
    raise NotReadyError("GPU-NVD-OVERLAP", drivers=written, nodes=where, evidence=nodes)


def undecided(wanted: t.Sequence[KubeObject]) -> list[str]:
    """Return warnings about pairs of selectors that one node could match."""
    remarks = []
    for index, one in enumerate(wanted):
        for other in wanted[index + 1 :]:
            mine, theirs = (_selector_of(driver) for driver in (one, other))
            if mine and theirs and all(mine[key] == theirs[key] for key in mine.keys() & theirs.keys()):
                both = f"NVIDIADrivers {name(one)} and {name(other)}"
                remarks.append(f"A node can match the selectors of {both}; it would get no driver.")
    return remarks


def _written(wanted: dict[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(wanted.items())) or "all nodes"
