# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The platform Nutanix: a pool names each GPU of a machine; there are no instance types."""

from __future__ import annotations

import re
import typing as t

from .._core.input import Field, Problems
from .._core.objects import number_of
from .._core.quantity import canonical
from .platform import Paths, Reports, Wanted, known_fields, refuse_disk, refuse_markets, refuse_sockets

KEY: t.Final = "nutanix"
NAME: t.Final = "Nutanix"
OWN_TYPE: t.Final = "your own name for a kind of machine"
HAS_TYPE_LABEL: t.Final = False
NO_IMAGE: t.Final = ""
REPORTS: t.Final[Reports] = "size"
CHOSEN: t.Final[dict[str, str]] = {}
ZONED: t.Final = False
OPTIONS: t.Final[dict[str, Field]] = {
    "gpus": Field("list", fields={"name": Field("text"), "device_id": Field("integer", low=1, high=65535)}),
    "cpus": Field("integer", low=1, high=1024),
    "cores_per_socket": Field("integer", low=1, high=1024),
    "memory_gib": Field("integer", low=2, high=24576),
}

_IDENTIFIER: t.Final = {"type": None, "uuid": None, "name": None}
SHAPE: t.Final[dict[str, t.Any]] = {
    "apiVersion": None,
    "kind": None,
    "metadata": {"creationTimestamp": None},
    "cluster": _IDENTIFIER,
    "image": _IDENTIFIER,
    "subnets": [_IDENTIFIER],
    "vcpusPerSocket": None,
    "vcpuSockets": None,
    "memorySize": None,
    "systemDiskSize": None,
    "bootType": None,
    "project": _IDENTIFIER,
    "categories": [{"key": None, "value": None}],
    "gpus": [{"type": None, "deviceID": None, "name": None}],
    "dataDisks": [
        {
            "diskSize": None,
            "deviceProperties": {"deviceType": None, "adapterType": None, "deviceIndex": None},
            "storageConfig": {"diskMode": None, "storageContainer": {"type": None, "uuid": None}},
            "dataSource": _IDENTIFIER,
        }
    ],
    "userDataSecret": {"name": None},
    "credentialsSecret": {"name": None},
    "failureDomain": {"name": None},
}
# Fields for placement, joining the cluster and booting.
COPIED: t.Final = (
    "apiVersion",
    "kind",
    "cluster",
    "image",
    "subnets",
    "vcpusPerSocket",
    "vcpuSockets",
    "memorySize",
    "systemDiskSize",
    "bootType",
    "project",
    "categories",
    "userDataSecret",
    "credentialsSecret",
    "failureDomain",
)
IMAGE: t.Final = "image"
_UUID: t.Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def zone(provider: t.Mapping[str, t.Any]) -> str:
    """Return the failure domain: a Prism Element with its subnets."""
    return str((provider.get("failureDomain") or {}).get("name") or "")


def instance_type(provider: t.Mapping[str, t.Any]) -> str:
    return ""


def check(wanted: Wanted, paths: Paths, problems: Problems) -> None:
    refuse_markets(wanted, "Nutanix", paths, problems)
    refuse_disk(wanted, ("size_gib",), "Nutanix", paths, problems)
    gpus, where = wanted.options.get("gpus") or [], f"{paths.options}.gpus"
    for index, gpu in enumerate(gpus):
        if ("name" in gpu) == ("device_id" in gpu):
            options = "name (as Prism shows it) and device_id (the number of the PCI device)"
            given = "both" if "name" in gpu else "none"
            problems.add("POOL-EITHER", f"{where}[{index}]", options=options, given=given)
    if not gpus and "gpus" not in wanted.patch:
        remedy = "Write one entry for each GPU: nutanix: {gpus: [{name: Ada L40S}]}."
        also = " on Nutanix: a machine has only the GPUs of this list"
        problems.add("POOL-REQUIRED", where, remedy=remedy, also=also)
    elif gpus and wanted.kind and len(gpus) != wanted.kind.gpus:
        given, remedy = number_of(len(gpus), "GPU"), "Write one entry for each GPU."
        problems.add(
            "POOL-GPUS", where, remedy=remedy, given=given, type="the candidate", gpus=wanted.kind.gpus
        )
    refuse_sockets(wanted, paths, problems)
    if wanted.options.get("cores_per_socket") and not wanted.options.get("cpus"):
        problems.add("POOL-REQUIRED", f"{paths.options}.cpus", also=" with cores_per_socket")


def build(source: t.Mapping[str, t.Any], wanted: Wanted) -> dict[str, t.Any]:
    source = known_fields(source, SHAPE)
    provider = {key: source[key] for key in COPIED if source.get(key) is not None}
    if wanted.image:
        provider["image"] = (
            {"type": "uuid", "uuid": wanted.image}
            if _UUID.fullmatch(wanted.image)
            else {"type": "name", "name": wanted.image}
        )
    options = wanted.options
    if options.get("cpus"):
        cores = options.get("cores_per_socket") or 1
        provider |= {"vcpuSockets": options["cpus"] // cores, "vcpusPerSocket": cores}
    # The next run would find a change if the format were not the API server's.
    sizes = {"memorySize": options.get("memory_gib"), "systemDiskSize": wanted.disk.get("size_gib")}
    provider |= {key: canonical(f"{gib}Gi") for key, gib in sizes.items() if gib}
    if options.get("gpus"):
        provider["gpus"] = [_gpu(gpu) for gpu in options["gpus"]]
    return provider


def _gpu(gpu: dict[str, t.Any]) -> dict[str, t.Any]:
    return (
        {"type": "Name", "name": gpu["name"]}
        if gpu.get("name")
        else {"type": "DeviceID", "deviceID": gpu["device_id"]}
    )
