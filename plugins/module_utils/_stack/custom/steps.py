# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of backend custom: an object of any operator, judged by the user's expressions and by the nodes."""

from __future__ import annotations

import contextlib
import typing as t

from ..._core.errors import KindNotServedError, NotReadyError, WaitTimeoutError
from ..._core.ownership import owned
from ..._frame.adopt_or_apply import adopt_or_apply, as_result, live_object, remove
from ..._kube.client import Api, Query
from ..._nodes.pool_nodes import check_pools
from ..params import StackParams
from ..steps import ask_change, nodes_query
from . import judge as custom_judge, manifest as custom_manifest

# The definition has both.
NAME: t.Final = ""
NAMESPACE: t.Final = ""


def check(params: StackParams) -> None:
    custom_manifest.check(params)
    check_pools(params.pools)


def present(api: Api, params: StackParams) -> dict[str, t.Any]:
    judge, definition = custom_judge.Judge(params, api.clock), (params.custom or {})["definition"]
    try:
        kind = api.resolve(definition["apiVersion"], definition["kind"])
    except KindNotServedError:
        if not api.check_mode:
            raise
        api.apply(custom_manifest.build(params, bool(params.namespace)))
        return {**judge.summarize({"objects": [], "nodes": []}), **as_result(None)}
    wanted = custom_manifest.build(params, kind.namespaced)
    live = live_object(api, kind, wanted)
    ends = ask_change(api, params, live, wanted)
    foreign = adopt_or_apply(api, kind, wanted, params.adopt, live)
    queries = {"objects": Query(kind, wanted["metadata"].get("namespace"), params.name)}
    if params.pools:
        queries["nodes"] = nodes_query(params.pools)
    try:
        snapshot = api.wait(queries, judge, f"{kind.kind} {params.name}", params.settle)
    except (NotReadyError, WaitTimeoutError) as exc:
        failed = exc.code if isinstance(exc, NotReadyError) else ""
        if foreign:
            foreign.blame(exc, {"GPU-CR-": ("spec.",), "GPU-ALLOC": ("spec.",)})
        exc.facts["special_resource"] = {**judge.summarize(judge.seen, failed), **as_result(foreign)}
        raise
    return {**judge.summarize(snapshot), **as_result(foreign), "ends": ends}


def absent(api: Api, params: StackParams) -> dict[str, t.Any]:
    definition = (params.custom or {})["definition"]
    ends: list[dict[str, t.Any]] = []
    with contextlib.suppress(KindNotServedError):
        kind = api.resolve(definition["apiVersion"], definition["kind"])
        namespace = params.namespace or None if kind.namespaced else None
        live = api.get(kind, params.name, namespace)
        if owned(live):
            ends = ask_change(api, params, live, None)
        remove(api, kind, params.name, namespace)
    gone = {"name": params.name, "state": "absent", "reason": "", "message": "", "nodes": []}
    return {**gone, "ends": ends}
