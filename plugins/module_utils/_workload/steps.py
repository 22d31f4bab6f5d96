# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Steps of the module gpu_workload: which nodes are due, validate the free ones, and remember them."""

from __future__ import annotations

import typing as t

from .._core.errors import ApiError
from .._core.objects import KubeObject, number_of
from .._core.ownership import selector
from .._kube.client import Api
from .._kube.kinds import known
from .._kube.session import Change
from .._nodes import dra
from . import fingerprints, judge, namespace, obstacles, pods as workload_pods
from .pods import GpuWorkloadParams
from .run_steps import SLICE, look, run

NAMESPACE: t.Final = known("Namespace")
# Part of the names of predicted pods: each run in check mode predicts the same ones.
_NO_RUN: t.Final = "dryrun"
# Check mode shows the pods of more nodes than this as one change.
MANY: t.Final = 20


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
    due = fingerprints.changed(found, params["benchmark"], _memory(api, params), params["force"])
    if not due:
        return {"workload": judge.summarize(found, due, {}, params)}
    left, busy = look(api, params, due)
    if warning := obstacles.check_busy(busy, len(due), params["strict"]):
        api.warn(warning)
    free = [node for node in due if node["metadata"]["name"] not in busy]
    ran = _validate(api, params, free, left) if free else {}
    facts = {"workload": judge.summarize(found, free, ran, params, busy)}
    wrong = judge.complaints_by_node(free, ran)
    good = [node for node in free if node["metadata"]["name"] not in wrong]
    if good:
        existing = api.list(known("Node"), metadata_only=True)
        memory = _memory(api, params)  # another run may have validated other nodes meanwhile
        for one in fingerprints.build(params, memory, good, existing):
            api.apply(one, live=memory.maps.get(one["metadata"]["name"]))
    if wrong:
        raise judge.failure([part for parts in wrong.values() for part in parts], facts)
    return facts


def _memory(api: Api, params: GpuWorkloadParams) -> fingerprints.Memory:
    return fingerprints.read(lambda name: api.get(known("ConfigMap"), name, params["namespace"]))


def _validate(
    api: Api, params: GpuWorkloadParams, due: t.Sequence[KubeObject], left: t.Sequence[KubeObject]
) -> dict[str, list[judge.PodResult]]:
    place = api.get(NAMESPACE, params["namespace"])
    if place is None or namespace.is_made_for_validation(place):
        api.apply(namespace.build(params["namespace"]))
    if api.check_mode:
        predict(api, params, due)
        return {}
    return run(api, params, due, left)


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


def predict(api: Api, params: GpuWorkloadParams, due: t.Sequence[KubeObject]) -> None:
    """Create the pods as a dry run of check mode; without the namespace the API server cannot judge them."""
    there = api.get(NAMESPACE, params["namespace"])
    mark = workload_pods.Mark(_NO_RUN, _NO_RUN, int(params["wait_timeout"]))
    try:
        made = workload_pods.pods(params, due, mark) if there else []
        if len(due) > MANY:
            _predict_sum(api, params, due, mark, len(made))
            return
        for pod in made:
            api.create(pod)
    except ApiError as exc:
        raise obstacles.refused(exc, params["namespace"]) from exc


def _predict_sum(
    api: Api, params: GpuWorkloadParams, due: t.Sequence[KubeObject], mark: workload_pods.Mark, pods: int
) -> None:
    """Predict the pods of many nodes as one change. The dry run of one node stands for the others."""
    for pod in [*workload_pods.probes(params, due, mark), *workload_pods.pods(params, due[:1], mark)]:
        api.dry_run_create(pod)
    selected = selector(params["node_selector"] or {})
    after: KubeObject = {"pods": pods, "nodes": len(due), "selector": selected}
    title = (
        f"Pod {params['namespace']}: {number_of(pods, 'pod')} on {number_of(len(due), 'node')} of {selected}"
    )
    api.changes.append(Change(title, {}, after))
