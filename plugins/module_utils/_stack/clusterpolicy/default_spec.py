# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples in the installed operator's CSV, and the ClusterPolicy spec used when it has none."""

from __future__ import annotations

import json
import typing as t

from ..._olm.versions import gpu_operator

REQUIRED: t.Final = (
    "operator",
    "daemonsets",
    "driver",
    "toolkit",
    "devicePlugin",
    "dcgmExporter",
    "dcgm",
    "nodeStatusExporter",
    "gfd",
)

DEFAULT: t.Final[dict[str, t.Any]] = {
    "operator": {
        "defaultRuntime": "crio",
        "runtimeClass": "nvidia",
        "use_ocp_driver_toolkit": True,
        "initContainer": {},
    },
    "sandboxWorkloads": {"enabled": False, "defaultWorkload": "container"},
    "driver": {
        "enabled": True,
        "useNvidiaDriverCRD": False,
        "kernelModuleType": "auto",
        "upgradePolicy": {
            "autoUpgrade": True,
            "maxParallelUpgrades": 1,
            "maxUnavailable": "25%",
            "waitForCompletion": {"timeoutSeconds": 0},
            "podDeletion": {"force": False, "timeoutSeconds": 300, "deleteEmptyDir": False},
            "drain": {"enable": False, "force": False, "timeoutSeconds": 300, "deleteEmptyDir": False},
        },
        "repoConfig": {"configMapName": ""},
        "certConfig": {"name": ""},
        "virtualTopology": {"config": ""},
        "kernelModuleConfig": {"name": ""},
    },
    "toolkit": {"enabled": True, "installDir": "/usr/local/nvidia"},
    "devicePlugin": {
        "enabled": True,
        "config": {"name": "", "default": ""},
        "mps": {"root": "/run/nvidia/mps"},
    },
    "dcgm": {"enabled": True},
    "dcgmExporter": {"enabled": True, "config": {"name": ""}, "serviceMonitor": {"enabled": True}},
    "gfd": {"enabled": True},
    "migManager": {"enabled": True},
    "nodeStatusExporter": {"enabled": True},
    "mig": {"strategy": "single"},
    "daemonsets": {"updateStrategy": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "1"}},
    "validator": {"plugin": {"env": [{"name": "WITH_WORKLOAD", "value": "false"}]}},
    "vgpuManager": {"enabled": False},
    "vgpuDeviceManager": {"enabled": True},
    "sandboxDevicePlugin": {"enabled": True},
    "vfioManager": {"enabled": True},
    "gds": {"enabled": False},
    "gdrcopy": {"enabled": False},
}


def example(versions: t.Iterable[dict[str, t.Any]]) -> dict[str, t.Any]:
    """Return the ClusterPolicy spec in annotation alm-examples of an installed CSV, else DEFAULT."""
    spec = example_of("ClusterPolicy", versions)
    return {**{key: {} for key in REQUIRED}, **spec} if spec else DEFAULT


def example_driver(versions: t.Iterable[dict[str, t.Any]]) -> dict[str, t.Any]:
    """Return the same for an NVIDIADriver, without its node selector, which no user asked for."""
    spec = example_of("NVIDIADriver", versions) or {"driverType": "gpu", "kernelModuleType": "auto"}
    return {key: value for key, value in spec.items() if key not in ("nodeSelector", "default")}


def example_of(kind: str, versions: t.Iterable[dict[str, t.Any]]) -> dict[str, t.Any]:
    """Return the spec of the installed operator's example of that kind; empty if it has none."""
    found = (
        entry["spec"]
        for version in versions
        for entry in _examples(version)
        if entry.get("kind") == kind and entry.get("spec")
    )
    return next(found, {})


def release(versions: t.Iterable[dict[str, t.Any]]) -> tuple[int, ...]:
    """Return (year, month) of the newest installed GPU operator; empty if unknown, as without OLM."""
    return gpu_operator(versions) or ()


def _examples(version: dict[str, t.Any]) -> list[dict[str, t.Any]]:
    text = (version["metadata"].get("annotations") or {}).get("alm-examples", "[]")
    try:
        entries = json.loads(text)
    except ValueError:
        return []
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
