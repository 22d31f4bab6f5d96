# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backend nvidiadriver: a ClusterPolicy for the stack, and NVIDIADriver objects with each pool's driver."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ..._core import fields
from ..._core.adoption import Foreign
from ..._core.errors import NotReadyError
from ..._core.objects import KubeObject, Snapshot, at, name
from ..._core.ownership import owned
from ..._core.readiness import Grace
from ..._frame.adopt_or_apply import as_result, naming_differences, refuse_conflicts
from ..._impact import consent, driver
from ..._impact.impact import Question
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from .. import virtual_machine_steps, virtual_machines
from ..clusterpolicy import preconditions, steps as policy_steps
from ..clusterpolicy.default_spec import example_driver
from ..drivers.image import Change
from ..drivers.steps import refuse_missing, remove_files, write_files
from ..params import StackParams
from ..steps import example_csvs, settle_foreign
from . import judge as driver_judge, manifest
from .judge import summarize as summarize_drivers

NAME: t.Final = policy_steps.NAME
NAMESPACE: t.Final = policy_steps.NAMESPACE
DRIVER: t.Final = known("NVIDIADriver")
# Fields that choose the nodes of a driver; AssignOwners of the operator gives these nodes their owner anew.
_MOVES: t.Final = ("spec.nodeSelector", "spec.default", "spec.nodeAffinity")


def check(params: StackParams) -> None:
    policy_steps.check(params)
    manifest.check(params)


def present(api: Api, params: StackParams) -> dict[str, t.Any]:
    """Apply policy and drivers, wait until each node has its driver, and return the module's result.

    Nodes with the ClusterPolicy's driver first keep it under their NVIDIADriver; a new driver follows once
    each node has its owner.
    """
    params = _switched_on(params)
    policy = policy_steps.look(api, params)
    params = policy_steps.completed(api, params, policy)
    theirs = _refuse_disabled(params, policy)
    live = [] if api.check_mode and not api.served(DRIVER) else api.list(DRIVER)
    section, base = _section(api, params, policy)
    wanted = manifest.build(params, section, base, live)
    clashing = settle_selectors(api, wanted, live, params)
    first = _first(wanted, policy)
    draft = policy_steps.prepare(api, params, policy)
    virtual_machines.refuse_disabled(params, draft.after, is_ours=draft.other is None)
    refuse_unmade(api, params, wanted, live, draft.installed)
    machines = virtual_machine_steps.begin(api, params)
    asked = [*policy_steps.questions(api, draft), *questions(params, wanted, live, draft.installed)]
    ends = consent.ask(api, [*asked, *machines.questions()], params.on_busy, policy_steps.BUSY)
    virtual_machine_steps.label(api, machines)
    write_files(api, params)
    _delete(api, clashing)
    differs = keep(api, params, first, live)
    other = policy_steps.write(api, params, draft)
    with naming_differences(other or theirs, policy_steps.CAUSES):
        snapshot = _observe(api, params, first)
        if first != wanted:
            differs = keep(api, params, wanted, api.list(DRIVER) if not api.check_mode else live)
            snapshot = _observe(api, params, wanted)
    _delete(api, _absent_names(params))
    remove_files(api, params, snapshot["pods"])
    found = {**policy_steps.summary(api, params, snapshot), **as_result(other)}
    return {
        **found,
        "nvidia_drivers": summarize_drivers(snapshot, wanted),
        "nvidia_drivers_unlisted": _unlisted(api, manifest.unlisted(params, wanted, live)),
        "differs": [*found["differs"], *differs],
        "ends": ends,
        "permits": virtual_machine_steps.permit(api, machines),
    }


def _switched_on(params: StackParams) -> StackParams:
    return replace(params, driver={**(params.driver or {}), "use_nvidia_driver_crd": True})


def _first(wanted: list[KubeObject], policy: KubeObject | None) -> list[KubeObject]:
    """Return the drivers for the first wait; if the policy still brings drivers, with the policy's driver."""
    driver = at(policy, "spec.driver") or {}
    if policy is None or driver.get("useNvidiaDriverCRD") or driver.get("enabled") is False:
        return wanted
    return [manifest.as_before(one, driver) for one in wanted]


def _unlisted(api: Api, drivers: list[KubeObject]) -> list[dict[str, t.Any]]:
    """Return drivers that no option lists, and warn of them.

    They stay: another playbook may list them.
    """
    found = []
    for object_name, there in ((name(one), one) for one in drivers):
        nodes = api.list(known("Node"), labels=f"{driver_judge.OWNER}={object_name}")
        found += summarize_drivers({"drivers": [there], "nodes": nodes}, [there])
        names = found[-1]["nodes"]
        api.warn(manifest.unlisted_remark(object_name, names))
    return found


def _refuse_disabled(params: StackParams, policy: KubeObject | None) -> Foreign | None:
    """Return how a foreign policy differs, or None for an owned one.

    Raise NotReadyError if it disables every NVIDIADriver and this task may not change it.
    """
    if policy is None or owned(policy):
        return None
    other = policy_steps.compare(params, policy)
    if not at(policy, "spec.driver.useNvidiaDriverCRD") and params.adopt == "report":
        raise NotReadyError("GPU-NVD-DISABLED", policy=params.name, manager=other.manager)
    return other


def _section(
    api: Api, params: StackParams, policy: KubeObject | None
) -> tuple[dict[str, t.Any], dict[str, t.Any]]:
    """Return the policy's future driver section, and the operator's example of an NVIDIADriver.

    Raise NotReadyError if the operator is too old.
    """
    csvs = example_csvs(api, params.namespace, policy)
    manifest.refuse_release(csvs)
    return policy_steps.predicted_spec(params, policy, csvs).get("driver") or {}, example_driver(csvs)


def settle_selectors(
    api: Api, wanted: list[KubeObject], live: list[KubeObject], params: StackParams
) -> list[str]:
    """Return drivers to delete before the new ones are created; raise NotReadyError if selectors overlap."""
    ours, absent = {name(one) for one in wanted}, _absent_names(params)
    leaving = [one for one in live if owned(one) and name(one) in absent]
    others = [one for one in live if name(one) not in ours and one not in leaving]
    remarks = manifest.undecided(wanted)
    nodes = api.list(known("Node")) if others or remarks or leaving else []
    manifest.refuse_overlap(wanted, others, nodes)
    for remark in remarks:
        api.warn(remark)
    return manifest.clashing(wanted, leaving, nodes)


def refuse_unmade(
    api: Api,
    params: StackParams,
    wanted: list[KubeObject],
    live: list[KubeObject],
    installed: tuple[int, ...],
) -> None:
    """Raise AcceleratorError if an object about to be written cannot work, or needs what does not exist.

    That is a precompiled driver, a Secret or a ConfigMap. installed: the operator's release.
    """
    found = {name(one): one for one in live}
    selectors = [one["spec"]["nodeSelector"] for one in [*wanted, *live] if one["spec"].get("nodeSelector")]
    changes = []
    for one in wanted:
        there = found.get(name(one))
        if there is None or owned(there) or params.adopt == "take":
            without = tuple(selectors) if one["spec"].get("default") else ()
            after = fields.applied(there, one)
            preconditions.check_final_driver(params.pools, after, installed)
            preconditions.check_references(api, params, there, after)
            changes.append(Change((there or {}).get("spec") or {}, after["spec"], without))
    refuse_missing(api, params, changes)


def questions(
    params: StackParams, wanted: list[KubeObject], live: list[KubeObject], installed: tuple[int, ...]
) -> list[Question]:
    """Return what to find out before the drivers are written or deleted.

    Raise ConflictError if another manager set a field that the task asks for. installed: the operator's
    release.
    """
    found, absent = {name(one): one for one in live}, _absent_names(params)
    asked = [_deletion(one) for one in live if owned(one) and name(one) in absent]
    for one in wanted:
        there = found.get(name(one))
        if there is None:
            cause = f"NVIDIADriver {name(one)} is new and takes over the nodes that it selects"
            selector = one["spec"].get("nodeSelector") or {}
            rules = driver.upgrade_policy(one)
            asked.append(
                Question(cause, driver.UPGRADE, driver.DRIVEN, selector, is_certain=False, rules=rules)
            )
        elif owned(there) or params.adopt == "take":
            if owned(there):
                refuse_conflicts(there, one, params.adopt)
            asked += _change(there, one, installed)
    return asked


def _change(there: KubeObject, wanted: KubeObject, installed: tuple[int, ...]) -> list[Question]:
    after = fields.applied(there, wanted)
    changes = driver.driver_changes(there, after)
    if moves := [path for path in changes if path.startswith(_MOVES)]:
        # a node that changes its owner leaves the DaemonSet's selector, and loses its pod at once
        cause = f"{', '.join(moves)} of NVIDIADriver {name(wanted)} takes its driver off nodes"
        by, order = "the DaemonSet controller", "all of its nodes at once"
        return [Question(cause, by, driver.DRIVEN, is_certain=False, order=order)]
    replaced = changes and driver.replaces_own(after)
    if not replaced or driver.effect(installed, changes) == driver.RESTARTS:
        return []
    cause = f"{', '.join(changes)} of NVIDIADriver {name(wanted)} changes its driver's pods"
    where, rules = after["spec"].get("nodeSelector") or {}, driver.upgrade_policy(after)
    return [Question(cause, driver.UPGRADE, driver.DRIVEN, where, rules=rules)]


def _deletion(one: KubeObject) -> Question:
    selector = one["spec"].get("nodeSelector") or {}
    cause = f"NVIDIADriver {name(one)} is deleted, and with it the driver of its nodes"
    by = "the garbage collector"
    return Question(cause, by, driver.DRIVEN, selector, is_certain=False, order="all of its nodes at once")


def keep(
    api: Api, params: StackParams, wanted: list[KubeObject], live: list[KubeObject]
) -> list[dict[str, t.Any]]:
    """Apply the drivers; return the differences of foreign ones."""
    found = {name(one): one for one in live}
    differs: list[dict[str, t.Any]] = []
    for one in wanted:
        there = found.get(name(one))
        if there is None or owned(there):
            api.apply(one, force_conflicts=there is not None, live=there)
        else:
            differs += settle_foreign(api, params.adopt, DRIVER, one["spec"], there)
    return differs


def _absent_names(params: StackParams) -> list[str]:
    return [one["name"] for one in params.nvidia_drivers or [] if one["state"] == "absent"]


def _delete(api: Api, names: list[str]) -> None:
    for object_name in names:
        api.delete(DRIVER, object_name)


def _observe(api: Api, params: StackParams, wanted: list[KubeObject]) -> Snapshot:
    patience = Grace(api.clock, params.grace, driver_judge.PASSING)
    also = policy_steps.ExtraCauses(
        {"drivers": Query(DRIVER)},
        lambda snapshot: patience.harden(driver_judge.judge(snapshot, wanted, params.pools)),
    )
    return {"drivers": [], **policy_steps.observe_policy(api, params, also)}


def absent(api: Api, params: StackParams) -> dict[str, t.Any]:
    """Delete the drivers with their pods, then the policy with its operands. Return the module's result."""
    if params.only_pools:
        return policy_steps.absent(api, params)
    drivers = _removable(api, preconditions.gpu_cluster)
    asked = [*map(_deletion, drivers), *policy_steps.removal(api, params.name)]
    ends = consent.ask(api, asked, params.on_busy, policy_steps.BUSY)
    remove_drivers(api, preconditions.gpu_cluster)
    return policy_steps.remove(api, params, ends)


def remove_drivers(api: Api, staying: t.Callable[[Api], str]) -> None:
    """Delete the drivers that this collection made, unless a GPUCluster needs them.

    staying: returns the name of a GPUCluster that stays; called only if there are such drivers.
    """
    _delete(api, [name(one) for one in _removable(api, staying)])


def _removable(api: Api, staying: t.Callable[[Api], str]) -> list[KubeObject]:
    """Return the drivers that this collection made; raise NotReadyError if a GPUCluster needs them."""
    ours = [one for one in api.list(DRIVER) if owned(one)] if api.served(DRIVER) else []
    if ours and (cluster := staying(api)):
        drivers = ", ".join(f"NVIDIADriver {name(one)}" for one in ours)
        evidence = [f"gpucluster/{cluster}", *(f"nvidiadriver/{name(one)}" for one in ours)]
        raise NotReadyError("GPU-CP-NEEDED", cluster=cluster, drivers=drivers, evidence=evidence)
    return ours
