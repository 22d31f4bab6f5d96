# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Steps of the module gpu_workload: run pods on the nodes, read their results, and always delete them."""

from __future__ import annotations

import secrets
import typing as t

from .._core.errors import AcceleratorError, ForbiddenError
from .._core.objects import KubeObject
from .._core.ownership import owned, selector
from .._kube.client import Api, Query
from .._kube.kinds import Kind, known
from .._nodes import dra
from . import fingerprints, judge, obstacles, pods as workload_pods
from .pods import GpuWorkloadParams

POD: t.Final = known("Pod")
CLAIM: t.Final = known("ResourceClaim")
SLICE: t.Final = known("ResourceSlice")
TEMPLATE: t.Final = known("ResourceClaimTemplate")
NAMESPACE: t.Final = known("Namespace")
# Part of the names of predicted pods: each run in check mode predicts the same ones.
_NO_RUN: t.Final = "dryrun"


def absent(api: Api, params: GpuWorkloadParams) -> dict[str, t.Any]:
    """Delete the validation namespace if this collection created it, and return an empty result."""
    obstacles.check(params)
    api.delete(NAMESPACE, params["namespace"])
    return {"workload": judge.summarize([], [], {}, params)}


def present(api: Api, params: GpuWorkloadParams) -> dict[str, t.Any]:
    """Validate the nodes that changed since their last validation, and return the results of all nodes.

    Raises NotReadyError if nodes or devices are missing, or if a validation failed.
    """
    obstacles.check(params)
    found = nodes(api, params)
    if problem := obstacles.problem(found, params):
        if not api.check_mode:
            raise problem
        api.warn(f"{problem.message} In check mode the earlier stages are only predicted.")
        found = []
    memory = api.get(known("ConfigMap"), fingerprints.NAME, params["namespace"])
    due = fingerprints.changed(found, params["benchmark"], memory, params["force"])
    if not due:
        return {"workload": judge.summarize(found, due, {}, params)}
    ran = _validate(api, params, due)
    wrong = judge.complaints_by_node(due, ran)
    good = [node for node in due if node["metadata"]["name"] not in wrong]
    existing = api.list(known("Node"), metadata_only=True)
    api.apply(fingerprints.build(params, memory, good, existing))
    facts = {"workload": judge.summarize(found, due, ran, params)}
    if wrong:
        raise judge.failure([part for parts in wrong.values() for part in parts], facts)
    return facts


def _validate(
    api: Api, params: GpuWorkloadParams, due: t.Sequence[KubeObject]
) -> dict[str, list[judge.PodResult]]:
    check_free(api, params, due)
    place = api.get(NAMESPACE, params["namespace"])
    if place is None or owned(place):
        api.apply(workload_pods.namespace(params["namespace"]))
    if api.check_mode:
        predict(api, params, due)
        return {}
    return run(api, params, due)


def nodes(api: Api, params: GpuWorkloadParams) -> list[KubeObject]:
    """Return the selected nodes, sorted by name.

    With claims, allocatable is what their ResourceSlices offer.
    """
    wanted = params["node_selector"] or {}
    found = workload_pods.selected(api.list(known("Node"), labels=selector(wanted)), wanted)
    if not params["claims"] or (api.check_mode and not api.served(SLICE)):
        return found
    slices = api.list(SLICE)
    return [dra.offering(node, slices) for node in found]


def check_free(api: Api, params: GpuWorkloadParams, due: t.Sequence[KubeObject]) -> None:
    """Raise NotReadyError if other people's pods hold devices that the validation needs."""
    if params["claims"]:
        others = [claim for claim in api.list(CLAIM) if not obstacles.is_ours(claim, params)]
        held = dra.held_by_pods(others, api.list(SLICE))
    else:
        names = [node["metadata"]["name"] for node in due]
        on_node = {name: api.list(POD, fields=f"spec.nodeName={name}") for name in names}
        held = {
            name: obstacles.held_by_others(node, on_node[name], params)
            for name, node in zip(names, due, strict=True)
        }
    obstacles.check_holders(obstacles.holder_lines(due, held, params))


def predict(api: Api, params: GpuWorkloadParams, due: t.Sequence[KubeObject]) -> None:
    """Create the pods as a dry run of check mode; without the namespace the API server cannot judge them."""
    there = api.get(NAMESPACE, params["namespace"])
    try:
        for pod in workload_pods.pods(params, due, _NO_RUN) if there else []:
            api.create(pod)
    except ForbiddenError as exc:
        raise obstacles.quota(exc, params["namespace"]) from exc


def run(api: Api, params: GpuWorkloadParams, due: t.Sequence[KubeObject]) -> dict[str, list[judge.PodResult]]:
    """Run the pods until they have ended, delete them, and return their results by the name of the node."""
    namespace, mark = params["namespace"], secrets.token_hex(3)
    pods = workload_pods.pods(params, due, mark)
    clean(api, params, obstacles.leftovers(api.list(POD, namespace), params, due))
    api.wait_wanted = True
    accounts = {"accounts": Query(known("ServiceAccount"), namespace, "default")}
    api.wait(accounts, judge.judge_account, "validation namespace")
    try:
        for probe in workload_pods.probes(params, due, mark):
            api.dry_run_create(probe)
        if params["claims"]:
            api.create(workload_pods.template(params, mark))
        for pod in pods:
            api.create(pod)
        queries = {"pods": Query(POD, namespace, labels=f"{workload_pods.RUN_LABEL}={mark}")}
        ended = api.wait(queries, judge.Judge(len(pods), params["grace"], api.clock), "validation")["pods"]
        logs = [api.log(namespace, pod["metadata"]["name"]) if judge.has_log(pod) else "" for pod in ended]
        return judge.by_node(due, ended, logs, params["benchmark"])
    except ForbiddenError as exc:
        raise obstacles.quota(exc, namespace) from exc
    finally:
        clean(api, params, pods)


def clean(api: Api, params: GpuWorkloadParams, pods: t.Sequence[KubeObject]) -> None:
    """Delete the pods, and with claims the templates of their runs. A failed deletion is only a warning."""
    for pod in pods:
        _delete(api, POD, pod["metadata"]["name"], params["namespace"], grace=1)
    if params["claims"]:
        for mark in sorted({pod["metadata"]["labels"][workload_pods.RUN_LABEL] for pod in pods}):
            _delete(api, TEMPLATE, workload_pods.template_name(mark), params["namespace"])


def _delete(api: Api, kind: Kind, name: str, namespace: str, grace: int | None = None) -> None:
    try:
        api.delete(kind, name, namespace, wait=False, grace=grace)
    except AcceleratorError as exc:
        api.warn(f"{kind.kind} {namespace}/{name} could not be deleted: {exc.message}")
