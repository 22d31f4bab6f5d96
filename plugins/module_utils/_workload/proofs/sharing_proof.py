# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proof of sharing: one pod for each share of a node, all at once, on the right devices; one more waits."""

from __future__ import annotations

import collections
import typing as t
from dataclasses import replace

from ..._core.errors import NotReadyError
from ..._core.objects import KubeObject, Snapshot, name, number_of
from ..._core.readiness import Grace, Readiness, pending, ready
from ..._nodes import devices
from ..._nodes.node import is_ready
from .. import judge, pods as workload_pods
from ..options import GpuWorkloadParams, SharingProofParams
from ..pods import has_ended, phase
from ..programs.devices import uuids

APART, DEVICE, MORE = "WORK-SHARE-APART", "WORK-SHARE-DEVICE", "WORK-SHARE-MORE"
# Why the node or the cluster ends a pod that did nothing wrong.
_FROM_OUTSIDE: t.Final = ("Preempting", "Evicted", "NodeShutdown", "Terminated", "DeadlineExceeded")


class Stop(t.NamedTuple):
    """Why a proof ends early. code: empty if the sharing is merely not proven. why: a clause."""

    code: str
    why: str


class Place(t.NamedTuple):
    """The node of a proof. shares: how many pods it takes, by resource."""

    node: KubeObject
    shares: dict[str, int]


class Shares(t.NamedTuple):
    """What is proven about one resource. pods: names. refused: why the scheduler refused one more pod."""

    resource: str
    replicas: int
    pods: list[str]
    uuids: dict[str, int]
    refused: str

    def as_result(self, seconds: float) -> dict[str, t.Any]:
        """Return the entry of the module's result. seconds: for which all pods ran."""
        return {
            "resource": self.resource,
            "replicas": self.replicas,
            "shares": len(self.pods),
            "devices": len(self.uuids),
            "uuids": sorted(self.uuids),
            "overlap_seconds": round(seconds, 1),
            "refused": self.refused,
        }


def shares(node: KubeObject, pool: SharingProofParams) -> dict[str, int] | str:
    """Return how many pods the node takes, by resource; why it takes none, as a clause, otherwise."""
    if (node.get("spec") or {}).get("unschedulable") or not is_ready(node):
        return f"node {name(node)} is not ready or not schedulable"
    found = {one: devices.offered(node, one) for one in pool.resources}
    if lacking := [one for one, number in found.items() if number < 1]:
        return f"node {name(node)} offers no {lacking[0]}"
    return found


def key(pool: SharingProofParams, place: Place) -> str:
    """Return what a proof holds for: the sharing of the pool, and the driver and the devices of its node."""
    offers = ",".join(f"{one}={number}" for one, number in sorted(place.shares.items()))
    model = devices.product(place.node) or "unknown"
    driver = devices.driver_version(place.node) or "unknown"
    return f"replicas={pool.replicas} shares={offers} product={model} driver={driver}"


def workload(
    params: GpuWorkloadParams,
    pool: SharingProofParams,
    shares: dict[str, int],
    seconds: int,
    claims: bool = False,
) -> GpuWorkloadParams:
    """Return the parameters of the validation pods of a proof, which run until they are deleted.

    seconds: after which they end by themselves.
    """
    return replace(
        params,
        node_selector={str(one): str(value) for one, value in pool.node_selector.items()},
        tolerations=pool.tolerations,
        expected=shares,
        claims=claims,
        benchmark="nvidia_smi",
        image=pool.image or params.image,
        hold=seconds,
    )


def one_more(given: GpuWorkloadParams, place: Place, mark: workload_pods.Mark) -> dict[str, KubeObject]:
    """Return a pod for which the node has no share, by its resource."""
    host = workload_pods.host_of(place.node)
    return {
        resource: workload_pods.pod(given, {resource: 1}, f"one-more-{mark.name}-{index}", mark, host)
        for index, resource in enumerate(sorted(place.shares))
    }


def resource_of(pod: KubeObject, place: Place) -> str:
    """Return the resource of which the pod requests a share."""
    limits = pod["spec"]["containers"][0]["resources"]["limits"]
    return next(one for one in place.shares if one in limits)


class Together:
    """A judge that is ready once the pods of these names have run together, or when they never will.

    resources: what they request. clock: monotonic seconds. hold: for how many of them they have to run.
    grace: for how many of them a pod may be unschedulable. since: since when all have been seen running.
    stop: why they do not run together.
    """

    def __init__(
        self,
        names: t.Sequence[str],
        resources: t.Collection[str],
        clock: t.Callable[[], float],
        hold: float,
        grace: float,
    ) -> None:
        self._names, self._resources, self._clock, self._hold = names, resources, clock, hold
        self._grace = Grace(clock, grace, judge.PASSING)
        self.since: float | None = None
        self.stop: Stop | None = None

    def __call__(self, snapshot: Snapshot) -> Readiness:
        self.stop = interrupted(self._names, snapshot["pods"]) or self._stuck(snapshot["pods"])
        if self.stop:
            return ready("Over", self.stop.why)
        running = sum(phase(one) == "Running" for one in snapshot["pods"] if name(one) in self._names)
        if running < len(self._names):
            self.since = None
            text = f"{running} of {number_of(len(self._names), 'pod')} run"
            return pending("Starting", text, code=APART)
        self.since = self._clock() if self.since is None else self.since
        if self._clock() - self.since < self._hold:
            return pending("Holding", f"all {len(self._names)} pods run", code=APART)
        return ready("Together", f"all {len(self._names)} pods ran together")

    def _stuck(self, pods: t.Sequence[KubeObject]) -> Stop | None:
        """Return why a pod does not start, if that lasts for longer than the grace."""
        parts = [judge.judge_pod(one) for one in sorted(pods, key=name) if name(one) in self._names]
        failed = next((one for one in self._grace.harden(parts) if one.is_failed), None)
        if failed is None:
            return None
        is_short = any(f"Insufficient {one}" in failed.message for one in self._resources)
        return Stop(APART if is_short else "", failed.message)


def interrupted(names: t.Sequence[str], pods: t.Iterable[KubeObject]) -> Stop | None:
    """Return why the pods of these names do not all run any more: one is gone, or has ended."""
    there = {name(one): one for one in pods}
    for object_name in names:
        one = there.get(object_name)
        if one is None or one["metadata"].get("deletionTimestamp"):
            return Stop("", f"pod {object_name} was deleted meanwhile")
        if has_ended(one):
            status = one.get("status", {})
            reason = status.get("reason") or f"exit code {judge.exit_code(one)}"
            text = f": {status['message']}" if status.get("message") else ""
            code = "" if reason in _FROM_OUTSIDE else APART
            return Stop(code, f"pod {object_name} ended while the others ran ({reason}){text}")
    return None


class Refused:
    """A judge that is ready once the scheduler has judged these pods, or when the grace is over.

    names: of the pods. answers: what the scheduler says about each. placed: those that got a node.
    """

    def __init__(self, names: t.Collection[str], clock: t.Callable[[], float], grace: float) -> None:
        self._names, self._clock, self._end = names, clock, clock() + grace
        self.answers: dict[str, str] = {}
        self.placed: list[str] = []

    def __call__(self, snapshot: Snapshot) -> Readiness:
        mine = [one for one in snapshot["pods"] if name(one) in self._names]
        self.placed = sorted(name(one) for one in mine if one["spec"].get("nodeName"))
        self.answers = {name(one): " ".join(said) for one in mine if (said := judge.refusals(one))}
        late = set(self._names) - set(self.placed) - set(self.answers)
        if late and self._clock() < self._end:
            return pending("NotScheduled", "the scheduler has not judged one pod more than the shares")
        return ready("Judged", "the scheduler has judged one pod more than the shares")


def of_more(more: t.Mapping[str, KubeObject], seen: Refused, place: Place) -> Stop | None:
    """Return why it is not proven that the node takes no pod more. more: the pods too many, by resource."""
    for resource, pod in more.items():
        text = seen.answers.get(name(pod), "")
        if name(pod) in seen.placed:
            number = place.shares[resource]
            why = f"one more pod ran, although {number_of(number, 'pod')} held all {resource}"
            return Stop(MORE, f"{why} of node {name(place.node)}")
        if f"Insufficient {resource}" not in text:
            why = f"the scheduler did not refuse one more pod for {resource}"
            return Stop("", f"{why} ({text or 'no answer'})")
    return None


def counts(logs: t.Mapping[str, str]) -> dict[str, int]:
    """Return how many pods saw each device, by its UUID. logs: by the name of the pod."""
    return dict(collections.Counter(one for log in logs.values() for one in uuids(log)))


def of_devices(found: Shares, place: Place) -> Stop | None:
    """Return what is wrong with the devices that the pods saw, None if each has its number of pods."""
    wrong = {one: number for one, number in sorted(found.uuids.items()) if number != found.replicas}
    if not wrong:
        return None
    seen = ", ".join(f"{one} ({number_of(number, 'pod')})" for one, number in list(wrong.items())[:4])
    return Stop(
        DEVICE,
        f"{number_of(len(found.pods), 'pod')} with {found.resource} on node {name(place.node)} ran on "
        f"{number_of(len(found.uuids), 'device')}, each of which should have "
        f"{number_of(found.replicas, 'pod')}: {seen}",
    )


def failure(pool: SharingProofParams, node: str, stop: Stop) -> NotReadyError:
    """Return the error for a pool whose sharing is disproved."""
    return NotReadyError(stop.code, pool=pool.name, node=node, why=stop.why)
