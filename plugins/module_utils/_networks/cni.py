# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""CNI configurations: that of a user, and the one that a network has without an operator."""

from __future__ import annotations

import json
import typing as t

from .._core.input import Problems

VERSION: t.Final = "1.0.0"
Config = dict[str, t.Any]


def read(value: t.Any, name: str, path: str, problems: Problems) -> Config:
    """Return the user's configuration as a map with its name and version. Add a problem if it is none."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as exc:
            problems.add("NET-VALUE", path, why=f"it is no JSON ({exc})")
            return {}
    if not isinstance(value, t.Mapping):
        problems.add("NET-VALUE", path, why="it is no JSON object")
        return {}
    # YAML also has dates, and keys that are no text.
    config: Config = json.loads(json.dumps({"cniVersion": VERSION, "name": name, **value}, default=str))
    plugins = config.get("plugins", [config])
    if not isinstance(plugins, list) or not plugins or not all(map(_has_type, plugins)):
        problems.add("NET-VALUE", path, why="it has neither type nor plugins, each with a type")
    elif config["name"] != name:
        problems.add(
            "NET-VALUE", path, why=f"its name is {config['name']!r}, and the network is called {name}"
        )
    return config


def _has_type(plugin: t.Any) -> bool:
    return isinstance(plugin, t.Mapping) and bool(plugin.get("type")) and isinstance(plugin["type"], str)


def plugins_of(config: Config) -> list[Config]:
    """Return the plugins of the configuration, in their order."""
    return list(config.get("plugins") or [config])


def text(config: t.Mapping[str, t.Any]) -> str:
    """Return the configuration as text that does not change from run to run."""
    return json.dumps(config, sort_keys=True)
