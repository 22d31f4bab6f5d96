# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Which writes replace the driver on nodes: changes of the driver DaemonSet's template, and what they end."""

from __future__ import annotations

import json
import typing as t

from .._core.objects import KubeObject
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
# Image in the operator's env -> the part of a ClusterPolicy that can name another image.
_IMAGES: t.Final[dict[str, tuple[str, ...]]] = {
    "DRIVER_IMAGE": ("driver",),
    "DRIVER_MANAGER_IMAGE": ("driver", "manager"),
    "GDS_IMAGE": ("gds",),
    "GDRCOPY_IMAGE": ("gdrcopy",),
}
_SIDECARS: t.Final = ("GDS_IMAGE", "GDRCOPY_IMAGE")


def template_changes(live: KubeObject, wanted: KubeObject) -> tuple[str, ...]:
    """Return the paths of the ClusterPolicy that change the driver DaemonSet's template, or begin an upgrade.

    live, wanted: the whole policy before and after the write.
    """
    before, after = (one.get("spec") or {} for one in (live, wanted))
    found = list(_paths(_policy_template(before), _policy_template(after), "spec"))
    if _is_upgraded(after, "driver", False) and not _is_upgraded(before, "driver", False):
        found.append(f"spec.driver.upgradePolicy.{_AUTO}")
    return tuple(found)


def driver_changes(live: KubeObject, wanted: KubeObject) -> tuple[str, ...]:
    """Return the same for an NVIDIADriver."""
    before, after = (one.get("spec") or {} for one in (live, wanted))
    found = list(_paths(_own_template(before), _own_template(after), "spec"))
    if _is_upgraded(after, "", True) and not _is_upgraded(before, "", True):
        found.append(f"spec.upgradePolicy.{_AUTO}")
    return tuple(found)


def nic_changes(live: KubeObject, wanted: KubeObject) -> tuple[str, ...]:
    """Return the same for a NicClusterPolicy, whose part ofedDriver is the driver."""
    before, after = (one.get("spec") or {} for one in (live, wanted))
    if not before.get("ofedDriver"):
        return ()
    return tuple(_paths(_nic_template(before), _nic_template(after), "spec"))


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


def effect(release: tuple[int, ...], paths: t.Iterable[str] = ()) -> str:
    """Return EVICTS or RESTARTS for a change of these paths.

    release: of the running operator; () if unknown.
    """
    found = next(effect for since, effect in _EFFECTS if release >= since)
    return found if all(map(_restarts_only, paths)) else EVICTS


def csv_changes(running: KubeObject | None, following: KubeObject | None) -> tuple[str, ...]:
    """Return what differs between two CSVs of the GPU operator in what a driver's template is made from.

    Names of the env are first, then paths of the example of a ClusterPolicy. An empty tuple says only that
    the CSVs do not show a difference: the operator's image has templates of its own.
    """
    before, after = env(running), env(following)
    names = [name for name in _IMAGES if before.get(name, "") != after.get(name, "")]
    examples = [{"spec": _example(one)} for one in (running, following)]
    return (*names, *(f"alm-examples {path}" for path in template_changes(examples[0], examples[1])))


def images(csv: KubeObject | None) -> dict[str, str]:
    """Return name -> image of the env from which the operator makes a driver's template."""
    found = env(csv)
    return {name: found[name] for name in _IMAGES if found.get(name)}


def reaching(changes: t.Iterable[str], policy: KubeObject) -> list[str]:
    """Return those changed images that the ClusterPolicy, or the NVIDIADriver, leaves to the operator."""
    spec = policy.get("spec") or {}
    own = spec if "driverType" in spec else spec.get("driver") or {}
    found = []
    for name in (one for one in changes if one in _IMAGES):
        *_driver, last = _IMAGES[name]
        part = own if last == "driver" else (spec.get(last) or own.get(last) or {})
        is_used = name not in _SIDECARS or bool(part.get("enabled"))
        if is_used and not (part.get("version") and part.get("image")):
            found.append(name)
    return found


def _restarts_only(path: str) -> bool:
    own = path.removeprefix("spec.").removeprefix("driver.")
    return own.startswith("daemonsets.") or own.partition(".")[0] in _NOT_IN_DIGEST


def _policy_template(spec: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    driver = dict(spec.get("driver") or {})
    if driver.get("useNvidiaDriverCRD"):
        return _filled({"driver": {"useNvidiaDriverCRD": True}, "hostPaths": spec.get("hostPaths")})
    if driver.get("enabled") is False:
        return {}
    shared, operator = spec.get("daemonsets") or {}, spec.get("operator") or {}
    toolkit = {key: one for key, one in operator.items() if key == "use_ocp_driver_toolkit"}
    return _filled(
        {
            "driver": {"enabled": True, **_without(driver)},
            "daemonsets": {key: shared.get(key) for key in _SHARED}
            | {"tolerations": shared.get("tolerations") or [GPU_TOLERATION]},
            **{key: spec.get(key) for key in ("gds", "gdrcopy", "hostPaths", "sandboxWorkloads")},
            "operator": toolkit,
        }
    )


def _nic_template(spec: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    shared = {key: spec.get(key) for key in ("tolerations", "nodeAffinity")}
    return _filled({"ofedDriver": _without(spec.get("ofedDriver")), **shared})


def _own_template(spec: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    return _filled({**_without(spec), "tolerations": spec.get("tolerations") or [GPU_TOLERATION]})


def _without(part: t.Mapping[str, t.Any] | None) -> dict[str, t.Any]:
    return {key: value for key, value in (part or {}).items() if key != "upgradePolicy"}


def _is_upgraded(spec: t.Mapping[str, t.Any], part: str, default: bool) -> bool:
    own = (spec.get(part) or {}) if part else spec
    machines = (spec.get("sandboxWorkloads") or {}).get("enabled") if part else False
    return bool((own.get("upgradePolicy") or {}).get(_AUTO, default)) and not machines


def _filled(part: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the map and its maps without empty values, and without parts that are switched off."""
    if "enabled" in part and not part["enabled"]:
        return {}
    inner = {key: _filled(one) if isinstance(one, dict) else one for key, one in part.items()}
    return {key: one for key, one in inner.items() if one not in ("", None, False, {}, [])}


def _paths(before: t.Any, after: t.Any, path: str) -> t.Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from _paths(before.get(key, {}), after.get(key, {}), f"{path}.{key}")
    elif before != after:
        yield path


def env(csv: KubeObject | None) -> dict[str, str]:
    """Return the env of the operator's Deployments; the image list of the CSV is not complete."""
    install = (((csv or {}).get("spec") or {}).get("install") or {}).get("spec") or {}
    return {
        entry["name"]: str(entry.get("value") or "")
        for deployment in install.get("deployments") or []
        for container in deployment["spec"]["template"]["spec"].get("containers") or []
        for entry in container.get("env") or []
    }


def _example(csv: KubeObject | None) -> dict[str, t.Any]:
    text = (((csv or {}).get("metadata") or {}).get("annotations") or {}).get("alm-examples") or "[]"
    try:
        entries = json.loads(text)
    except ValueError:
        return {}
    found = (one for one in entries if isinstance(one, dict) and one.get("kind") == "ClusterPolicy")
    return next((one.get("spec") or {} for one in found), {})
