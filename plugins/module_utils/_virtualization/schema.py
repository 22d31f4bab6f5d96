# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options `workload` and `virtual_machines` of a pool: their fields, their rules, and what follows.

With the provider `operator` the GPU operator gives devices to virtual machines, with `platform` OpenShift
Virtualization itself.
"""

from __future__ import annotations

import re
import typing as t

from .._catalogue.well_known import GPU, GPU_SHARED, OPERANDS, PARTITION, VGPU_CONFIG, WORKLOAD
from .._core import references
from .._core.input import Field, Problems
from .._core.syntax import device_fault, name_fault, resource_fault, value_fault
from .._tuning.options import NEVER, PLANNED

CONTAINER: t.Final = "container"
PASSTHROUGH: t.Final = "vm_passthrough"
VGPU: t.Final = "vm_vgpu"
OPERATOR: t.Final = "operator"
PLATFORM: t.Final = "platform"
WORKLOAD_FIELD: t.Final = Field("text", choices=(CONTAINER, PASSTHROUGH, VGPU))
_IMAGE: t.Final = {
    "repository": Field("text", required=True, fault=references.repository_fault),
    "image": Field("text", required=True, fault=references.image_fault),
    "version": Field("text", required=True),
    "pull_secrets": Field("list", entry=Field("text", fault=name_fault)),
}
FIELDS: t.Final[dict[str, Field]] = {
    "provider": Field("text", choices=(OPERATOR, PLATFORM)),
    "device": Field("text", fault=device_fault),
    "resource": Field("text", fault=resource_fault),
    "iommu": Field("flag"),
    "vgpu": Field(
        "map",
        fields={
            "type": Field("text", required=True, fault=value_fault),
            "config_map": Field("text", fault=name_fault),
            "image": Field("map", required=True, fields=_IMAGE),
            "license_secret": Field("text", required=True, fault=name_fault),
        },
    ),
}
# Options of a pool of containers, and why virtual machines cannot have them.
_OF_CONTAINERS: t.Final = {
    "sharing": "a virtual machine gets whole GPUs, or vGPUs",
    "partition": "its priority classes and quotas are for pods",
    "spare": "placeholder pods request nvidia.com/gpu",
    "autoscale": "the autoscaler waits for nvidia.com/gpu on new nodes",
    "driver": "guests bring their own driver, and vgpu.image is that of the host",
    "validate": "its programs run in containers",
}
# Kernel arguments without which VFIO takes no device. AMD CPUs ignore the first one: their IOMMU is on.
_IOMMU: t.Final = ("intel_iommu=on", "iommu=pt")
_NO_IOMMU: t.Final = ("intel_iommu=off", "amd_iommu=off", "iommu=off")
# Instance types of clouds that are virtual machines themselves: of AWS, Azure, OCI, IBM Cloud, Google Cloud.
_VIRTUAL: t.Final = re.compile(
    r"(?!.*metal)(?:[a-z0-9-]+\.\w*large|Standard_|VM\.|gx\d\w?-\d|(?:n1|a2|a3|a4x?|g2|g4)-)"
)
# The end of a tag that the GPU operator adds to the version itself.
_SYSTEM: t.Final = re.compile(r"-(?:rhel|rhcos|ubuntu)[0-9.]+$")
# What tells GPUs apart in their names, such as T4 in Tesla-T4 and in GRID_T4-8Q.
_GPU: t.Final = re.compile("(?<![A-Z0-9])[A-Z]+[0-9]+")

# A pool, or a part of it, as the user wrote it.
Description = t.Mapping[str, t.Any]


def runs_machines(workload: str | None) -> bool:
    """Return whether the GPUs are for virtual machines."""
    return workload in (PASSTHROUGH, VGPU)


def provider(options: Description) -> str:
    """Return who gives the devices to virtual machines. options: C(virtual_machines) of the pool."""
    return str(options.get("provider") or OPERATOR)


def node_labels(workload: str, options: Description) -> dict[str, str]:
    """Return the labels of nodes whose GPUs are for virtual machines; none for other nodes."""
    if not runs_machines(workload):
        return {}
    if provider(options) == PLATFORM:
        return {OPERANDS: "false"}
    kind = {WORKLOAD: workload.replace("_", "-")}
    return {**kind, VGPU_CONFIG: options["vgpu"]["type"]} if workload == VGPU else kind


def tuning(pool: Description) -> dict[str, t.Any]:
    """Return the tuning of the pool, with what passing devices to virtual machines needs.

    pool: described, its candidates resolved.
    """
    given, options = dict(pool.get("tuning") or {}), pool.get("virtual_machines") or {}
    if not runs_machines(pool.get("workload")):
        return given
    found: dict[str, t.Any] = {}
    is_arm = any(candidate.arch == "arm64" for candidate in pool.get("resolved") or [])
    if options.get("iommu") is not False and not is_arm:
        own = list(given.get("kernel_arguments") or [])
        names = {argument.partition("=")[0] for argument in own}
        lacking = [argument for argument in _IOMMU if argument.partition("=")[0] not in names]
        found["kernel_arguments"] = own + lacking
    if provider(options) == PLATFORM and options.get("device"):
        found["vfio"] = [options["device"].lower()]
    return {**given, **found, "reboot": given.get("reboot", PLANNED)} if found else given


def check(pool: Description, path: str, problems: Problems) -> None:
    """Add what does not go together. pool: described, its candidates resolved."""
    workload, where = pool.get("workload") or CONTAINER, f"{path}.virtual_machines"
    if problems.at(where) or problems.at(f"{path}.workload"):
        return
    if not runs_machines(workload):
        if "virtual_machines" in pool:
            remedy = "Set workload to vm_passthrough or vm_vgpu, or remove virtual_machines."
            problems.add("POOL-CONFLICT", where, remedy=remedy, other=f"workload {CONTAINER}")
        return
    for key, why in _OF_CONTAINERS.items():
        if pool.get(key):
            problems.add("POOL-CONFLICT", f"{path}.{key}", other=f"workload {workload}", also=f": {why}")
    _check_options(workload, pool.get("virtual_machines") or {}, where, problems)
    _check_amounts(pool, path, workload, problems)
    _check_hosts(pool, path, workload, problems)
    if (pool.get("tuning") or {}).get("reboot") == NEVER and tuning(pool) != dict(pool["tuning"]):
        also = ": the nodes reboot to turn the IOMMU on"
        remedy = "Remove it, or set virtual_machines.iommu: false if the nodes have it on already."
        problems.add(
            "POOL-CONFLICT", f"{path}.tuning.reboot", remedy=remedy, other=f"workload {workload}", also=also
        )
    if workload == VGPU:
        _check_type(pool, where, problems)
        _check_version(pool, where, problems)


def _check_options(workload: str, options: Description, where: str, problems: Problems) -> None:
    wanted, other = ("vgpu", "device") if workload == VGPU else ("device", "vgpu")
    if wanted not in options:
        problems.add("POOL-REQUIRED", f"{where}.{wanted}", also=f" with workload {workload}")
    if other in options:
        problems.add("POOL-CONFLICT", f"{where}.{other}", other=f"workload {workload}")
    if provider(options) == PLATFORM:
        if workload == VGPU:
            also = ": OpenShift Virtualization has no vGPU manager"
            remedy = f"Set provider: {OPERATOR}, or workload: {PASSTHROUGH}."
            problems.add("POOL-CONFLICT", f"{where}.provider", remedy=remedy, other="vGPUs", also=also)
        if "resource" not in options:
            also = f" with provider {PLATFORM}, such as nvidia.com/A10"
            problems.add("POOL-REQUIRED", f"{where}.resource", also=also)
    resource = str(options.get("resource") or "domain/device")
    if "/" not in resource or resource in (GPU, GPU_SHARED) or resource.startswith(PARTITION):
        why = "is what pods ask for, and no device of virtual machines"
        remedy = "Set it to a name for the device, such as nvidia.com/GA102GL_A10."
        problems.add("POOL-VALUE", f"{where}.resource", f"{resource!r} {why}.", remedy)


def _check_hosts(pool: Description, path: str, workload: str, problems: Problems) -> None:
    """Add a problem for nodes that cannot run virtual machines with devices."""
    for argument in (pool.get("tuning") or {}).get("kernel_arguments") or []:
        if argument in _NO_IOMMU:
            also = f": {argument} turns the IOMMU off"
            where = f"{path}.tuning.kernel_arguments"
            problems.add("POOL-CONFLICT", where, other=f"workload {workload}", also=also)
    for kind in sorted({candidate.instance_type for candidate in pool.get("resolved") or []}):
        if is_virtual(kind):
            also = f": {kind} is a virtual machine itself, and can give its GPUs to no other"
            remedy = (
                "Name an instance type of bare metal, such as g4dn.metal, or bare-metal nodes in existing."
            )
            where = f"{path}.candidates"
            problems.add("POOL-CONFLICT", where, remedy=remedy, other=f"workload {workload}", also=also)


def is_virtual(kind: str) -> bool:
    """Return whether machines of the instance type are virtual machines themselves."""
    return bool(_VIRTUAL.match(kind))


def _check_amounts(pool: Description, path: str, workload: str, problems: Problems) -> None:
    """Check what counts GPUs: the operator names the devices of virtual machines when they are there."""
    expected = (pool.get("existing") or {}).get("expected") or {}
    if set(expected) - {GPU}:
        also = ": the names of the devices are read from the nodes"
        remedy = f"Set it to the whole GPUs of a node, such as {{{GPU}: 1}}."
        where = f"{path}.existing.expected"
        problems.add("POOL-CONFLICT", where, remedy=remedy, other=f"workload {workload}", also=also)
    for index, quota in enumerate(pool.get("quota") or []):
        if "gpus" in quota:
            remedy = "Use hard with the name that the nodes offer, such as requests.nvidia.com/GA102GL_A10."
            where = f"{path}.quota[{index}].gpus"
            problems.add("POOL-CONFLICT", where, remedy=remedy, other=f"workload {workload}")


def _check_type(pool: Description, where: str, problems: Problems) -> None:
    """Add a problem for a vGPU type that names another GPU than those of the pool."""
    vgpu = (pool.get("virtual_machines") or {}).get("vgpu") or {}
    for model in sorted({candidate.gpu_model for candidate in pool.get("resolved") or []}):
        if not fits(vgpu, model):
            problems.add("POOL-VGPU-TYPE", f"{where}.vgpu.type", model=model, type=vgpu["type"])


def _check_version(pool: Description, where: str, problems: Problems) -> None:
    """Add a problem for the whole tag of an image, to which the operator would add the system once more."""
    vgpu = (pool.get("virtual_machines") or {}).get("vgpu") or {"image": {}}
    version = str(vgpu["image"].get("version") or "")
    if found := _SYSTEM.search(version):
        what = f"{version!r} ends with the operating system of the nodes, which the GPU operator adds itself."
        remedy = f"Set it to {version[: found.start()]}."
        problems.add("POOL-VALUE", f"{where}.vgpu.image.version", what, remedy)


def fits(vgpu: Description, model: str) -> bool:
    """Return whether the type may be one of the GPU; a ConfigMap of the user has names of its own.

    model: as the catalogue or the node's label has it. Types of A10 are not those of A100.
    """
    kind, own = (_GPU.search(str(text).upper()) for text in (vgpu.get("type"), model))
    if "config_map" in vgpu or not kind or not own:
        return True
    return kind[0].endswith(own[0]) or own[0].endswith(kind[0])


def check_together(pools: t.Sequence[Description], name: str, problems: Problems) -> None:
    """Add what differs between pools although the cluster has it once. name: the user's name of the list."""
    seen: dict[tuple[str, str], tuple[str, t.Any]] = {}
    for index, pool in enumerate(pools):
        options, path = pool.get("virtual_machines") or {}, f"{name}[{index}].virtual_machines"
        if not runs_machines(pool.get("workload")):
            continue
        device, vgpu = options.get("device") or "", options.get("vgpu") or {}
        whole = {"provider": provider(options), "resource": options.get("resource")} if device else {}
        once = [("HyperConverged", device.upper(), key, whole[key], key) for key in whole]
        host = {key: vgpu[key] for key in ("image", "license_secret", "config_map") if key in vgpu}
        once += [("the ClusterPolicy", "", key, host[key], f"vgpu.{key}") for key in host]
        for of, mark, key, value, where in once:
            first, other = seen.setdefault((mark, key), (f"{path}.{where}", value))
            if other != value:
                differs = f"that of {first}"
                problems.add("POOL-DIFFERS", f"{path}.{where}", value=repr(value), other=differs, once=of)
