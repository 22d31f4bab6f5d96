# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the GPU operator adds to three DaemonSets for a configuration of the device plugin.

Compared with the source of v26.7.0 (2026-08): the real ones have mounts of the host too.
"""

from __future__ import annotations

import typing as t

Object = dict[str, t.Any]

SIDECAR: t.Final = "config-manager"
INIT: t.Final = "config-manager-init"
LABEL: t.Final = "nvidia.com/device-plugin.config"
PLUGIN, DISCOVERY, MPS = "nvidia-device-plugin", "gpu-feature-discovery", "mps-control-daemon-ctr"
MAIN: t.Final = (PLUGIN, DISCOVERY, MPS)
"""The containers that read the configuration."""
STRATEGY: t.Final = "MIG_STRATEGY"
DEFAULT: t.Final = "DEFAULT_CONFIG"
_FOLDER: t.Final = "/available-configs"
_FILE: t.Final = "/config/config.yaml"


def complete(pod: Object, spec: Object, image: str) -> None:
    """Add the strategy of MIG and config-manager to the pod of a DaemonSet, where the policy names them.

    `image` is that of the device plugin.
    """
    own = [one for one in pod["containers"] if one["name"] in MAIN]
    for container in own:
        if strategy := (spec.get("mig") or {}).get("strategy"):
            _set(container, STRATEGY, strategy)
    config = (spec.get("devicePlugin") or {}).get("config") or {}
    if not own or not config.get("name"):
        return
    mounts = [{"name": "config", "mountPath": "/config"}, {"name": config["name"], "mountPath": _FOLDER}]
    for container in own:
        _set(container, "CONFIG_FILE", _FILE)
        container["volumeMounts"] = mounts
    if not pod.get("hostPID"):
        pod["shareProcessNamespace"] = True
    pod["volumes"] = [
        {"name": config["name"], "configMap": {"name": config["name"]}},
        {"name": "config", "emptyDir": {}},
    ]
    for name, once, key in ((INIT, "true", "initContainers"), (SIDECAR, "false", "containers")):
        manager: Object = {"name": name, "image": image, "imagePullPolicy": "IfNotPresent"}
        for env, value in (
            ("ONESHOT", once),
            ("NODE_LABEL", LABEL),
            ("CONFIG_FILE_SRCDIR", _FOLDER),
            ("CONFIG_FILE_DST", _FILE),
            (DEFAULT, config.get("default") or ""),
            ("FALLBACK_STRATEGIES", "empty"),
        ):
            _set(manager, env, value)
        pod[key] = [*(pod.get(key) or []), manager | {"command": [SIDECAR], "volumeMounts": mounts}]


def config_map(pod: Object) -> str:
    """Return the name of the ConfigMap that config-manager reads; an empty text for a pod without it."""
    if not any(one["name"] == SIDECAR for one in pod["spec"]["containers"]):
        return ""
    volumes = pod["spec"].get("volumes") or []
    return next((str(one["configMap"]["name"]) for one in volumes if "configMap" in one), "")


def main(pod: Object) -> str:
    """Return the container of a pod that reads the configuration, or an empty text."""
    return next((str(one["name"]) for one in pod["spec"]["containers"] if one["name"] in MAIN), "")


def env(pod: Object, container: str, name: str) -> str:
    """Return a variable of a container, or an empty text."""
    entries = (
        entry
        for one in pod["spec"]["containers"]
        if one["name"] == container
        for entry in one.get("env") or []
    )
    return next((str(entry.get("value") or "") for entry in entries if entry["name"] == name), "")


def _set(container: Object, name: str, value: str) -> None:
    kept = [one for one in container.get("env") or [] if one["name"] != name]
    container["env"] = [*kept, {"name": name, "value": value}]
