# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the option `tuning` of a pool: its keys, their types and their limits."""

from __future__ import annotations

import typing as t

from .._core.input import Field, Problems, read_map
from .._core.syntax import device_fault, name_fault
from .options import NEVER, PLANNED

# The option as JSON: only keys that the user set, in one form each.
Given = dict[str, t.Any]
TOPOLOGIES: t.Final = ("none", "best-effort", "restricted", "single-numa-node")
FIELDS: t.Final = {
    "profile": Field("text", fault=name_fault),
    "data": Field("text"),
    "sysctl": Field("any"),
    "defer": Field("flag"),
    "kernel_arguments": Field("list", entry=Field("text")),
    "isolate": Field("any"),
    "huge_pages": Field("any"),
    "topology": Field("text", choices=TOPOLOGIES),
    "vfio": Field("list", entry=Field("text", fault=device_fault)),
    "reboot": Field("text", choices=(NEVER, PLANNED)),
}
_ISOLATE: t.Final = {"reserved": Field("text", required=True), "isolated": Field("text")}
_HUGE_PAGES: t.Final = {
    "size": Field("text", required=True, choices=("2M", "1G")),
    "count": Field("integer", required=True, low=1, high=4194304),
    "numa_node": Field("integer", low=0, high=63),
}


def read(value: t.Any, path: str, problems: Problems) -> Given:
    """Return the option with C(huge_pages) as a list, C(sysctl) as texts. Add a problem for what is wrong."""
    if isinstance(value, str):
        remedy = f"Write {{profile: {value}}}."
        problems.add("POOL-TYPE", path, remedy=remedy, form="a mapping", value=f"the text {value!r}")
        return {}
    found = read_map(value, FIELDS, path, problems)
    if "sysctl" in found:
        found["sysctl"] = _sysctl(found["sysctl"], f"{path}.sysctl", problems)
    if "isolate" in found and not isinstance(found["isolate"], bool):
        found["isolate"] = _isolate(found["isolate"], f"{path}.isolate", problems)
    if "huge_pages" in found:
        found["huge_pages"] = _huge_pages(found["huge_pages"], f"{path}.huge_pages", problems)
    asked = found.keys() - {"defer", "reboot"}
    if not asked and not problems.at(path):
        keys = ", ".join(key for key in FIELDS if key not in ("defer", "reboot"))
        problems.add("POOL-EMPTY", path, remedy=f"Set one of {keys}, or remove tuning.", example=keys)
    return found


def read_pool(pool: dict[str, t.Any], path: str, problems: Problems) -> None:
    """Replace the pool's C(tuning) by what `read` makes of it."""
    if "tuning" in pool:
        pool["tuning"] = read(pool["tuning"], f"{path}.tuning", problems)


def _sysctl(value: t.Any, path: str, problems: Problems) -> dict[str, str]:
    """Return name to text. YAML reads a value such as 1 as a number, and a list is several numbers."""
    if not isinstance(value, t.Mapping):
        remedy = "Write {net.core.rmem_max: 536870912}."
        problems.add("POOL-TYPE", path, remedy=remedy, form="a mapping", value=repr(value))
        return {}
    found = {}
    for name, number in value.items():
        if isinstance(number, bool) or not isinstance(number, (str, int)):
            given = "nothing" if number is None else repr(number)
            remedy = _written(name, number)
            problems.add("POOL-TYPE", f"{path}.{name}", remedy=remedy, form="a number or text", value=given)
        else:
            found[str(name)] = " ".join(str(number).split())
    return found


def _written(name: t.Any, value: t.Any) -> str:
    """Return how to write a sysctl whose value is neither a number nor text."""
    if isinstance(value, t.Mapping):
        return f"Write the whole name: {name}.{next(iter(value), 'NAME')}."
    if isinstance(value, (list, tuple)):
        return f'Put the numbers in quotes: "{" ".join(map(str, value))}".'
    return "Give a whole number, or text in quotes."


def _isolate(value: t.Any, path: str, problems: Problems) -> t.Any:
    if isinstance(value, str) and value.lower() in ("true", "yes", "false", "no"):
        return value.lower() in ("true", "yes")
    if not isinstance(value, t.Mapping):
        form, remedy = (
            "true, or a mapping of reserved and isolated",
            "Write true, or {reserved: 0-3, isolated: 4-95}.",
        )
        problems.add("POOL-TYPE", path, remedy=remedy, form=form, value=repr(value))
        return {}
    return read_map(value, _ISOLATE, path, problems)


def _huge_pages(value: t.Any, path: str, problems: Problems) -> list[Given]:
    entries = [value] if isinstance(value, t.Mapping) else value
    if not isinstance(entries, (list, tuple)):
        form, remedy = "a mapping or a list of mappings", "Write {size: 1G, count: 16}."
        problems.add("POOL-TYPE", path, remedy=remedy, form=form, value=repr(value))
        return []
    return [
        read_map(entry, _HUGE_PAGES, path if entries is not value else f"{path}[{index}]", problems)
        for index, entry in enumerate(entries)
    ]
