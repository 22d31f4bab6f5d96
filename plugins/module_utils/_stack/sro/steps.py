# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of backend sro: report a SpecialResource, apply one where the CRD is served, or replace it."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ..._core import daemon_sets
from ..._core.errors import InputError, KindNotServedError, NotReadyError, WaitTimeoutError
from ..._core.objects import Snapshot, at
from ..._core.ownership import owned
from ..._frame.adopt_or_apply import adopt_or_apply, as_result, live_object, remove
from ..._kube.client import Api, Query
from ..._kube.kinds import known
from ..._nodes.pool_nodes import check_pools
from ..clusterpolicy import options as clusterpolicy_options
from ..kmm import options as kmm_options
from ..params import StackParams
from ..steps import ask_change, nodes_query
from . import judge as sro_judge, manifest as sro_manifest, options as sro_options

NAME: t.Final = ""
NAMESPACE: t.Final = ""
SPECIAL: t.Final = known("SpecialResource")
# Seconds: its conditions have no generation, so for a moment they may be those of before.
_REACTION: t.Final = 2.0


def check(params: StackParams) -> None:
    """Raise InputError for options that cannot work, also with the backend that takes over."""
    check_pools(params.pools)
    sro_manifest.check(params)
    target = sro_manifest.target(params)
    handed_on = {"kmm": set(kmm_options.OPTIONS), "clusterpolicy": set(clusterpolicy_options.OPTIONS)}
    theirs = set[str]().union(*handed_on.values()) - set(sro_options.OPTIONS)
    for option in sorted(theirs - handed_on.get(target, set())):
        if getattr(params, option) is not None:
            owners = " or ".join(one for one in handed_on if option in handed_on[one])
            value = target or "not given"
            raise InputError(
                "INPUT-BACKEND", option=option, backends=owners, setting="sro.migrate_to", value=value
            )
    if target:
        _successor(params).check(_handed_on(params))


def _successor(params: StackParams) -> t.Any:
    if sro_manifest.target(params) == "kmm":
        from ..kmm import steps as kmm_steps

        return kmm_steps
    from ..clusterpolicy import steps as clusterpolicy_steps

    return clusterpolicy_steps


def _handed_on(params: StackParams) -> StackParams:
    """Return the options for the backend that takes over.

    Without a name of its own the new object has its usual name; a Module has the SpecialResource's.
    """
    successor = _successor(params)
    name = params.name if at(params.sro, "special_resource") else ""
    return replace(
        params,
        name=name or successor.NAME or sro_manifest.old_name(params),
        namespace=params.namespace or successor.NAMESPACE,
    )


def present(api: Api, params: StackParams) -> dict[str, t.Any]:
    """Apply or report the SpecialResource, or migrate it, and return the result."""
    if sro_manifest.target(params):
        return _migrate(api, params)
    _must_be_served(api)
    foreign, ends = None, list[dict[str, t.Any]]()
    if at(params.sro, "chart"):
        wanted = sro_manifest.build(params)
        live = live_object(api, SPECIAL, wanted)
        ends = ask_change(api, params, live, wanted)
        foreign = adopt_or_apply(api, SPECIAL, wanted, params.adopt, live)
    judge, name = sro_judge.Judge(params, api.clock), sro_manifest.old_name(params)
    queries = {"specials": Query(SPECIAL, None, name)}
    if params.pools:
        queries["nodes"] = nodes_query(params.pools)
    try:
        settle = max(params.settle, _REACTION if any(one.before for one in api.changes) else 0)
        snapshot = api.wait(queries, judge, f"SpecialResource {name}", settle)
    except (NotReadyError, WaitTimeoutError) as exc:
        failed = exc.code if isinstance(exc, NotReadyError) else ""
        exc.facts["special_resource"] = {**_result(api, params, judge.seen, failed), **as_result(foreign)}
        raise
    return {**_result(api, params, snapshot), **as_result(foreign), "ends": ends}


def _result(api: Api, params: StackParams, snapshot: Snapshot, failed: str = "") -> dict[str, t.Any]:
    name, daemonsets = sro_manifest.old_name(params), api.list(known("DaemonSet"))
    return sro_judge.summarize(name, params.pools, snapshot, daemonsets, failed)


def _must_be_served(api: Api) -> None:
    if not api.served(SPECIAL):
        raise KindNotServedError("GPU-SRO-NOT-SERVED", status=404, reason="NotServed")


def _migrate(api: Api, params: StackParams) -> dict[str, t.Any]:
    """Report the SpecialResource, remove it with sro.remove, then replace it; the next run resumes."""
    name, target = sro_manifest.old_name(params), sro_manifest.target(params)
    live = api.get(SPECIAL, name) if api.served(SPECIAL) else None
    runs = sro_judge.runs(live, name, api.list(known("DaemonSet")))
    needs = sro_judge.needs(target, lambda kind: api.served(known(kind)))
    steps = sro_judge.steps(name, target, bool(live or runs["daemonsets"]), needs)
    if lacking := [one["what"] for one in needs if not one["met"]]:
        facts = {"special_resource": {"runs": runs, "steps": steps}}
        raise NotReadyError("GPU-SRO-NEEDS", name=name, backend=target, needs=", ".join(lacking), facts=facts)
    report = {"runs": runs, "needs": needs, "steps": steps}
    if live is not None and not at(params.sro, "remove"):
        api.warn(
            f"SpecialResource {name} stays, and {target} does not start beside it. "
            "Set sro.remove to true, so that the module removes it."
        )
        return {"name": name, "state": "waiting", "reason": "RemovalNotAsked", "nodes": [], **report}
    ends = ask_change(api, params, live, None)
    if live is not None:
        remove(api, SPECIAL, name, None, owned_only=False)
    _until_unloaded(api, name)
    for step in steps:
        step["done"] |= not api.check_mode
    found = _successor(params).present(api, _handed_on(params))
    return {**found, "backend": target, "ends": [*ends, *(found.get("ends") or [])], **report}


def _until_unloaded(api: Api, name: str) -> None:
    """Wait until the DaemonSets and pods are gone, also those that an interrupted removal left."""
    left = sro_judge.owned_by(name, api.list(known("DaemonSet")))
    if left and not api.check_mode:
        queries = {"daemonsets": Query(known("DaemonSet")), "pods": Query(known("Pod"))}
        api.wait(queries, daemon_sets.Gone(f"SpecialResource {name}", left), f"SpecialResource {name} leaves")


def absent(api: Api, params: StackParams) -> dict[str, t.Any]:
    """Delete the SpecialResource: ours, or with sro.remove anybody's."""
    name, ends = sro_manifest.old_name(params), list[dict[str, t.Any]]()
    if api.served(SPECIAL):
        live = api.get(SPECIAL, name)
        if owned(live) or at(params.sro, "remove"):
            ends = ask_change(api, params, live, None)
        remove(api, SPECIAL, name, None, owned_only=not at(params.sro, "remove"))
    return {"name": name, "state": "absent", "reason": "", "nodes": [], "ends": ends}
