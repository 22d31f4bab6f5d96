# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check before the first write that no other stack exists, and that every Secret and ConfigMap does."""

from __future__ import annotations

import typing as t

from ..._catalogue.well_known import MIG_CONFIG_MAP, PLUGIN_CONFIG_MAP
from ..._core.errors import ForbiddenError, NotReadyError
from ..._core.objects import at, name
from ..._kube.client import Api
from ..._kube.kinds import known
from ..params import StackParams

_DRIVER: t.Final = {
    "licensing_config.secret_name": "Secret",
    "secret_env": "Secret",
    "cert_config.name": "ConfigMap",
    "kernel_module_config.name": "ConfigMap",
    "repo_config.config_map_name": "ConfigMap",
    "repo_config.name": "ConfigMap",
    "virtual_topology.config": "ConfigMap",
    "virtual_topology_config.name": "ConfigMap",
}
_POLICY: t.Final = {
    **{f"driver.{path}": kind for path, kind in _DRIVER.items()},
    "device_plugin.config.name": "ConfigMap",
    "dcgm_exporter.config.name": "ConfigMap",
    "mig_manager.config.name": "ConfigMap",
    "mig_manager.gpu_clients_config.name": "ConfigMap",
    "vgpu_manager.kernel_module_config.name": "ConfigMap",
    "vgpu_device_manager.config.name": "ConfigMap",
}
# ConfigMaps that the operator makes.
_OPERATORS: t.Final = ("default-mig-parted-config", "default-gpu-clients", "default-vgpu-devices-config")


class Reference(t.NamedTuple):
    """A Secret or ConfigMap that an option names. path: the option."""

    path: str
    kind: str
    name: str


def refuse_other_stack(api: Api, title: str) -> None:
    """Raise NotReadyError if a GPUCluster exists: the operator would reconcile neither of the two."""
    if other := gpu_cluster(api):
        message = (
            f"GPUCluster {other} exists (the stack for dynamic resource allocation); with it "
            f"ClusterPolicy {title} would be a conflicting resource."
        )
        remedy = (
            "Set gpu_backend: dra (module option backend), or remove that stack first: run special_resource "
            f"with backend dra and state absent, or `oc delete gpucluster {other}`. Pods "
            "that hold its claims end."
        )
        raise NotReadyError("GPU-CP-CONFLICT", message, remedy, [f"gpucluster/{other}"])


def gpu_cluster(api: Api) -> str:
    return next((name(one) for one in api.list_if_served(known("GPUCluster"))), "")


def check_references(api: Api, params: StackParams) -> None:
    """Raise NotReadyError if a Secret or ConfigMap that an option names is missing.

    In check mode this is a warning: the namespace may be empty before the operator is installed.
    """
    for path, kind, title in references(params):
        try:
            found = api.get(known(kind), title, params["namespace"])
        except ForbiddenError:
            where = f"{kind} {title} in namespace {params['namespace']}"
            api.warn(f"{path}: the identity may not read {where}, so the task cannot check that it exists.")
            continue
        if found:
            continue
        message = f"{path} is {kind} {title}, which does not exist in namespace {params['namespace']}."
        if api.check_mode:
            # gpu_sharing would have made this one before, and says so itself.
            if title not in (PLUGIN_CONFIG_MAP, MIG_CONFIG_MAP):
                api.warn(message)
        else:
            remedy = f"Create it there, for example with the module manifests, or correct {path}."
            raise NotReadyError("GPU-CP-REFERENCE", message, remedy)


def references(params: t.Mapping[str, t.Any]) -> list[Reference]:
    """Return the Secrets and ConfigMaps that the options name, except those that the operator makes."""
    places = [(path, kind, at(params, path)) for path, kind in _POLICY.items()]
    for index, entry in enumerate(params.get("nvidia_drivers") or []):
        here = f"nvidia_drivers[{index}]"
        places += [(f"{here}.{path}", kind, at(entry, path)) for path, kind in _DRIVER.items()]
    return [Reference(path, kind, str(one)) for path, kind, one in places if one and one not in _OPERATORS]
