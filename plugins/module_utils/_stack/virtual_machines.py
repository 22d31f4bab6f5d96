# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools whose GPUs are for virtual machines: options of the policy, labels, devices, and their permits."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from .._catalogue.well_known import (
    GPU,
    GPU_SHARED,
    NVIDIA,
    OPERANDS,
    PARTITION,
    VGPU_CONFIG,
    VGPU_STATE,
    WORKLOAD,
)
from .._core.codes.code import Code
from .._core.errors import NotReadyError, text_of
from .._core.objects import KubeObject, Snapshot, at, name
from .._core.ownership import MANAGER, managers_of_label, selector
from .._core.readiness import FAILED, PENDING, about_node
from .._impact import policy_fields
from .._impact.impact import Question
from .._nodes import devices, drain
from .._nodes.labels import labels
from .._nodes.pool_nodes import nodes_of
from .._virtualization import schema
from .._virtualization.hyperconverged import Permit, of_resource, permits as all_permits
from . import stages
from .params import StackParams, StackPool, Values
from .stages import Finding, on_node

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]

# The ConfigMap of vGPUs that the GPU operator makes, unless the ClusterPolicy names another one.
CONFIG_MAP: t.Final = "default-vgpu-devices-config"
# The files of a licence of vGPUs.
LICENCE: t.Final = ("gridd.conf", "client_configuration_token.tok")
_NO_DEVICES: t.Final = "GPU-VM-DEVICES"
# What NFD writes of each PCI device in a group.
_IOMMU: t.Final = "iommu_group/type"


def of_machines(pools: t.Iterable[StackPool], by: str = "") -> list[StackPool]:
    """Return the pools of virtual machines. by: the provider of their devices; empty for every one."""
    found = [pool for pool in pools if schema.runs_machines(pool.get("workload"))]
    return [pool for pool in found if by in ("", schema.provider(options(pool)))]


def need_no_operator(pools: t.Sequence[StackPool]) -> bool:
    """Return whether OpenShift Virtualization alone gives the devices of all pools."""
    return bool(pools) and len(of_machines(pools, schema.PLATFORM)) == len(pools)


def options(pool: StackPool) -> Values:
    """Return the option C(virtual_machines) of the pool."""
    return pool.get("virtual_machines") or {}


def kind_of(node: KubeObject, sandbox: t.Mapping[str, t.Any]) -> str:
    """Return the workload that the GPU operator gives the node; empty unless it is one of machines.

    sandbox: C(sandboxWorkloads) of the ClusterPolicy.
    """
    kind = policy_fields.workload(sandbox, labels(node)).replace("-", "_")
    return kind if schema.runs_machines(kind) else ""


def as_seen(node: KubeObject, pool: StackPool, policy: KubeObject) -> StackPool:
    """Return the pool, with the node's workload where nobody says what the nodes have to offer."""
    kind = kind_of(node, at(policy, "spec.sandboxWorkloads") or {})
    if not kind or pool.get("workload") or pool.get("expected"):
        return pool
    given = {"vgpu": {"type": labels(node).get(VGPU_CONFIG, "")}} if kind == schema.VGPU else {}
    return {**pool, "workload": kind, "virtual_machines": given}


def as_marked(pool: StackPool, nodes: t.Sequence[KubeObject]) -> StackPool:
    """Return the pool with the workload by which this collection labelled its nodes, if nobody says one."""
    for node in nodes_of(nodes, pool) if not pool.get("workload") else ():
        given = {key: value for key, value in labels(node).items() if MANAGER in managers_of_label(node, key)}
        kind = given.get(WORKLOAD, "").replace("-", "_")
        if schema.runs_machines(kind):
            vgpu = {"vgpu": {"type": given.get(VGPU_CONFIG, "")}} if kind == schema.VGPU else {}
            return {**pool, "workload": kind, "virtual_machines": vgpu}
        if given.get(OPERANDS) == "false":
            by = {"provider": schema.PLATFORM}
            return {**pool, "workload": schema.PASSTHROUGH, "virtual_machines": by}
    return pool


def unpermitted(nodes: t.Iterable[KubeObject], live: KubeObject) -> dict[str, Code]:
    """Return the nodes that offer machines a device which HyperConverged does not permit, and what to do."""
    permitted = {entry.resource for entry in all_permits(live)}
    found = {}
    for node in nodes:
        kind = labels(node).get(WORKLOAD, "").replace("-", "_")
        offered = resources(node, {"name": "", "node_selector": {}}) if schema.runs_machines(kind) else {}
        if offered and permitted.isdisjoint(offered):
            names, place = ", ".join(offered), name(live)
            text = text_of("GPU-VM-UNPERMITTED", node=name(node), resources=names, object=place)
            found[name(node)] = text
    return found


def is_of_platform(pool: StackPool) -> bool:
    """Return whether OpenShift Virtualization gives the devices of the pool to virtual machines."""
    return bool(of_machines([pool], schema.PLATFORM))


def has_vgpus(pool: StackPool) -> bool:
    """Return whether the virtual machines of the pool get vGPUs."""
    return bool(options(pool).get("vgpu"))


def licence(pool: StackPool) -> str:
    """Return the name of the Secret with the licence of the pool's vGPUs; empty if it has none."""
    return str(at(options(pool), "vgpu.license_secret") or "")


def config_map(pools: t.Iterable[StackPool]) -> str:
    """Return the name of the ConfigMap in which the vGPU device manager finds the types."""
    named = (at(options(pool), "vgpu.config_map") for pool in pools)
    return next(filter(None, named), CONFIG_MAP)


def completed(params: StackParams) -> StackParams:
    """Return the options with what the pools of virtual machines need; what the user set counts."""
    pools = of_machines(params.pools, schema.OPERATOR)
    if not pools:
        return params
    # An operator's example has these on, and a policy that somebody made by hand may not.
    on = {"enabled": True}
    wanted: dict[str, Values] = {
        "sandbox_workloads": on,
        "sandbox_device_plugin": on,
        **({} if all(map(has_vgpus, pools)) else {"vfio_manager": on}),
    }
    if vgpu := next((found for pool in pools if (found := options(pool).get("vgpu"))), None):
        image = dict(vgpu["image"])
        secrets = image.pop("pull_secrets", None)
        wanted["vgpu_manager"] = {**on, **image, **({"image_pull_secrets": secrets} if secrets else {})}
        types = vgpu.get("config_map")
        wanted["vgpu_device_manager"] = {**on, **({"config": {"name": types}} if types else {})}
        if len(of_machines(params.pools)) == len(params.pools):
            # Other pools have a driver that needs no licence, and the change would replace it.
            wanted["driver"] = {"licensing_config": {"secret_name": vgpu["license_secret"]}}
    more: dict[str, t.Any] = {key: _over(found, getattr(params, key)) for key, found in wanted.items()}
    return replace(params, **more)


def _over(wanted: Values, given: Values | None) -> Values:
    return {**wanted, **{key: value for key, value in (given or {}).items() if value is not None}}


def refuse_disabled(params: StackParams, policy: KubeObject, *, is_ours: bool) -> None:
    """Raise NotReadyError for a policy that gives no GPU to virtual machines. policy: as it will be."""
    pools = of_machines(params.pools, schema.OPERATOR)
    if not pools or at(policy, "spec.sandboxWorkloads.enabled"):
        return
    what = f"ClusterPolicy {name(policy)} does not have sandboxWorkloads.enabled: true"
    remedy = "Remove sandboxWorkloads from gpu_operator_spec and from the options of special_resource."
    if not is_ours:
        keeper = "have whoever keeps the policy set sandboxWorkloads.enabled: true"
        remedy = f"Set gpu_operator_adopt: take (module option adopt), or {keeper}."
    message = f"Pool {pools[0]['name']} is for virtual machines, and {what}, so no node offers them a device."
    raise NotReadyError(_NO_DEVICES, f"{message} Nothing was changed.", remedy)


def marks(have: t.Mapping[str, str], pool: StackPool) -> dict[str, str | None]:
    """Return the labels to write on a node of the pool; None takes one away. have: its labels."""
    workload = pool.get("workload") or ""
    if not workload:
        return {}
    wanted: dict[str, str | None] = {WORKLOAD: None, VGPU_CONFIG: None}
    if workload == schema.CONTAINER and WORKLOAD in have:
        wanted[WORKLOAD] = schema.CONTAINER
    wanted |= schema.node_labels(workload, options(pool))
    return {key: value for key, value in wanted.items() if have.get(key) != value}


def unmarked(have: t.Mapping[str, str], pool: StackPool) -> dict[str, str | None]:
    """Return the labels of the pool to take from a node with these labels."""
    given = schema.node_labels(pool.get("workload") or "", options(pool))
    return {key: None for key, value in given.items() if have.get(key) == value}


def question(pool: StackPool) -> Question:
    """Return what to find out before nodes of the pool get other labels."""
    workload, by = pool.get("workload") or "", "the GPU operator"
    config = at(options(pool), "vgpu.type")
    purpose = f"workload {workload}{f' with vGPUs {config}' if config else ''}"
    cause = f"nodes of pool {pool['name']} change to {purpose}, which takes the GPUs from what runs there"
    return Question(
        cause,
        by,
        selector(pool["node_selector"]),
        order="all of these nodes at once",
        reaches=lambda have: bool(marks(have, pool)),
        counts=drain.uses_devices,
    )


def returning(pool: StackPool) -> Question:
    """Return what to find out before nodes of the pool serve containers again."""
    return Question(
        f"nodes of pool {pool['name']} no longer give their GPUs to virtual machines",
        "the GPU operator",
        selector(pool["node_selector"]),
        order="all of these nodes at once",
        reaches=lambda have: bool(unmarked(have, pool)),
        counts=drain.uses_devices,
    )


def removal() -> Question:
    """Return what to find out before the stack of nodes with virtual machines goes."""
    kinds = ",".join(one.replace("_", "-") for one in (schema.PASSTHROUGH, schema.VGPU))
    return Question(
        "the stack that gives GPUs to virtual machines is deleted",
        "the garbage collector",
        f"{WORKLOAD} in ({kinds})",
        is_certain=False,
        order="all nodes at once",
        counts=drain.uses_devices,
    )


def resources(node: KubeObject, pool: StackPool) -> dict[str, int]:
    """Return what the node offers to virtual machines, with the numbers."""
    if is_of_platform(pool):
        own = str(options(pool).get("resource"))
        number = devices.offered(node, own)
        return {own: number} if number else {}
    found = devices.resources(node).items()
    return {
        key: number
        for key, number in found
        if key.startswith(NVIDIA) and key not in (GPU, GPU_SHARED) and not key.startswith(PARTITION)
    }


def pci_devices(feature: KubeObject) -> KubeObject | None:
    """Return the PCI devices in a NodeFeature, each with its IOMMU group; None without any."""
    found = (at(feature, "spec.features.instances") or {}).get("pci.device") or {}
    every = [one.get("attributes") or {} for one in found.get("elements") or []]
    kinds = {f"{one.get('vendor')}:{one.get('device')}": str(one.get(_IOMMU) or "") for one in every}
    return {"metadata": feature["metadata"], "devices": kinds} if kinds else None


def refuse_hardware(node: KubeObject, pool: StackPool, found: t.Mapping[str, str]) -> None:
    """Raise NotReadyError if the node has no such device, or no IOMMU that anything turns on.

    found: its PCI devices, each with its IOMMU group.
    """
    wanted = str(options(pool).get("device") or "").lower()
    where = f"Node {name(node)} of pool {pool['name']}"
    own = sorted(key for key in found if key.startswith("10de:"))
    if wanted and own and wanted not in found:
        what = f"{where} has no device {wanted}. Node Feature Discovery sees {', '.join(own)}."
        raise NotReadyError(_NO_DEVICES, what, f"Set virtual_machines.device of the pool to {own[0]}.")
    is_off = own and not any(found[key] for key in own) and not resources(node, pool)
    if is_off and options(pool).get("iommu") is False:
        what = (
            f"{where}: its IOMMU is off, as Node Feature Discovery sees no IOMMU group of its GPUs. With "
            "virtual_machines.iommu: false nothing turns it on, and no virtual machine gets a GPU."
        )
        text = text_of("GPU-VM-VFIO")
        raise NotReadyError(text.code, what, text.remedy)


def may_offer(node: KubeObject, permit: Permit) -> bool:
    """Return whether the node offers the device, or serves virtual machines and offers nothing right now."""
    kind = labels(node).get(WORKLOAD, "").replace("-", "_")
    is_silent = schema.runs_machines(kind) and not resources(node, {"name": "", "node_selector": {}})
    return bool(devices.offered(node, permit.resource)) or (permit.is_external and is_silent)


def with_devices(machine: KubeObject) -> KubeObject | None:
    """Return the VirtualMachine if it asks for devices."""
    return machine if asked(machine) else None


def asked(machine: KubeObject) -> set[str]:
    """Return the names of the devices that a VirtualMachine asks for."""
    found = at(machine, "spec.template.spec.domain.devices") or {}
    lists = (found.get("gpus"), found.get("hostDevices"))
    return {str(device.get("deviceName") or "") for one in lists for device in one or []} - {""}


def number(pool: StackPool, config_map: KubeObject | None = None) -> int:
    """Return how many devices a node of the pool offers to virtual machines; 0 if nobody can tell.

    config_map: of the vGPU device manager.
    """
    gpus, vgpu = int(options(pool).get("gpus") or 0), options(pool).get("vgpu")
    if not vgpu:
        return gpus
    entries = at(_configs(config_map), vgpu["type"]) or []
    if len(entries) != 1 or not isinstance(entries[0], dict):
        return 0
    each = sum(devices.count(count) for count in (entries[0].get("vgpu-devices") or {}).values())
    chosen = entries[0].get("devices")
    return each * (len(chosen) if isinstance(chosen, list) else gpus)


def types(config_map: KubeObject | None) -> list[str]:
    """Return the types of vGPU that the device manager can make; empty if nobody can tell."""
    return sorted(map(str, _configs(config_map)))


def _configs(config_map: KubeObject | None) -> t.Mapping[str, t.Any]:
    text = str(((config_map or {}).get("data") or {}).get("config.yaml") or "")
    try:
        found = yaml.safe_load(text) if yaml else None
    except yaml.YAMLError:
        return {}
    configs = found.get("vgpu-configs") if isinstance(found, dict) else None
    return configs if isinstance(configs, dict) else {}


def judge(node: KubeObject, pool: StackPool, snapshot: Snapshot) -> Finding | None:
    """Return a finding if the node does not offer what virtual machines are to get."""
    have, stage = labels(node), {"stage": stages.ALLOCATABLE}
    state, config = have.get(VGPU_STATE, ""), have.get(VGPU_CONFIG, "")
    if has_vgpus(pool) and state != "success":
        verdict = FAILED if state == "failed" else PENDING
        text = about_node("GPU-VGPU-CONFIG", node=name(node), config=config, state=state or "not there yet")
        return on_node(verdict, node, "VgpuConfig", *text, **stage)
    offered = resources(node, pool)
    config_map = next(iter(snapshot.get("vgpu_configs") or ()), None)
    wanted = number(pool, config_map)
    most = max(offered.values(), default=0)
    if most and (not wanted or wanted in offered.values()):
        return None
    text = about_node(
        _NO_DEVICES,
        node=name(node),
        found=", ".join(f"{count} {key}" for key, count in offered.items()) or "no device",
        wanted=wanted or "at least 1",
    )
    if is_of_platform(pool):
        look = f"oc debug node/{name(node)} -- chroot /host lspci -nnk -d {options(pool)['device']}"
        why = "the driver in use has to be vfio-pci. If it is not, turn the IOMMU on in the host's firmware"
        text = (*text[:2], f"Run `{look}`: {why}.")
    return on_node(PENDING, node, "Machines", *text, **stage)


def permits(pools: t.Iterable[StackPool], nodes: t.Sequence[KubeObject]) -> list[Permit]:
    """Return what virtual machines may have of these pools, under the names that the nodes offer.

    A pool of which no node offers a device yet has none. Raises NotReadyError if nodes of a pool offer
    several names, of which nobody can tell the right one, or only others than the user set.
    """
    found: dict[tuple[bool, str], Permit] = {}
    for pool in of_machines(pools):
        given = options(pool)
        if is_of_platform(pool):
            wanted = [Permit(given["device"].upper(), given["resource"], is_external=False)]
        else:
            wanted = [
                Permit(given["device"].upper(), resource) if given.get("device") else of_resource(resource)
                for resource in _names(pool, nodes_of(list(nodes), pool))
            ]
        found |= {permit.key: permit for permit in wanted}
    return sorted(found.values())


def _names(pool: StackPool, nodes: t.Sequence[KubeObject]) -> list[str]:
    own, gpus = options(pool).get("resource"), int(options(pool).get("gpus") or 0)
    offers = [resources(node, pool) for node in nodes]
    names = sorted({key for offer in offers for key in offer})
    if own and names and own not in names:
        raise NotReadyError(
            "GPU-VM-RESOURCE", pool=pool["name"], resource=own, names=", ".join(names), name=names[0]
        )
    if own:
        return [key for key in names if key == own]
    # Bridges between GPUs are devices too, but not as many as GPUs.
    fitting = sorted({key for offer in offers for key, count in offer.items() if count == gpus})
    if len(names) < 2 or has_vgpus(pool):
        return names
    if len(fitting) == 1:
        return fitting
    raise NotReadyError("GPU-VM-NAMES", pool=pool["name"], names=", ".join(names), name=names[0])
