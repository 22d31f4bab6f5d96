# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check before the first write that no other stack exists, and that every Secret and ConfigMap does."""

from __future__ import annotations

import re
import typing as t

from ..._core.errors import ForbiddenError, NotReadyError
from ..._core.objects import KubeObject, at, name
from ..._kube.client import Api
from ..._kube.kinds import known
from .. import pointers
from ..drivers import files
from ..params import StackParams, StackPool
from . import manifest

_DRIVER: t.Final = {
    "licensingConfig.secretName": "Secret",
    "licensingConfig.configMapName": "ConfigMap",
    "secretEnv": "Secret",
    "certConfig.name": "ConfigMap",
    "kernelModuleConfig.name": "ConfigMap",
    "repoConfig.configMapName": "ConfigMap",
    "repoConfig.name": "ConfigMap",
    "virtualTopology.config": "ConfigMap",
    "virtualTopologyConfig.name": "ConfigMap",
}
# Kind of custom resource -> path below spec -> kind of what the field names.
_FIELDS: t.Final[t.Mapping[str, t.Mapping[str, str]]] = {
    "ClusterPolicy": {
        **{f"driver.{path}": kind for path, kind in _DRIVER.items()},
        "devicePlugin.config.name": "ConfigMap",
        "dcgmExporter.config.name": "ConfigMap",
        "migManager.config.name": "ConfigMap",
        "migManager.gpuClientsConfig.name": "ConfigMap",
        "vgpuManager.kernelModuleConfig.name": "ConfigMap",
        "vgpuDeviceManager.config.name": "ConfigMap",
    },
    "NVIDIADriver": _DRIVER,
    "GPUCluster": {"dcgmExporter.config.name": "ConfigMap"},
    "NicClusterPolicy": {
        "ofedDriver.certConfig.name": "ConfigMap",
        "ofedDriver.repoConfig.name": "ConfigMap",
    },
}
# ConfigMaps that the operator makes.
_OPERATORS: t.Final = ("default-mig-parted-config", "default-gpu-clients", "default-vgpu-devices-config")
# Fields whose ConfigMap gpu_sharing makes; in check mode it has not.
_SHARING: t.Final = ("devicePlugin.config.name", "migManager.config.name")


class Reference(t.NamedTuple):
    """A Secret or ConfigMap that a field names. path: the field, below spec."""

    path: str
    kind: str
    name: str


def refuse_other_stack(api: Api, object_name: str) -> None:
    """Raise NotReadyError if a GPUCluster exists: the operator would reconcile neither of the two."""
    if other := gpu_cluster(api):
        raise NotReadyError(
            "GPU-CP-CONFLICT",
            other=f"GPUCluster {other} (dynamic resource allocation)",
            object=f"ClusterPolicy {object_name}",
            backend="dra",
            resource=f"gpucluster {other}",
            evidence=[f"gpucluster/{other}"],
        )


def gpu_cluster(api: Api) -> str:
    return next((name(one) for one in api.list_if_served(known("GPUCluster"))), "")


def check_references(api: Api, params: StackParams, live: KubeObject | None, after: KubeObject) -> None:
    """Raise NotReadyError if a Secret or ConfigMap is missing that the object names as it will be.

    In check mode a missing one of a new object is a warning: the namespace may be empty before the operator
    is installed. One that an earlier task makes is not even that.
    """
    object_name, namespace = f"{after['kind']} {name(after)}", params.namespace
    made = {name(one) for one in files.config_maps(params)}
    for path, kind, wanted in references(after):
        if wanted in made:
            continue
        try:
            found = api.get(known(kind), wanted, namespace)
        except ForbiddenError:
            where = f"{kind} {wanted} in namespace {namespace}"
            api.warn(f"{path}: the identity may not read {where}, so the task cannot check that it exists.")
            continue
        if found:
            continue
        text = pointers.missing(
            f"spec.{path} of {object_name}",
            kind,
            wanted,
            namespace,
            _as_given(params, path, object_name),
        )
        if api.check_mode and (live is None or path in _SHARING):
            if path not in _SHARING:
                api.warn(text.message)
            continue
        raise NotReadyError(text.code, text.message, text.remedy, [f"{kind.lower()}/{wanted}"])


def _as_given(params: StackParams, path: str, object_name: str) -> str:
    """Return the option that has the field, as the user wrote it."""
    option = re.sub("[A-Z]+", lambda found: f"_{found[0].lower()}", path)
    if at(vars(params), option) is not None:
        return option
    return (
        f"gpu_operator_spec.{path} (module option spec)"
        if at(params.spec, path)
        else f"{path} of {object_name}"
    )


def references(one: KubeObject) -> list[Reference]:
    """Return the Secrets and ConfigMaps that the object names, except those that the operator makes.

    Parts that are switched off, or that another object replaces, need none.
    """
    spec = _used(one["kind"], one.get("spec") or {})
    places = [(path, kind, at(spec, path)) for path, kind in _FIELDS.get(one["kind"], {}).items()]
    places += [(path, "Secret", secret) for path, secret in _pull_secrets(spec, "")]
    found: dict[tuple[str, str], Reference] = {}
    for path, kind, object_name in places:
        if object_name and object_name not in _OPERATORS:
            found.setdefault((kind, str(object_name)), Reference(path, kind, str(object_name)))
    return list(found.values())


def _used(kind: str, spec: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    unused = [key for key, part in spec.items() if isinstance(part, dict) and part.get("enabled") is False]
    if kind == "ClusterPolicy":
        unused += ["driver"] if at(spec, "driver.useNvidiaDriverCRD") else []
        machines = ("vgpuManager", "vgpuDeviceManager", "vfioManager", "sandboxDevicePlugin", "ccManager")
        unused += machines if not at(spec, "sandboxWorkloads.enabled") else ()
    return {key: part for key, part in spec.items() if key not in unused}


def _pull_secrets(part: t.Any, path: str) -> t.Iterator[tuple[str, str]]:
    for key, value in part.items() if isinstance(part, dict) else ():
        here = f"{path}.{key}" if path else str(key)
        if key == "imagePullSecrets" and isinstance(value, list):
            yield from ((here, str(one.get("name") if isinstance(one, dict) else one)) for one in value)
        else:
            yield from _pull_secrets(value, here)


def check_final(pools: list[StackPool], after: KubeObject, installed: tuple[int, ...]) -> None:
    """Raise InputError for a driver or an image that cannot work in the ClusterPolicy as it will be.

    installed: the operator's release.
    """
    spec = _used("ClusterPolicy", after.get("spec") or {})
    for path, part in _parts(spec, "spec"):
        if part.get("repository") or part.get("version"):
            manifest.check_image(part, path, is_driver=path == "spec.driver")
    driver = spec.get("driver") or {}
    precompiled = {"use_precompiled": driver.get("usePrecompiled"), "version": driver.get("version")}
    manifest.check_driver(precompiled, "spec.driver")
    manifest.check_modules(driver.get("kernelModuleType"), pools, "spec.driver")
    if "driver" in spec:
        manifest.check_branch(driver.get("version"), pools, "spec.driver", installed)
        manifest.check_storage(spec.get("gds") or {}, driver.get("kernelModuleType"), pools)


def check_final_driver(pools: list[StackPool], after: KubeObject, installed: tuple[int, ...]) -> None:
    """Raise InputError for a driver that cannot work in the NVIDIADriver as it will be."""
    object_name, spec = name(after), after["spec"]
    own = [pool for pool in pools if pool["name"] == object_name]
    path = f"NVIDIADriver {object_name}: spec"
    for place, part in ((path, spec), *_parts(_used("NVIDIADriver", spec), path)):
        if part.get("repository") or part.get("version"):
            manifest.check_image(part, place, is_driver=True)
    manifest.check_modules(spec.get("kernelModuleType"), own, path)
    manifest.check_branch(spec.get("version"), own, path, installed)


def _parts(part: t.Mapping[str, t.Any], path: str) -> t.Iterator[tuple[str, dict[str, t.Any]]]:
    for key, value in part.items():
        if isinstance(value, dict):
            yield f"{path}.{key}", value
            yield from _parts(value, f"{path}.{key}")
