# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Validation on nodes: who holds their devices, pods in, results out; whatever happens, the pods go away again."""

from __future__ import annotations

import secrets
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    ForbiddenError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import selector
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind, known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import claims
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import (
    failures,
    pods as workload_pods,
    verdict,
)

Data = dict[str, t.Any]
POD: t.Final = known("Pod")
CLAIM: t.Final = known("ResourceClaim")
SLICE: t.Final = known("ResourceSlice")
TEMPLATE: t.Final = known("ResourceClaimTemplate")
# In the names of pods that are only foreseen, so that whoever looks twice sees the same.
_NO_RUN: t.Final = "dryrun"


def nodes(api: Api, params: Data) -> list[Data]:
    """The nodes that are selected; where pods claim devices, with what their ResourceSlices offer as allocatable."""
    found = workload_pods.selected(
        api.list(known("Node"), labels=selector(params["node_selector"])), params["node_selector"]
    )
    if not params["claims"] or (api.check_mode and not api.served(SLICE)):
        return found
    slices = api.list(SLICE)
    return [claims.offering(node, slices) for node in found]


def check_free(api: Api, params: Data, due: t.Sequence[Data]) -> None:
    """Devices that other people's pods hold are no fault of the node."""
    if params["claims"]:
        others = [claim for claim in api.list(CLAIM) if not workload_pods.is_ours(claim, params)]
        held = claims.held(others, api.list(SLICE))
    else:
        on_node = {
            name: api.list(POD, fields=f"spec.nodeName={name}")
            for name in (node["metadata"]["name"] for node in due)
        }
        held = {
            node["metadata"]["name"]: workload_pods.requests(node, on_node[node["metadata"]["name"]], params)
            for node in due
        }
    failures.check_holders(workload_pods.holders(due, held, params))


def foresee(api: Api, params: Data, due: list[Data]) -> dict[str, list[Data]]:
    """The pods as the API server's dry run, once there is a namespace to ask about."""
    there = api.get(known("Namespace"), params["namespace"])
    try:
        for pod in workload_pods.pods(params, due, _NO_RUN) if there else []:
            api.create(pod)
    except ForbiddenError as exc:
        raise failures.quota(exc, params["namespace"]) from exc
    return {}


def carry_out(api: Api, params: Data, due: list[Data]) -> dict[str, list[Data]]:
    namespace, mark = params["namespace"], secrets.token_hex(3)
    pods = workload_pods.pods(params, due, mark)
    clean(api, params, workload_pods.leftovers(api.list(POD, namespace), params, due))
    api.wait_wanted = True
    api.wait(
        {"accounts": Query(known("ServiceAccount"), namespace, "default")},
        verdict.judge_account,
        "validation namespace",
    )
    try:
        for probe in workload_pods.probes(params, due, mark):
            api.dry_run_create(probe)
        if params["claims"]:
            api.create(workload_pods.template(params, mark))
        for pod in pods:
            api.create(pod)
        queries = {"pods": Query(POD, namespace, labels=f"{workload_pods.RUN_LABEL}={mark}")}
        ended = api.wait(queries, verdict.Judge(len(pods), params["grace"], api.clock), "validation")["pods"]
        logs = [api.log(namespace, pod["metadata"]["name"]) if verdict.has_log(pod) else "" for pod in ended]
        return verdict.by_node(due, ended, logs, params["benchmark"])
    except ForbiddenError as exc:
        raise failures.quota(exc, namespace) from exc
    finally:
        clean(api, params, pods)


def clean(api: Api, params: Data, pods: t.Sequence[Data]) -> None:
    for pod in pods:
        _take_away(api, POD, pod["metadata"]["name"], params["namespace"], grace=1)
    if params["claims"]:
        for mark in sorted({pod["metadata"]["labels"][workload_pods.RUN_LABEL] for pod in pods}):
            _take_away(api, TEMPLATE, workload_pods.template_name(mark), params["namespace"])


def _take_away(api: Api, kind: Kind, name: str, namespace: str, grace: int | None = None) -> None:
    try:
        api.delete(kind, name, namespace, wait=False, grace=grace)
    except AcceleratorError as exc:
        api.warn(f"{kind.kind} {namespace}/{name} could not be deleted: {exc.message}")
