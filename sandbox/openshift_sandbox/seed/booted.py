# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rendered configuration makes of the resources of a node that starts with it: huge pages, CPUs."""

from __future__ import annotations

import json
import re
import typing as t
from urllib.parse import unquote

Object = dict[str, t.Any]

RANGE: t.Final = re.compile("([0-9]+)(?:-([0-9]+))?")
KUBELET_FILE: t.Final = "/etc/kubernetes/kubelet.conf"
SIZES: t.Final = {"1G": ("1Gi", 1024), "1GB": ("1Gi", 1024), "2M": ("2Mi", 2), "2MB": ("2Mi", 2)}
"""Names of the resource, and MiB of a page."""
SYSTEM_CPU: t.Final = 500
SYSTEM_MEMORY: t.Final = 1126
"""Milli-CPUs and MiB that the kubelet keeps back when nobody tells it otherwise."""


def resources(status: Object, spec: Object) -> Object:
    """Return the capacity and the allocatable resources of a node with this rendered configuration."""
    capacity = {key: value for key, value in status["capacity"].items() if not key.startswith("hugepages-")}
    allocatable = {
        key: value for key, value in status["allocatable"].items() if not key.startswith("hugepages-")
    }
    pages = huge_pages(spec.get("kernelArguments") or [])
    if str(capacity["memory"]).endswith("Gi"):
        left = int(capacity["memory"].removesuffix("Gi")) * 1024 - SYSTEM_MEMORY
        allocatable["memory"] = f"{max(0, left - sum(pages.values()))}Mi"
    named = {f"hugepages-{name}": f"{mib}Mi" for name, mib in pages.items()}
    reserved = cpus(str(kubelet(spec).get("reservedSystemCPUs") or ""))
    milli = int(capacity["cpu"]) * 1000 - (len(reserved) * 1000 or SYSTEM_CPU)
    allocatable["cpu"] = f"{milli}m"
    return {"capacity": capacity | named, "allocatable": allocatable | named}


def huge_pages(arguments: t.Sequence[str]) -> dict[str, int]:
    """Return MiB of huge pages by size, as the kernel reads its arguments: `hugepages` follows its size."""
    found: dict[str, int] = {}
    name, size = SIZES["2M"]
    for argument in " ".join(arguments).split():
        key, _equals, value = argument.partition("=")
        if key in {"default_hugepagesz", "hugepagesz"} and value in SIZES:
            name, size = SIZES[value]
        elif key == "hugepages" and value.isdigit():
            found[name] = int(value) * size
    return found


def kubelet(spec: Object) -> Object:
    """Return the kubelet's configuration in a rendered configuration, or an empty one."""
    files = ((spec.get("config") or {}).get("storage") or {}).get("files") or []
    for file in files:
        source = str((file.get("contents") or {}).get("source") or "")
        if file.get("path") == KUBELET_FILE and "," in source:
            found = json.loads(unquote(source.partition(",")[2]))
            return found if isinstance(found, dict) else {}
    return {}


def cpus(text: str) -> set[int]:
    """Return the CPUs of a list such as `0-3,8`; none of a text that is no such list."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        if not (numbers := RANGE.fullmatch(part.strip())):
            return set()
        found |= set(range(int(numbers[1]), int(numbers[2] or numbers[1]) + 1))
    return found
