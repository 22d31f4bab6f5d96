# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which writes replace the driver on nodes: changes of the driver DaemonSet's template, and what they end."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, at
from .._nodes.taints import GPU_TOLERATION

# Nodes on which the GPU operator runs a driver, and nodes with a network adapter of NVIDIA.
DRIVEN: t.Final = "nvidia.com/gpu.deploy.driver=true"
NIC_NODES: t.Final = "feature.node.kubernetes.io/pci-15b3.present=true"
UPGRADE: t.Final = "the GPU operator's upgrade controller"
NIC_UPGRADE: t.Final = "the network operator's upgrade controller"

EVICTS: t.Final = "evicts"
RESTARTS: t.Final = "restarts"
# Release of the GPU operator -> what its upgrade controller does on a node whose driver pod has an older
# revision than the DaemonSet. Source: NVIDIA/gpu-operator at v25.10.1, v26.3.0, v26.3.3 and v26.7.0. Only
# 26.7.0 has internal/predicates/restart_only.go: if DRIVER_CONFIG_DIGEST of pod and DaemonSet are equal, it
# restarts the driver pod and evicts no other pod. Before, each older pod takes the whole way, with
# pod-deletion-required.
_EFFECTS: t.Final[tuple[tuple[tuple[int, ...], str], ...]] = (((26, 7), RESTARTS), ((), EVICTS))
# Fields of the template that are no part of that digest (internal/config/driver_config_digest.go): parts of
# an NVIDIADriver and of `driver` in a ClusterPolicy, and what all operands share.
_NOT_IN_DIGEST: t.Final = frozenset(
    {
        "tolerations",
        "labels",
        "annotations",
        "priorityClassName",
        "startupProbe",
        "livenessProbe",
        "readinessProbe",
        "resources",
        "imagePullPolicy",
        "imagePullSecrets",
    }
)
# Parts of a ClusterPolicy outside `driver` from which the operator makes the driver DaemonSet's template.
_SHARED: t.Final = ("tolerations", "labels", "annotations", "priorityClassName", "podSecurityContext")
_AUTO: t.Final = "autoUpgrade"


def template_changes(live: KubeObject, wanted: KubeObject) -> tuple[str, ...]:
    """Return the paths of the ClusterPolicy that change the driver DaemonSet's template, or begin an upgrade.

    live, wanted: the whole policy before and after the write.
    """
    return _changes(live, wanted, _policy_template, "driver", False)


def driver_changes(live: KubeObject, wanted: KubeObject) -> tuple[str, ...]:
    """Return the same for an NVIDIADriver."""
    return _changes(live, wanted, _own_template, "", True)


def _changes(
    live: KubeObject,
    wanted: KubeObject,
    template: t.Callable[[KubeObject], KubeObject],
    part: str,
    default: bool,
) -> tuple[str, ...]:
    before, after = (policy.get("spec") or {} for policy in (live, wanted))
    found = list(_paths(template(before), template(after), "spec"))
    if _is_upgraded(after, part, default) and not _is_upgraded(before, part, default):
        found.append(".".join(filter(None, ("spec", part, "upgradePolicy", _AUTO))))
    return tuple(found)


def nic_changes(live: KubeObject, wanted: KubeObject) -> tuple[str, ...]:
    """Return the same for a NicClusterPolicy, whose part ofedDriver is the driver.

    A NIC driver that is new takes the place of the kernel's.
    """
    before, after = (policy.get("spec") or {} for policy in (live, wanted))
    if not (before.get("ofedDriver") or after.get("ofedDriver")):
        return ()
    found = list(_paths(_nic_template(before), _nic_template(after), "spec"))
    path = f"ofedDriver.upgradePolicy.{_AUTO}"
    if before.get("ofedDriver") and at(after, path) and not at(before, path):
        found.append(f"spec.{path}")
    return tuple(found)


def has_nic_driver(policies: t.Iterable[KubeObject]) -> bool:
    """Return whether one of these NicClusterPolicies and NicNodePolicies brings a NIC driver."""
    return any((policy.get("spec") or {}).get("ofedDriver") for policy in policies)


def forced(policies: t.Iterable[KubeObject]) -> list[str]:
    """Return the fields by which the drain before a new NIC driver takes more pods than a plain drain."""
    drains = [at(policy, "spec.ofedDriver.upgradePolicy.drain") or {} for policy in policies]
    return [key for key in ("force", "deleteEmptyDir") if any(drain.get(key) for drain in drains)]


def replaces(policy: KubeObject) -> bool:
    """Return True if the operator replaces the driver pods of this ClusterPolicy by itself.

    With NVIDIADriver objects these decide, so it counts as yes.
    """
    spec = policy.get("spec") or {}
    driver = spec.get("driver") or {}
    if driver.get("useNvidiaDriverCRD"):
        return True
    return _is_upgraded(spec, "driver", False) and driver.get("enabled") is not False


def replaces_own(driver: KubeObject) -> bool:
    """Return True if the operator replaces the driver pods of this NVIDIADriver by itself."""
    return _is_upgraded(driver.get("spec") or {}, "", True)


def upgrade_policy(policy: KubeObject) -> dict[str, t.Any]:
    """Return the rules by which the upgrade controller works: of a ClusterPolicy, or of an NVIDIADriver."""
    spec = policy.get("spec") or {}
    is_own = policy.get("kind") == "NVIDIADriver" or "driverType" in spec
    return dict((spec if is_own else spec.get("driver") or {}).get("upgradePolicy") or {})


def effect(release: tuple[int, ...], paths: t.Iterable[str] = ()) -> str:
    """Return EVICTS or RESTARTS for a change of these paths.

    release: of the running operator; () if unknown.
    """
    found = next(effect for since, effect in _EFFECTS if release >= since)
    return found if all(map(_restarts_only, paths)) else EVICTS


def _restarts_only(path: str) -> bool:
    own = path.removeprefix("spec.").removeprefix("driver.")
    return own.startswith("daemonsets.") or own.partition(".")[0] in _NOT_IN_DIGEST


def _policy_template(spec: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    driver = dict(spec.get("driver") or {})
    if driver.get("useNvidiaDriverCRD"):
        return filled({"driver": {"useNvidiaDriverCRD": True}, "hostPaths": spec.get("hostPaths")})
    if driver.get("enabled") is False:
        return {}
    shared = spec.get("daemonsets") or {}
    toolkit = (spec.get("operator") or {}).get("use_ocp_driver_toolkit") is not False
    return filled(
        {
            "driver": {"enabled": True, **_without(driver)},
            "daemonsets": {key: shared.get(key) for key in _SHARED}
            | {"tolerations": shared.get("tolerations") or [GPU_TOLERATION]},
            **{key: spec.get(key) for key in ("gds", "gdrcopy", "hostPaths", "sandboxWorkloads")},
            "operator": {"use_ocp_driver_toolkit": toolkit},
        }
    )


def _nic_template(spec: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    shared = {key: spec.get(key) for key in ("tolerations", "nodeAffinity")}
    return filled({"ofedDriver": _without(spec.get("ofedDriver")), **shared})


def _own_template(spec: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    return filled({**_without(spec), "tolerations": spec.get("tolerations") or [GPU_TOLERATION]})


def _without(part: t.Mapping[str, t.Any] | None) -> dict[str, t.Any]:
    return {key: value for key, value in (part or {}).items() if key != "upgradePolicy"}


def is_delegated(policy: KubeObject) -> bool:
    """Return True if NVIDIADriver objects bring the drivers of this ClusterPolicy."""
    return bool(at(policy, "spec.driver.useNvidiaDriverCRD"))


def differences(before: t.Mapping[str, t.Any], after: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return path -> new value of what changes; of a part that is switched on or off only the switch."""
    found = dict(_leaves(before, after, ()))
    switched = {path[:-1] for path in found if path[-1] == "enabled"}
    return {
        ".".join(path): value
        for path, value in found.items()
        if path[-1] == "enabled" or not any(path[: len(start)] == start for start in switched)
    }


def _is_upgraded(spec: t.Mapping[str, t.Any], part: str, default: bool) -> bool:
    own = (spec.get(part) or {}) if part else spec
    machines = (spec.get("sandboxWorkloads") or {}).get("enabled") if part else False
    return bool((own.get("upgradePolicy") or {}).get(_AUTO, default)) and not machines


def filled(part: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the map and its maps without empty values, and without parts that are switched off."""
    if "enabled" in part and not part["enabled"]:
        return {}
    inner = {key: filled(value) if isinstance(value, dict) else value for key, value in part.items()}
    return {key: value for key, value in inner.items() if value not in ("", None, False, {}, [])}


def _paths(before: t.Any, after: t.Any, path: str) -> t.Iterator[str]:
    yield from (".".join(found) for found, _value in _leaves(before, after, (path,)))


def _leaves(before: t.Any, after: t.Any, path: tuple[str, ...]) -> t.Iterator[tuple[tuple[str, ...], t.Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from _leaves(before.get(key, {}), after.get(key, {}), (*path, key))
    elif before != after:
        yield path, after
