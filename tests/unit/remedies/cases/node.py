"""The variables of drains, replacements and joining machines end their failures."""

from __future__ import annotations

import datetime
import typing as t
from unittest import mock

from unit.machines.test_csr import HOST, NO_NODE, client, machine as joining_machine, serving
from unit.nodes.builders import pod as drained_pod
from unit.nodes.test_drain_steps import Node as DrainedNode
from unit.remedies.case import Case, Cases, Options, checked, ensured, failure
from unit.remedies.cases.repair import room
from unit.repair.node_in_memory import PLACE, pod

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Readiness, ready
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import removal as hooks
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import joining, removal
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.drain_judge import Rules

NODE, POOL = "gpu_node", "gpu_machineset"
GPU: t.Final = [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]
BUSY: t.Final = pod("train-0", containers=GPU)
WITH_DATA: t.Final = pod("web-0", volumes=[{"name": "d", "emptyDir": {}}])


def replace(options: Options, *pods: dict[str, t.Any], created: str = "") -> str | None:
    """Replace the machine of a node with these pods, in check mode."""
    place = room()
    for one in pods:
        place.server.put(one)
    if created:
        (machine,) = place.all("Machine")
        machine["metadata"]["creationTimestamp"] = created
        place.server.put(machine)
    given = {"name": "gpu-0", "state": "replaced", **options}
    return ensured(NODE, place.api(check_mode=True), given)


def unmanaged() -> dict[str, t.Any]:
    found = pod("alone-0")
    del found["metadata"]["ownerReferences"]
    return found


def young(options: Options) -> str | None:
    """Replace a machine that was made just now, by the name of its node."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return replace(options, created=now)


def new_work(options: Options) -> str | None:
    """Drain a node to which a pod with a GPU comes after the check, and which ends by itself."""
    node = DrainedNode(yields_after=30.0, wait_timeout=600.0)
    job = drained_pod("job", gpus=1)
    node.later = [(10.0, "late", [job]), (20.0, "late", [])]
    rules = Rules.of(checked(NODE, {"name": "n1", "state": "drained", **options}))
    with mock.patch.object(drain_steps, "evict", lambda api, pod: api.evict(pod)):
        return failure(
            lambda: drain_steps.drain(t.cast(Api, node), {"n1"}, rules, "Node n1 is to be drained")
        )


def held_by_hook(options: Options) -> str | None:
    """Let go a deleted Machine whose node has a pod with a GPU."""
    place = room()
    place.server.put(BUSY)
    (machine,) = place.all("Machine")
    machine["metadata"]["deletionTimestamp"] = "2026-11-21T00:00:00Z"
    machine["spec"]["lifecycleHooks"] = {"preDrain": [hooks.HOOK]}
    machine["status"] = {"phase": "Deleting", "nodeRef": {"name": "gpu-0"}}
    api = place.api(check_mode=True)
    params = t.cast(t.Any, {"namespace": PLACE, "on_busy": "fail", **options})
    return failure(lambda: removal.let_go(api, [machine], params))


class Joins:
    """The part of an Api that a wait for a machine uses: its node joins once its requests are approved."""

    def __init__(self) -> None:
        self.approved: set[str] = set()

    def list(self, *_query: object, **_more: object) -> list[dict[str, t.Any]]:
        return [serving() if "csr-a" in self.approved else client()]

    def get(self, *_which: object) -> None:
        return

    def progress(self, _line: str) -> None:
        return

    def merge_patch(self, _kind: object, name: str, *_more: object) -> None:
        self.approved.add(name)

    def wait(self, queries: t.Mapping[str, object], judge: t.Any, _stage: str) -> dict[str, t.Any]:
        joined = ("Running", HOST) if self.approved else ("Provisioned", "")
        snapshot = {"machines": [joining_machine(*joined)], **{key: self.list() for key in queries}}
        found = judge(snapshot)
        if not found.is_ready:
            error = NotReadyError if found.is_failed else WaitTimeoutError
            raise error(found.code, found.message, found.remedy, found.details)
        return snapshot

    def judge(self, _snapshot: object) -> Readiness:
        return ready() if self.approved else NO_NODE


def joins(options: Options) -> str | None:
    """Wait for a machine whose certificate requests nobody else approves."""
    cluster = Joins()
    work = joining.Joining(t.cast(Api, cluster), bool(options.get("approve_csrs")))
    return failure(lambda: work.wait({}, cluster.judge, lambda _machine: True, "pool t4"))


CASES: t.Final[Cases] = {
    ("MACH-CSR-PENDING", "gpu_approve_csrs"): Case(NODE, joins),
    ("MACH-CSR-PENDING", "gpu_node_pool_approve_csrs"): Case(POOL, joins),
    ("MACH-HOOK", "gpu_on_busy"): Case(POOL, held_by_hook, where="gpu_node_pool"),
    ("NODE-BUSY", "gpu_on_busy"): Case(NODE, lambda options: replace(options, BUSY)),
    ("NODE-EMPTYDIR", "gpu_delete_emptydir"): Case(NODE, lambda options: replace(options, WITH_DATA)),
    ("NODE-NEW-WORK", "gpu_on_busy"): Case(NODE, new_work),
    ("NODE-UNMANAGED", "gpu_evict_unmanaged"): Case(NODE, lambda options: replace(options, unmanaged())),
    ("NODE-YOUNG", "gpu_machine_uid"): Case(NODE, young, "uid-m-0"),
}
