# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_node_repair: look, ask, drain, reboot, validate, and uncordon; else replace the machine."""

from __future__ import annotations

import contextlib
import dataclasses
import time
import typing as t

from .._catalogue.well_known import DRIVER_UPGRADE
from .._core.errors import AcceleratorError, NotReadyError
from .._core.objects import number_of
from .._core.ownership import POOL
from .._kube.client import Api
from .._kube.kinds import known
from .._machines.steps import health, nodes as node_steps
from .._nodes import cordons, drain, drain_steps, node as node_facts, sentinel_steps
from .._nodes.drain_judge import Rules
from .._nodes.evictions import evict
from .._workload import chosen, steps as validation_steps
from . import (
    findings,
    host_steps,
    look_steps,
    options,
    reboot,
    reboot_steps,
    record as records,
    replaced_steps,
    report,
    seen as decision,
)
from .options import GpuNodeRepairParams
from .reboot_steps import Way
from .record import Record
from .seen import Seen

_NODE: t.Final = known("Node")
# What a validation says about GPUs that do not compute. Its other codes are about images, quotas and pods.
_BROKEN: t.Final = (
    *("WORK-FAILED", "WORK-FAULT", "GPU-ALLOC"),
    *("WORK-LOW", "WORK-BASELINE", "WORK-PEER"),
)


def ensure(api: Api, params: GpuNodeRepairParams) -> dict[str, t.Any]:
    """Repair the node if something is wrong with its GPUs, and return what was done, with the vendor's form.

    Raise AcceleratorError before the first write if pods may not be evicted or the node cannot be rebooted,
    and NotReadyError with REPAIR-STAYS if the node is as broken after the reboot.
    """
    options.check(params)
    seen = look_steps.look(api, params)
    try:
        found = _repair(api, params, seen)
    except AcceleratorError as exc:
        exc.facts.setdefault("form", report.form(seen))
        raise
    return {**found, "rejected_pods": _rejected(api, params, seen.name)}


def _rejected(api: Api, params: GpuNodeRepairParams, node: str) -> list[str]:
    """Return the pods that the kubelet of the node refused for lack of devices; delete them if asked."""
    pods = api.list(
        known("Pod"), fields=drain.on(node), keep=lambda one: one if findings.is_rejected(one) else None
    )
    names = sorted(map(drain.name, pods))
    if params["remove_rejected"]:
        for pod in pods:
            # An eviction deletes exactly this pod, also if its controller makes another one of its name.
            evict(api, pod)
    elif names:
        api.warn(
            f"{number_of(len(names), 'pod')} on node {node} ended with UnexpectedAdmissionError: the device "
            f"plugin had no device for them when the node started. They never run again: {', '.join(names)}. "
            "Set gpu_repair_remove_rejected: true (module option remove_rejected) to delete them; that ends "
            "nothing."
        )
    return names


def _repair(api: Api, params: GpuNodeRepairParams, seen: Seen) -> dict[str, t.Any]:
    done = decision.action(seen, params, time.time())
    if done == decision.NOTHING:
        return report.result(seen, done)
    _refuse_update(seen)
    if seen.is_unclear and params["repair"] == options.AUTO:
        raise _unclear(seen)
    if done == options.REPLACE:
        with sentinel_steps.opted_out(api, lambda: [seen.node]):
            return _replace(api, params, seen)
    if done == decision.STAYS:
        raise NotReadyError(
            reboot.STAYS,
            evidence=seen.faults,
            facts=report.result(seen, done),
            node=seen.name,
            faults=report.line(seen),
        )
    if params["repair"] == options.AUTO and params["replace"]:
        # What would refuse the replacement later refuses the whole repair now.
        node_steps.replaceable(api, seen.name, seen.machine, params["namespace"])
    with sentinel_steps.opted_out(api, lambda: [seen.node]):
        try:
            return _reboot(api, params, seen, done)
        except NotReadyError as exc:
            if exc.code != reboot.STAYS:
                raise
            return _still_broken(api, params, exc)


def _refuse_update(seen: Seen) -> None:
    update = node_facts.update(seen.node)
    if state := findings.driver_upgrade(seen.node):
        raise AcceleratorError("REPAIR-DRIVER", node=seen.name, state=state, label=DRIVER_UPGRADE)
    if update.under_way and not update.is_stuck:
        raise AcceleratorError("REPAIR-UPDATE", node=seen.name, state=update.state)


def _unclear(seen: Seen) -> AcceleratorError:
    faults = "; ".join(seen.faults)
    return AcceleratorError("REPAIR-UNCLEAR", evidence=seen.faults, node=seen.name, faults=faults)


def _reboot(api: Api, params: GpuNodeRepairParams, seen: Seen, done: str) -> dict[str, t.Any]:
    """Reboot the node if no earlier run did, wait for it, validate it, and make it schedulable again."""
    way: Way | None = None
    if done == options.REBOOT or _is_unasked(seen, params):
        way = reboot_steps.choose(api, seen, params)
    why, rules = f"Node {seen.name} is to be repaired", Rules.of(params)
    drain_steps.check(api, {seen.name}, rules, why)
    pool = (seen.node["metadata"].get("labels") or {}).get(POOL, "")
    with health.paused(api, pool, params["namespace"]) if pool else contextlib.nullcontext():
        drain_steps.drain(api, {seen.name}, rules, why, cordons.FOR_REPAIR)
        record = seen.record
        if way is not None:
            record = _recorded(api, seen)
            reboot_steps.request(api, way, seen)
        if api.check_mode:
            return _result(seen, done, way)
        node = reboot_steps.wait(api, seen, record, float(params["grace"])) if record else seen.node
    return _given_back(api, params, dataclasses.replace(seen, node=node), done, way)


def _is_unasked(seen: Seen, params: GpuNodeRepairParams) -> bool:
    """Return True if a killed run may have ended between its record and its pod, which is safe to make again.

    A second annotation of a BareMetalHost is not: the host may just be starting.
    """
    begun = seen.record is not None and not seen.has_rebooted
    return begun and params["reboot_with"] == options.POD and node_facts.is_ready(seen.node)


def _recorded(api: Api, seen: Seen) -> Record:
    """Write the record before the reboot is asked for: a run that is killed then asks for no second one."""
    xids = tuple((one.number, one.device) for one in seen.reports)
    record = Record(records.boot_of(seen.node), seen.expected, int(time.time()), xids)
    api.merge_patch(_NODE, seen.name, None, record.body())
    return record


def _given_back(
    api: Api, params: GpuNodeRepairParams, seen: Seen, done: str, way: Way | None
) -> dict[str, t.Any]:
    """Validate the node while it is cordoned; then end the repair, and uncordon what a repair cordoned."""
    given = {"repeat": True, "claims": seen.claims, **(params["validation"] or {})}
    expected = {seen.name: seen.expected}
    wishes = chosen.validation([seen.node], expected, api.deadline.remaining(), given, cordoned=True)
    try:
        with chosen.remedies("gpu_repair_validation"):
            validated = validation_steps.present(api, wishes)
    except NotReadyError as exc:
        if exc.code not in _BROKEN:
            raise
        why = f"its validation failed: {exc.code}: {exc.message}"
        raise NotReadyError(
            reboot.STAYS, evidence=exc.evidence, facts=exc.facts, node=seen.name, faults=why
        ) from exc
    reboot_steps.clean(api, seen)
    is_held = drain_steps.stays_held(api, api.get(_NODE, seen.name))
    body = records.ended(seen.node, is_held)
    api.merge_patch(_NODE, seen.name, None, body)
    live = api.get(_NODE, seen.name) or seen.node
    if node_facts.is_cordoned(live) and not is_held:
        api.warn(f"Node {seen.name} works. It was cordoned before, so it stays cordoned.")
    return {**_result(dataclasses.replace(seen, node=live), done, way), "workload": validated["workload"]}


def _result(seen: Seen, done: str, way: Way | None) -> dict[str, t.Any]:
    object_name = "rebooted" if done == options.REBOOT else "resumed"
    return report.result(seen, object_name, rebooted_with=way.kind if way else "")


def _still_broken(api: Api, params: GpuNodeRepairParams, exc: NotReadyError) -> dict[str, t.Any]:
    """Note that the reboot did not help. Replace the machine if that is allowed, else raise the error."""
    seen = look_steps.look(api, params)
    if seen.record and not seen.record.failed:
        api.merge_patch(_NODE, seen.name, None, seen.record._replace(failed=True).body())
    reboot_steps.clean(api, seen)
    if params["repair"] == options.AUTO and params["replace"]:
        api.warn(f"{exc.message}. Its machine is replaced.")
        return _replace(api, params, seen)
    exc.evidence += seen.faults
    exc.facts |= report.result(seen, decision.STAYS)
    raise exc


def _replace(api: Api, params: GpuNodeRepairParams, seen: Seen) -> dict[str, t.Any]:
    """Have the machine replaced, as gpu_node does. On bare metal this needs another free host."""
    warning = ""
    if seen.host is not None:
        _machine, live = node_steps.replaceable(api, seen.name, seen.machine, params["namespace"])
        host_steps.require_another(api, seen, seen.host, live)
        warning = host_steps.keep_out(seen.host, live)
    uid = str(seen.machine["metadata"].get("uid") or "") if seen.machine else None
    wishes = t.cast(node_steps.GpuNodeParams, {**params, "state": "replaced", "machine_uid": uid})
    made = node_steps.replace(api, seen.name, seen.machine, wishes)
    if warning:
        api.warn(warning)
    found = report.result(seen, "replaced", new_machines=made)
    if params["validation"]:
        given = {"claims": seen.claims, **params["validation"]}
        new = replaced_steps.New(made, seen.expected, params["namespace"], "gpu_repair_validation")
        found["workload"] = replaced_steps.validate(api, new, given)
    return found
