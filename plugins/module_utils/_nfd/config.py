# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""configData of a NodeFeatureDiscovery: YAML inside a string, shared with other people, so merged and never replaced."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)

try:
    import yaml
except ImportError:  # the module may run under an interpreter of its own
    yaml = None  # type: ignore[assignment]

# What the worker takes when the key is not set; setting it would otherwise take these away.
DEFAULT_CLASSES: t.Final = ("03", "0b40", "12")


def parse(config: str) -> dict[str, t.Any]:
    if yaml is None:
        raise AcceleratorError(
            "API-LIBRARY",
            "The Python package PyYAML is missing.",
            "Install PyYAML for the interpreter that runs the module.",
        )
    try:
        data = yaml.safe_load(config or "")
    except yaml.YAMLError as exc:
        message = (
            f"workerConfig.configData of the NodeFeatureDiscovery is no YAML: {' '.join(str(exc).split())}"
        )
        raise InputError(
            "NFD-CONFIG", message, "Repair spec.workerConfig.configData by hand; it is not ours to replace."
        ) from exc
    if data is not None and not isinstance(data, dict):
        message = (
            f"workerConfig.configData of the NodeFeatureDiscovery is a {type(data).__name__}, not a map."
        )
        raise InputError(
            "NFD-CONFIG", message, "Repair spec.workerConfig.configData by hand; it is not ours to replace."
        )
    return data or {}


def merge_classes(existing: t.Iterable[t.Any], wanted: t.Iterable[str]) -> list[str]:
    """PCI classes match by prefix: 02 covers 0200, so only what nothing covers is added. Nothing is taken away."""
    classes = [str(entry) for entry in existing]
    for entry in wanted:
        if not any(entry.startswith(there) for there in classes):
            classes.append(entry)
    return classes


def merge_config(config: str, classes: t.Sequence[str], fields: t.Sequence[str]) -> str:
    """The same text when it already has what is wanted; else the whole configuration with the two keys completed."""
    data = parse(config)
    sources = data.get("sources") if isinstance(data.get("sources"), dict) else {}
    pci = dict((sources or {}).get("pci") or {})
    there = pci.get("deviceClassWhitelist")
    merged = merge_classes(DEFAULT_CLASSES if there is None else there, classes)
    if there is not None and merged == [str(entry) for entry in there] and "deviceLabelFields" in pci:
        return config
    pci["deviceClassWhitelist"] = merged
    pci.setdefault("deviceLabelFields", list(fields))
    return str(
        yaml.safe_dump(
            {**data, "sources": {**(sources or {}), "pci": pci}}, sort_keys=False, default_flow_style=False
        )
    )


def pci_of(config: str) -> dict[str, t.Any]:
    """What the configuration says of PCI devices."""
    sources = parse(config).get("sources")
    pci = (sources.get("pci") if isinstance(sources, dict) else None) or {}
    return pci if isinstance(pci, dict) else {}


def with_fields(config: str, fields: t.Sequence[str]) -> str:
    """The configuration with these deviceLabelFields in place of its own."""
    pci = pci_of(config)
    if list(pci.get("deviceLabelFields") or []) == list(fields):
        return config
    data = parse(config)
    sources = {**(data.get("sources") or {}), "pci": {**pci, "deviceLabelFields": list(fields)}}
    return str(yaml.safe_dump({**data, "sources": sources}, sort_keys=False, default_flow_style=False))
