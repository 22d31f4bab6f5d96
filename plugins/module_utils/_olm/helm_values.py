# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of the Helm chart nvidia/gpu-operator for the same stack as the options of special_resource."""

from __future__ import annotations

import copy
import typing as t

from .._catalogue.well_known import CONTROL_PLANE
from .._core.errors import AcceleratorError, KindNotServedError
from .._core.objects import KubeObject
from .._kube.client import Api
from .._kube.kinds import known

try:
    import yaml
except ImportError:  # Ansible itself always has it; the import test of ansible-test has not
    yaml = None  # type: ignore[assignment]

PACKAGE: t.Final = "gpu-operator-certified"
CHART: t.Final = "v26.7.0"
COMMAND: t.Final = (
    f"helm upgrade --install gpu-operator nvidia/gpu-operator --version {CHART} "
    "-n nvidia-gpu-operator --create-namespace -f values.yaml"
)
# The chart disables dcgm and nodeStatusExporter; the ClusterPolicy of the operator's bundle enables them.
_BUNDLE: t.Final[dict[str, t.Any]] = {"dcgm": {"enabled": True}, "nodeStatusExporter": {"enabled": True}}
_OPENSHIFT_ONLY: t.Final = ("use_ocp_driver_toolkit", "defaultRuntime", "initContainer")
# The first toleration in the chart's list for nfd-worker; a new list replaces that one.
_CONTROL_PLANE: t.Final = {"key": CONTROL_PLANE, "operator": "Equal", "value": "", "effect": "NoSchedule"}
# Components of the ClusterPolicy that the chart has no values for.
_NOT_IN_CHART: t.Final = ("psp",)


def values(spec: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the values for the spec of a ClusterPolicy; only some keys of the driver have other names."""
    asked = copy.deepcopy(
        {key: value for key, value in spec.items() if key not in _NOT_IN_CHART and value not in ({}, None)}
    )
    found: dict[str, t.Any] = {**copy.deepcopy(_BUNDLE), **asked}
    for key, preset in _BUNDLE.items():
        found[key] = {**preset, **(asked.get(key) or {})}
    operator = {
        key: value for key, value in (found.pop("operator", None) or {}).items() if key not in _OPENSHIFT_ONLY
    }
    if operator:
        found["operator"] = operator
    driver = found.get("driver") or {}
    if "useNvidiaDriverCRD" in driver:
        driver["nvidiaDriverCRD"] = {"enabled": driver.pop("useNvidiaDriverCRD")}
    if "podDeletion" in (driver.get("upgradePolicy") or {}):
        driver["upgradePolicy"]["gpuPodDeletion"] = driver["upgradePolicy"].pop("podDeletion")
    if "cdi" in found:
        found["cdi"] = {key: value for key, value in found["cdi"].items() if key != "default"}
    tolerations = (found.get("daemonsets") or {}).get("tolerations")
    if tolerations:
        # The chart installs its own Node Feature Discovery, whose worker must run on tainted nodes too.
        found["node-feature-discovery"] = {
            "worker": {"tolerations": [_CONTROL_PLANE, *copy.deepcopy(tolerations)]}
        }
    return found


def text(spec: t.Mapping[str, t.Any]) -> str:
    """Return values.yaml as text, with the command in its first line."""
    return f"# {COMMAND}\n" + str(
        yaml.safe_dump(values(spec), sort_keys=True, default_flow_style=False, width=120)
    )


def without_olm(api: Api, package: str, spec: KubeObject) -> AcceleratorError:
    """Return the error that says why nothing can be installed, and what to do instead.

    spec: the wanted spec of the ClusterPolicy, for the values of the Helm chart.
    """
    try:
        version = api.get(known("ClusterVersion"), "version")
    except KindNotServedError:
        version = None
    if version is not None:
        return AcceleratorError("OLM-ABSENT", cluster="This OpenShift cluster", package=package)
    cluster = "This cluster is not OpenShift and"
    if package != PACKAGE:
        remedy = "Install the operator with its Helm chart or its manifests."
        return AcceleratorError("OLM-ABSENT", cluster=cluster, package=package, remedy=remedy)
    shown = text(spec)
    return AcceleratorError(
        "OLM-ABSENT",
        cluster=cluster,
        package=package,
        remedy=f"Install it with Helm; helm_values has the values for these options: {COMMAND}",
        evidence=shown.splitlines(),
        facts={"helm_values": shown},
    )
