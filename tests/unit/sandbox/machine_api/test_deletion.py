"""How a Machine ends: hooks, drain, instance, Node."""

from __future__ import annotations

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.machine_api.builders import API, NAMESPACE, add, machine, make


def add_pod(world: World, name: str, node: str, owner: str | None = None) -> None:
    references = [{"kind": owner, "name": "x", "uid": "x"}] if owner else []
    metadata = {"name": name, "namespace": "default", "ownerReferences": references}
    world.api.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": {"nodeName": node},
            "status": {"phase": "Running"},
        }
    )


class TestDeletion:
    def delete(self, world: World) -> None:
        world.api.delete(API, "machines", "gpu-1", NAMESPACE)

    def test_drained_then_without_instance_then_without_node(self) -> None:
        world = make()
        add(world)
        world.settle(3)
        node = machine(world)["status"]["nodeRef"]["name"]
        add_pod(world, "workload", node)
        add_pod(world, "plugin", node, owner="DaemonSet")
        self.delete(world)
        world.settle(5)
        assert world.api.all("Machine") == world.api.all("Node") == world.api.all("Pod") == []
        order = [
            write for write in world.api.writes if write[0] in {"POST eviction", "delete", "DELETE plugin"}
        ]
        assert order == [
            ("delete", "Machine", "gpu-1"),
            ("POST eviction", "Pod", "workload"),
            ("delete", "Node", node),
            ("DELETE plugin", "Pod", "plugin"),
        ]

    def test_a_node_that_the_machine_never_named_goes_with_its_instance(self) -> None:
        """The Machine was deleted in the moment in which its node joined. A cloud deletes such a node."""
        world = make()
        add(world)
        world.settle(3)
        self.delete(world)
        world.api.patch(API, "machines", "gpu-1", NAMESPACE, {"status": {"nodeRef": None}}, "status")
        world.settle(5)
        assert world.api.all("Machine") == world.api.all("Node") == []

    def test_a_failed_machine_goes_at_once(self) -> None:
        world = make(troubles=[{"type": "quota_exceeded"}])
        add(world)
        world.settle(3)
        self.delete(world)
        world.settle()
        assert world.api.all("Machine") == []

    def test_an_excluded_machine_is_not_drained(self) -> None:
        world = make()
        add(world)
        world.settle(3)
        world.api.patch(
            API,
            "machines",
            "gpu-1",
            NAMESPACE,
            {"metadata": {"annotations": {"machine.openshift.io/exclude-node-draining": ""}}},
        )
        add_pod(world, "workload", machine(world)["status"]["nodeRef"]["name"])
        self.delete(world)
        world.settle(5)
        assert not [write for write in world.api.writes if write[0] == "POST eviction"]
        assert world.api.all("Machine") == []

    @pytest.mark.parametrize(("stage", "kind"), [("preDrain", "Drainable"), ("preTerminate", "Terminable")])
    def test_a_hook_holds_the_machine(self, stage: str, kind: str) -> None:
        world = make()
        add(world, lifecycleHooks={stage: [{"name": "wait", "owner": "somebody"}]})
        world.settle(3)
        self.delete(world)
        world.settle(5)
        [held] = [one for one in machine(world)["status"]["conditions"] if one["type"] == kind]
        assert (held["status"], held["reason"]) == ("False", "HookPresent")
        world.api.patch(API, "machines", "gpu-1", NAMESPACE, {"spec": {"lifecycleHooks": {stage: []}}})
        world.settle(5)
        assert world.api.all("Machine") == []

    @pytest.mark.parametrize(
        ("stage", "message"),
        [
            (
                "preDrain",
                "Drain operation currently blocked by: [{Name:wait Owner:somebody} {Name:more Owner:other}]",
            ),
            (
                "preTerminate",
                (
                    "Terminate operation currently blocked by: [{Name:wait Owner:somebody} {Name:more "
                    "Owner:other}]"
                ),
            ),
        ],
    )
    def test_hooks_are_told_of_before_anybody_deletes(self, stage: str, message: str) -> None:
        world = make()
        add(
            world,
            lifecycleHooks={
                stage: [{"name": "wait", "owner": "somebody"}, {"name": "more", "owner": "other"}]
            },
        )
        world.settle(3)
        assert message in [one.get("message") for one in machine(world)["status"]["conditions"]]

    def test_a_failed_machine_waits_for_no_hook_before_its_drain(self) -> None:
        world = make(troubles=[{"type": "quota_exceeded"}])
        add(world, lifecycleHooks={"preDrain": [{"name": "wait", "owner": "somebody"}]})
        world.settle(3)
        self.delete(world)
        world.settle(3)
        assert world.api.all("Machine") == []

    def test_a_budget_holds_the_drain_and_events_tell_of_it(self) -> None:
        world = make()
        add(world)
        world.settle(3)
        node = machine(world)["status"]["nodeRef"]["name"]
        add_pod(world, "guarded", node)
        world.api.budgeted = {"guarded"}
        self.delete(world)
        world.settle(8)
        assert machine(world)["status"]["phase"] == "Deleting"
        assert "Drained" not in {one["type"] for one in machine(world)["status"]["conditions"]}
        assert world.api.get("Node", node)["spec"]["unschedulable"] is True
        told = {one["reason"]: one["message"] for one in world.api.all("Event")}
        text = 'error when evicting pods/"guarded" -n "default": global timeout reached: 20s'
        assert told == {
            "DrainProceeds": "Node drain proceeds",
            "DrainRequeued": f"Node drain requeued: {text}",
        }
        world.api.budgeted = set()
        world.settle(10)
        assert world.api.all("Machine") == []

    def test_pauses_between_attempts_grow(self) -> None:
        world = make()
        add(world)
        world.settle(3)
        add_pod(world, "guarded", machine(world)["status"]["nodeRef"]["name"])
        world.api.budgeted = {"guarded"}
        self.delete(world)
        tried = []
        for _time in range(80):
            before = len([write for write in world.api.writes if write[0] == "POST eviction"])
            world.settle()
            tried.append(len([write for write in world.api.writes if write[0] == "POST eviction"]) > before)
            world.time += 0.25
        gaps = [len(part) for part in "".join("x" if one else "." for one in tried).split("x")]
        pauses = [gap for gap in gaps[:-1] if gap > 1]  # within an attempt the budget is asked twice a second
        assert len(pauses) >= 2
        assert pauses == sorted(set(pauses))
