# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build a GPUCluster from the options."""

from __future__ import annotations

import typing as t

from ..._core.errors import InputError, NotReadyError
from ..._core.objects import KubeObject, at, merge
from ..clusterpolicy import manifest as clusterpolicy_manifest
from ..clusterpolicy.options import spec as fields
from ..params import StackParams
from . import options as dra_options

Data = dict[str, t.Any]

API_VERSION: t.Final = "nvidia.com/v1alpha1"
NAME: t.Final = "gpu-cluster"


def check(params: StackParams) -> None:
    """Raise InputError for a wrong name or an incomplete image."""
    if params.name != NAME:
        message = f"name is {params.name!r}: a GPUCluster has to be named {NAME}."
        raise InputError("INPUT-VALUE", message, f"Leave name out, or set {NAME}.")
    clusterpolicy_manifest.check_registry(params.registry)
    for part in ("dra_driver", "dcgm", "dcgm_exporter"):
        path = f"gpu_cluster.{part}"
        clusterpolicy_manifest.check_image(at(vars(params), path) or {}, path, is_driver=True)


def refuse_policy(policies: t.Iterable[Data]) -> None:
    """Raise NotReadyError if a ClusterPolicy exists: neither stack would run beside the other."""
    names = sorted(str(one["metadata"]["name"]) for one in policies)
    if names:
        raise NotReadyError(
            "GPU-CP-CONFLICT",
            other=f"ClusterPolicy {names[0]}",
            object="a GPUCluster",
            backend="clusterpolicy",
            resource=f"clusterpolicy {names[0]}",
            evidence=[f"clusterpolicy/{name}" for name in names],
        )


def build(params: StackParams, example: Data, live: KubeObject | None) -> Data:
    """Return the manifest: example, overridden by typed options, then by the raw spec."""
    wishes = fields({"gpu_cluster": params.gpu_cluster}, dra_options.OPTIONS).get("gpuCluster") or {}
    domains = (wishes.get("draDriver") or {}).get("computeDomains")
    if domains is not None:
        wishes["draDriver"]["computeDomains"] = {"enabled": domains}
    spec = merge(example, merge(wishes, params.spec))
    spec.setdefault("draDriver", {})
    spec.setdefault("daemonsets", {})["tolerations"] = clusterpolicy_manifest.wanted_tolerations(params, live)
    return {"apiVersion": API_VERSION, "kind": "GPUCluster", "metadata": {"name": NAME}, "spec": spec}
