# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps for pools of virtual machines: label nodes, and permit their devices in HyperConverged."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from .._catalogue.well_known import VGPU_CONFIG, VGPU_STATE
from .._core.errors import ForbiddenError, NotReadyError, text_of
from .._core.objects import KubeObject, Snapshot, at, name
from .._core.ownership import selector
from .._core.readiness import Readiness, pending, ready
from .._frame.dry_run import dry_run_apply
from .._impact import consent
from .._impact.impact import DRAIN, Question
from .._kube.client import Api, Query
from .._kube.kinds import Kind, known
from .._nodes import devices, drain
from .._nodes.evictions import evict
from .._nodes.labels import labels
from .._nodes.pool_nodes import judge_size, names_of, nodes_of
from .._sharing.mig_steps import give
from .._virtualization import hyperconverged, schema, steps as virtualization
from .._virtualization.hyperconverged import Permit
from . import virtual_machines as machines
from .node import judge_alive
from .params import StackParams, StackPool

_NODE: t.Final = known("Node")
_POD: t.Final = known("Pod")
_MACHINE: t.Final = Kind("kubevirt.io/v1", "VirtualMachine", "virtualmachines")
_MANAGER: t.Final = "app=nvidia-vgpu-device-manager"


class Work(t.NamedTuple):
    """What a task does for pools of virtual machines. changes: nodes with the labels that they get."""

    params: StackParams
    live: KubeObject | None
    changes: list[tuple[KubeObject, dict[str, str | None]]]

    def questions(self) -> list[Question]:
        """Return what to find out before the first write."""
        asking = [pool for pool in self.params.pools if pool.get("workload")]
        return [machines.question(pool) for pool in asking] if self.changes else []


def begin(api: Api, params: StackParams) -> Work:
    """Return the work. Raise before the first write if HyperConverged is missing, or has other permits."""
    pools = [pool for pool in params.pools if pool.get("workload")]
    if not pools:
        return Work(params, None, [])
    nodes = api.list(_NODE)
    changes = [
        (node, lacking)
        for pool in pools
        for node in nodes_of(nodes, pool)
        if (lacking := machines.marks(labels(node), pool))
    ]
    live, asking = virtualization.look(api), machines.of_machines(pools)
    if asking and live is None:
        raise NotReadyError("GPU-VM-NO-VIRTUALIZATION", pool=asking[0]["name"])
    _refuse_types(api, asking, nodes, params.namespace)
    _refuse_licence(api, params)
    _refuse_hardware(api, asking, nodes)
    if asking and live is not None:
        try:
            wanted = machines.permits(asking, nodes)
        except NotReadyError:
            # Two names may be those before and after an upgrade that is still on its way: `permit` decides.
            return Work(params, live, changes)
        _refuse_others(live, wanted, asking)
        if manifest := _manifest(live, wanted, pools, nodes):
            dry_run_apply(api, manifest, live, force=True)
    return Work(params, live, changes)


def _refuse_types(
    api: Api, pools: t.Sequence[StackPool], nodes: t.Sequence[KubeObject], namespace: str
) -> None:
    """Raise NotReadyError for a type of vGPU of another GPU, or one that the device manager does not know.

    Nodes that were never ready do not say their GPU, and a new operator has no types yet.
    """
    asking = [pool for pool in pools if machines.has_vgpus(pool)]
    config_map = machines.config_map(asking)
    found = machines.types(api.get(known("ConfigMap"), config_map, namespace)) if asking else []
    for pool in asking:
        vgpu = machines.options(pool)["vgpu"]
        wanted = vgpu["type"]
        for node in nodes_of(list(nodes), pool):
            if not schema.fits(vgpu, model := devices.product(node)):
                raise NotReadyError(
                    "GPU-VGPU-OTHER", node=name(node), model=model, type=wanted, pool=pool["name"]
                )
        if found and wanted not in found:
            raise NotReadyError(
                "GPU-VGPU-TYPE",
                config_map=config_map,
                namespace=namespace,
                type=wanted,
                pool=pool["name"],
                types=", ".join(found[:20]),
            )


def _refuse_licence(api: Api, params: StackParams) -> None:
    """Raise NotReadyError if the Secret with the licence is not there, or lacks one of its files."""
    wanted = str(at(params.driver, "licensing_config.secret_name") or "")
    pool = next((one for one in params.pools if machines.licence(one) == wanted), None) if wanted else None
    if pool is None:
        return
    try:
        secret = api.get(known("Secret"), wanted, params.namespace)
        space = secret or api.get(known("Namespace"), params.namespace)
    except ForbiddenError:
        return
    lacking = [key for key in machines.LICENCE if key not in ((secret or {}).get("data") or {})]
    if lacking:
        fault = f"lacks {' and '.join(lacking)}" if secret else "does not exist"
        what = f"Secret {wanted} in namespace {params.namespace} {fault}."
        first = "" if space else f"oc create namespace {params.namespace}; "
        files = " ".join(f"--from-file={key}" for key in machines.LICENCE)
        make = f"oc create secret generic {wanted} -n {params.namespace} {files} --dry-run=client -o yaml"
        raise NotReadyError(
            "GPU-VGPU-LICENSE",
            f"{what} virtual_machines.vgpu.license_secret of pool {pool['name']} names it. "
            "Nothing was changed.",
            f"Run `{first}{make} | oc apply -f -`.",
        )


def _refuse_hardware(api: Api, pools: t.Sequence[StackPool], nodes: t.Sequence[KubeObject]) -> None:
    """Raise NotReadyError for a node that cannot have the devices; one that NFD has not seen may."""
    features = api.list_if_served(known("NodeFeature"), keep=machines.pci_devices) if pools else []
    found = {name(one): one["devices"] for one in features}
    for pool in pools:
        for node in nodes_of(list(nodes), pool):
            machines.refuse_hardware(node, pool, found.get(name(node)) or {})


def label(api: Api, work: Work) -> None:
    """Give the nodes their labels, once their virtual machines have ended if they may.

    The managers of the GPU operator end pods that use GPUs, and leave virtual machines alone.
    """
    if work.params.on_busy == DRAIN:
        _end_machines(api, {name(node) for node, _wanted in work.changes})
    for node, wanted in work.changes:
        give(api, node, wanted)


def _end_machines(api: Api, nodes: t.Collection[str]) -> None:
    """Ask the virtual machines with devices on these nodes to end. Raise NotReadyError if some stay."""
    held = {}
    launchers = selector(drain.LAUNCHER)
    for pod in api.list(_POD, labels=launchers, keep=drain.busy_on(nodes)) if nodes else []:
        if answer := evict(api, pod):
            held[drain.name(pod)] = (pod, answer)
    if not held:
        return
    pod, answer = next(iter(held.values()))
    where = [f"{one} on {drain.node_of(kept)} of {drain.owner(kept)}" for one, (kept, _why) in held.items()]
    raise NotReadyError(
        "GPU-VM-HELD",
        machines="; ".join(where[:10]),
        answer=answer,
        name=drain.owner(pod).rpartition(" ")[2],
        namespace=pod["metadata"]["namespace"],
        evidence=where,
    )


def permit(api: Api, work: Work) -> list[dict[str, t.Any]]:
    """Permit the devices of the pools under the names that nodes offer, and wait for those of the platform.

    Return the permits of the pools, as the result has them. Others' entries stay.
    """
    if work.live is None:
        return []
    pools, nodes = [pool for pool in work.params.pools if pool.get("workload")], api.list(_NODE)
    wanted = machines.permits(pools, nodes)
    live = virtualization.look(api) or work.live
    _refuse_others(live, wanted, pools)
    _warn_of_names(api, live, wanted)
    if manifest := _manifest(live, wanted, pools, nodes):
        _apply(api, manifest, live)
    if any(map(machines.is_of_platform, pools)):
        _wait(api, pools)
    return [
        {"device": permit.selector, "resource": permit.resource, "provider": _provider(permit)}
        for permit in wanted
    ]


def _provider(permit: Permit) -> str:
    return schema.OPERATOR if permit.is_external else schema.PLATFORM


def _apply(api: Api, manifest: KubeObject, live: KubeObject) -> None:
    """Apply our fields. Whoever made the object has its defaults, and the entries of others are checked."""
    api.apply(manifest, force_conflicts=True, own=False, live=live)


def _manifest(
    live: KubeObject, wanted: t.Sequence[Permit], pools: t.Sequence[StackPool], nodes: t.Sequence[KubeObject]
) -> KubeObject | None:
    """Return the object with the permits of the pools; None if this collection has nothing in it.

    pools: all with a workload; one of containers gives back what it had.
    """
    taken, has_manager = {permit.key for permit in wanted}, any(map(machines.has_vgpus, pools))
    is_known = all(machines.permits([pool], nodes) for pool in machines.of_machines(pools))
    # Nodes that offer nothing now, such as those that reboot, keep the permits of a run before.
    ours = _kept(live, pools, nodes) if is_known else hyperconverged.ours(live)
    kept = [permit for permit in ours if permit.key not in taken]
    if not (wanted or has_manager or hyperconverged.is_touched(live)):
        return None
    # The server tells entries apart by their letters, in upper and lower case.
    spelt = {permit.key: permit.selector for permit in hyperconverged.permits(live)}
    named = [permit._replace(selector=spelt.get(permit.key, permit.selector)) for permit in wanted]
    return hyperconverged.manifest(live, [*named, *kept], has_manager=has_manager)


def _kept(live: KubeObject, pools: t.Sequence[StackPool], nodes: t.Sequence[KubeObject]) -> list[Permit]:
    """Return entries of this collection that stay, since nodes outside the pools offer the resource."""
    others = _outside(pools, nodes)
    return [
        permit
        for permit in hyperconverged.ours(live)
        if any(devices.offered(node, permit.resource) for node in others)
    ]


def _outside(pools: t.Iterable[StackPool], nodes: t.Sequence[KubeObject]) -> list[KubeObject]:
    inside = names_of(nodes, pools)
    return [node for node in nodes if name(node) not in inside]


def _refuse_others(live: KubeObject, wanted: t.Iterable[Permit], pools: t.Sequence[StackPool]) -> None:
    """Raise NotReadyError for an entry of others that permits one of the devices in another way.

    The same goes for vGPUs that KubeVirt makes itself, beside those of the vGPU device manager.
    """
    place = {"object": name(live), "namespace": live["metadata"]["namespace"]}
    if any(map(machines.has_vgpus, pools)) and hyperconverged.makes_mediated(live):
        made = Permit("vGPUs", "mediatedDevicesConfiguration", is_external=False)
        raise _other_provider(made, place)
    ours = {permit.key for permit in hyperconverged.ours(live)}
    others = {entry.key: entry for entry in hyperconverged.permits(live) if entry.key not in ours}
    for permit in wanted:
        _refuse_twin(permit, others.values(), place)
        other = others.get(permit.key, permit)
        if other.is_external != permit.is_external:
            raise _other_provider(other, place)
        if other.resource != permit.resource:
            why = f"the nodes offer it as {permit.resource}: no virtual machine with it starts"
            raise _other_name(permit.selector, other, why, "; the next run writes the right one", place)


def _refuse_twin(permit: Permit, others: t.Iterable[Permit], place: dict[str, str]) -> None:
    """Raise NotReadyError for another device that KubeVirt offers under the same name."""
    for other in others:
        is_mixed = not (other.is_external and permit.is_external)
        if is_mixed and other.resource == permit.resource and other.key != permit.key:
            why = f"{permit.selector} would get the same name: a virtual machine would get either device"
            also = ", or set virtual_machines.resource of the pool to a name of its own"
            raise _other_name(other.selector, other, why, also, place)


def _other_name(device: str, other: Permit, why: str, also: str, place: dict[str, str]) -> NotReadyError:
    return NotReadyError(
        "GPU-VM-PERMIT",
        device=device,
        other=other.resource,
        why=why,
        also=also,
        object=place["object"],
        namespace=place["namespace"],
    )


def _other_provider(other: Permit, place: dict[str, str]) -> NotReadyError:
    wanted = schema.PLATFORM if other.is_external else schema.OPERATOR
    return NotReadyError(
        "GPU-VM-PROVIDER",
        device=other.selector,
        other=other.resource,
        theirs=_provider(other),
        ours=wanted,
        object=place["object"],
        namespace=place["namespace"],
    )


def _warn_of_names(api: Api, live: KubeObject, wanted: t.Iterable[Permit]) -> None:
    """Say which names changed: virtual machines that ask for the old one do not start again."""
    before = {permit.key: permit for permit in hyperconverged.ours(live)}
    for permit in wanted:
        old = before.get(permit.key)
        if old and old.resource != permit.resource:
            api.warn(
                f"The nodes offer {permit.selector} as {permit.resource} now, and not as {old.resource}: "
                f"virtual machines with deviceName {old.resource} do not start until they name the new one."
            )


def _wait(api: Api, pools: t.Sequence[StackPool]) -> None:
    """Wait until nodes offer the devices that KubeVirt's own device plugin serves."""
    mine = [pool for pool in pools if machines.is_of_platform(pool)]

    def judge(snapshot: Snapshot) -> Readiness:
        for pool in mine:
            if not (size := judge_size(snapshot["nodes"], pool)).is_ready:
                return size
            for node in nodes_of(snapshot["nodes"], pool):
                if finding := judge_alive(node) or machines.judge(node, pool, snapshot):
                    return pending(finding.reason, finding.message, code=finding.code, remedy=finding.remedy)
        return ready("Offered", "the nodes offer their devices to virtual machines")

    api.wait({"nodes": Query(_NODE)}, judge, "devices of virtual machines", on_timeout_code="GPU-VM-DEVICES")


def give_back(api: Api, params: StackParams) -> dict[str, t.Any]:
    """Do what `remove` does while the stack stays for others; ask before the first write."""
    nodes = api.list(_NODE)
    params = replace(params, pools=[machines.as_marked(pool, nodes) for pool in params.pools])
    pools = machines.of_machines(params.pools)
    ends = consent.ask(api, [machines.returning(pool) for pool in pools], params.on_busy, "GPU-BUSY")
    going = names_of(nodes, pools)
    if params.on_busy == DRAIN:
        _end_machines(api, going)
    remove(api, params)
    if going and any(map(machines.has_vgpus, pools)):
        _wait_for_managers(api, params.namespace, going)
    forget(api, pools)
    return {"name": params.name, "state": "", "reason": "", "driver_version": "", "nodes": [], "ends": ends}


def _wait_for_managers(api: Api, namespace: str, nodes: t.Collection[str]) -> None:
    """Wait until no vGPU device manager is left on the nodes: it writes how far it is until its end."""

    def judge(snapshot: Snapshot) -> Readiness:
        left = [pod for pod in snapshot["pods"] if drain.node_of(pod) in nodes]
        if not left:
            return ready("Gone", "no vGPU device manager is left on these nodes")
        names = ", ".join(map(drain.name, left))
        text = text_of("GPU-LEFT", what="vGPU device managers", left=names, namespace=namespace)
        return pending("Leaving", **text._asdict())

    api.wait({"pods": Query(_POD, namespace, labels=_MANAGER)}, judge, "vGPU device managers leave")


def remove(api: Api, params: StackParams) -> None:
    """Take our permits out of HyperConverged, and the labels of the pools from their nodes."""
    pools = machines.of_machines(params.pools)
    if not (pools or params.only_pools):
        return
    try:
        live = virtualization.look(api)
    except ForbiddenError:
        if pools:
            raise
        api.warn("The identity may not list HyperConverged: what this collection permits there stays.")
        live = None
    nodes = api.list(_NODE)
    if live is not None and hyperconverged.is_touched(live):
        others = _outside(params.pools, nodes)
        users = needed(api, live, others, has_stack=params.only_pools)
        kept = [permit for permit, by in users.items() if by]
        has_manager = params.only_pools and any(VGPU_CONFIG in labels(node) for node in others)
        _apply(api, hyperconverged.manifest(live, kept, has_manager=has_manager), live)
    for pool in pools:
        for node in nodes_of(nodes, pool):
            if given := machines.unmarked(labels(node), pool):
                give(api, node, given)


def forget(api: Api, pools: t.Iterable[StackPool]) -> None:
    """Take what the vGPU device manager wrote about itself from nodes that it has left."""
    asking = [pool for pool in pools if machines.has_vgpus(pool)]
    nodes = api.list(_NODE) if asking else []
    for pool in asking:
        for node in nodes_of(nodes, pool):
            if VGPU_STATE in labels(node):
                give(api, node, {VGPU_STATE: None})


def needed(
    api: Api, live: KubeObject, nodes: t.Sequence[KubeObject], *, has_stack: bool
) -> dict[Permit, list[str]]:
    """Return the entries of this collection, each with what needs it.

    nodes: those that stay. has_stack: the GPU operator stays. Without it nobody has what it offers.
    """
    ours = hyperconverged.ours(live)
    asking = _asking(api) if has_stack and ours else {}
    return {
        permit: [f"node {name(node)}" for node in nodes if machines.may_offer(node, permit)]
        + [who for who, wanted in asking.items() if permit.resource in wanted or not wanted]
        if has_stack or not permit.is_external
        else []
        for permit in ours
    }


def _asking(api: Api) -> dict[str, set[str]]:
    """Return each virtual machine with the devices that it asks for; empty ones may be any."""
    try:
        found = api.list_if_served(_MACHINE, keep=machines.with_devices)
    except ForbiddenError:
        return {"virtual machines, which the identity may not list": set()}
    return {f"VirtualMachine {drain.name(one)}": machines.asked(one) for one in found}
