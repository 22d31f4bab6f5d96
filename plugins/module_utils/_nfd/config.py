# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configuration of nfd-worker: YAML in a string, which others edit too, so this module merges it."""

from __future__ import annotations

import re
import typing as t

from .._core.errors import InputError

try:
    import yaml
except ImportError:  # the module may run under an interpreter of its own
    yaml = None  # type: ignore[assignment]

# The worker's default. A new list replaces it, so these have to be in that list.
DEFAULT_CLASSES: t.Final = ("03", "0b40", "12")


# The longest entry that a class begins with explains the class.
_WORDS: t.Final = {
    "01": "storage controllers",
    "0108": "NVMe drives",
    "02": "all network adapters: Ethernet (0200) and InfiniBand (0207)",
    "0200": "Ethernet adapters only: an InfiniBand adapter is 0207, which 0200 does not let through",
    "0207": "InfiniBand adapters only: an Ethernet adapter is 0200",
    "03": "all display and 3D controllers: GPUs with an output (0300) and without (0302)",
    "0300": "GPUs with a display output only: most data centre GPUs are 0302",
    "0302": "3D controllers: GPUs without a display output",
    "0b40": "co-processors",
    "12": "processing accelerators",
    "1200": "processing accelerators: AI accelerators, most FPGAs",
}
_CLASS: t.Final = re.compile(r"[0-9a-f]{1,6}")


def check_classes(classes: t.Sequence[str]) -> None:
    """Raise NFD-PCI if an entry is not the beginning of a PCI class in hexadecimal digits."""
    for index, entry in enumerate(classes):
        if not _CLASS.fullmatch(entry):
            raise InputError("NFD-PCI", index=index, entry=repr(entry))


def explain_classes(classes: t.Sequence[str]) -> list[dict[str, str]]:
    """Return each class with the devices that it covers (class, lets_through)."""
    found = []
    for entry in dict.fromkeys(str(one) for one in classes):
        by = next((other for other in map(str, classes) if other != entry and entry.startswith(other)), "")
        key = max((known for known in _WORDS if entry.startswith(known)), key=len, default="")
        words = _WORDS.get(key, "a class that this collection has no word for")
        found.append({"class": entry, "lets_through": f"nothing more: {by} covers it" if by else words})
    return found


def parse(config: str) -> dict[str, t.Any]:
    """Return the configuration as a dict. Raise NFD-CONFIG if it is no YAML map."""
    if yaml is None:
        raise InputError("INPUT-PACKAGE", what="The module", package="PyYAML")
    try:
        data = yaml.safe_load(config or "")
    except yaml.YAMLError as exc:
        raise InputError("NFD-CONFIG", problem=f"no YAML: {' '.join(str(exc).split())}") from exc
    if data is not None and not isinstance(data, dict):
        raise InputError("NFD-CONFIG", problem=f"a {type(data).__name__}, not a map")
    return data or {}


def merge_classes(existing: t.Iterable[t.Any], wanted: t.Iterable[str]) -> list[str]:
    """Return the existing classes and the wanted ones that none of them covers; 02 covers 0200."""
    classes = [str(entry) for entry in existing]
    for entry in wanted:
        if not any(entry.startswith(there) for there in classes):
            classes.append(entry)
    return classes


def merge_config(config: str, classes: t.Sequence[str], fields: t.Sequence[str]) -> str:
    """Return the configuration with the classes added, and with the label fields if it has none.

    Return the same text if nothing is missing.
    """
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
    """Return `sources.pci` of the configuration; an empty dict if it has none."""
    sources = parse(config).get("sources")
    pci = (sources.get("pci") if isinstance(sources, dict) else None) or {}
    return pci if isinstance(pci, dict) else {}


def with_fields(config: str, fields: t.Sequence[str]) -> str:
    """Return the configuration with these deviceLabelFields instead of its own."""
    pci = pci_of(config)
    if list(pci.get("deviceLabelFields") or []) == list(fields):
        return config
    data = parse(config)
    sources = {**(data.get("sources") or {}), "pci": {**pci, "deviceLabelFields": list(fields)}}
    return str(yaml.safe_dump({**data, "sources": sources}, sort_keys=False, default_flow_style=False))
