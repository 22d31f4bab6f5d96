"""The machine controller, EC2 and nodelink as stand-ins: from a Machine to a Node and back, and the two ways in which AWS refuses."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.machine_api.machines import Machines
from openshift_sandbox.stand_ins.machine_api.nodelink import Nodelink, handed_over

NAMESPACE = "openshift-machine-api"
API = "machine.openshift.io/v1beta1"
TAINT = {"key": "nvidia.com/gpu", "value": "training", "effect": "NoSchedule"}
CLUSTER = {
    "platform": "AWS",
    "region": "us-east-2",
    "zones": ["us-east-2a"],
    "infrastructure_name": "demo-x7k2p",
    "version": "4.22.5",
    "kernel": "5.14.0-570.12.1.el9_6.x86_64",
    "ostree_version": "9.8.20260801-0",
    "kubelet": "v1.35.4",
}


def make(platform: str = "AWS", **scenario: t.Any) -> World:
    world = World(Machines(), Nodelink(), cluster=CLUSTER, **scenario)
    infrastructure = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "Infrastructure",
        "metadata": {"name": "cluster"},
    }
    world.api.create(infrastructure | {"status": {"platformStatus": {"type": platform}}})
    return world


def add(
    world: World,
    name: str = "gpu-1",
    instance_type: str = "g4dn.xlarge",
    zone: str = "us-east-2a",
    **spec: t.Any,
) -> None:
    provider = {
        "value": {"instanceType": instance_type, "placement": {"availabilityZone": zone, "region": zone[:-1]}}
    }
    metadata = {"name": name, "namespace": NAMESPACE}
    world.api.create(
        {
            "apiVersion": API,
            "kind": "Machine",
            "metadata": metadata,
            "spec": {"providerSpec": provider} | spec,
        }
    )


def machine(world: World, name: str = "gpu-1") -> dict[str, t.Any]:
    return world.api.get("Machine", name, NAMESPACE)


def creation(obj: dict[str, t.Any]) -> dict[str, t.Any]:
    [found] = [
        one for one in obj["status"]["providerStatus"]["conditions"] if one["type"] == "MachineCreation"
    ]
    return t.cast(dict[str, t.Any], found)


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


class TestBecomingANode:
    def test_phases_in_their_order(self) -> None:
        world, phases = make(), []
        add(world)
        for _time in range(12):
            world.settle()
            phases.append(machine(world)["status"]["phase"])
            world.time += 0.25
        assert list(dict.fromkeys(phases)) == ["Provisioning", "Provisioned", "Running"]

    def test_a_running_machine_says_where_its_instance_is(self) -> None:
        world = make()
        add(world)
        world.settle(3)
        found = machine(world)
        assert found["metadata"]["finalizers"] == ["machine.machine.openshift.io"]
        assert found["metadata"]["labels"] == {
            "machine.openshift.io/region": "us-east-2",
            "machine.openshift.io/zone": "us-east-2a",
            "machine.openshift.io/instance-type": "g4dn.xlarge",
        }
        assert found["metadata"]["annotations"] == {"machine.openshift.io/instance-state": "running"}
        instance = found["status"]["providerStatus"]["instanceId"]
        assert instance.startswith("i-0")
        assert found["spec"]["providerID"] == f"aws:///us-east-2a/{instance}"
        assert (creation(found)["status"], creation(found)["reason"]) == ("True", "MachineCreationSucceeded")
        assert {one["type"]: one["status"] for one in found["status"]["conditions"]} == {
            "Drainable": "True",
            "InstanceExists": "True",
            "Terminable": "True",
        }

    def test_the_node_gets_the_machine_s_labels_taints_and_name(self) -> None:
        world = make()
        add(world, metadata={"labels": {"team": "ml"}}, taints=[TAINT])
        world.settle(3)
        found = machine(world)
        node = world.api.get("Node", found["status"]["nodeRef"]["name"])
        address = found["status"]["addresses"][0]["address"]
        assert address.startswith("10.0.")
        assert node["metadata"]["name"] == f"ip-{address.replace('.', '-')}.us-east-2.compute.internal"
        assert node["metadata"]["labels"]["team"] == "ml"
        assert node["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "g4dn.xlarge"
        assert node["metadata"]["annotations"]["machine.openshift.io/machine"] == f"{NAMESPACE}/gpu-1"
        assert node["spec"] == {"providerID": found["spec"]["providerID"], "taints": [TAINT]}

    def test_two_machines_have_two_addresses(self) -> None:
        world = make()
        for name in ("gpu-1", "gpu-2", "gpu-3"):
            add(world, name)
        world.settle(3)
        assert len(world.api.all("Node")) == 3

    def test_a_second_look_writes_nothing(self) -> None:
        world = make()
        add(world, metadata={"labels": {"team": "ml"}}, taints=[TAINT])
        world.settle(3)
        before = len(world.api.writes)
        world.settle(10)
        assert len(world.api.writes) == before

    def test_no_machine_moves_on_a_platform_without_a_stand_in(self) -> None:
        world = make(platform="None")
        add(world)
        world.settle(3)
        assert "status" not in machine(world)

    @pytest.mark.parametrize(
        ("known", "changes"),
        [
            ([], {"spec": {"taints": [TAINT]}}),
            (
                [{"key": "other", "effect": "NoExecute"}],
                {"spec": {"taints": [{"key": "other", "effect": "NoExecute"}, TAINT]}},
            ),
            ([TAINT | {"timeAdded": "2026-01-01T00:00:00Z"}], {}),
        ],
    )
    def test_taints_are_added_to_those_of_others(
        self, known: list[dict[str, str]], changes: dict[str, t.Any]
    ) -> None:
        metadata = {
            "name": "n",
            "resourceVersion": "7",
            "labels": {},
            "annotations": {"machine.openshift.io/machine": "a/b"},
        }
        wanted = handed_over(
            {"metadata": {"namespace": "a", "name": "b"}, "spec": {"taints": [TAINT]}},
            {"metadata": metadata, "spec": {"taints": known}},
        )
        assert wanted == (changes | {"metadata": {"resourceVersion": "7"}} if changes else {})


class TestRefusals:
    def test_no_capacity_is_tried_for_ever_and_ends_when_there_is_some(self) -> None:
        shortage = {"type": "no_capacity", "zone": "us-east-2a", "instance_type": "p4d.24xlarge"}
        world = make(troubles=[shortage])
        add(world, instance_type="p4d.24xlarge")
        world.settle(10)
        found = machine(world)
        assert found["status"]["phase"] == "Provisioning"
        assert "errorReason" not in found["status"]
        assert (creation(found)["status"], creation(found)["reason"]) == ("False", "MachineCreationFailed")
        assert creation(found)["message"].startswith(
            "error creating EC2 instance: InsufficientInstanceCapacity: We currently do not have sufficient p4d.24xlarge capacity"
            " in the Availability Zone you requested (us-east-2a)."
        )
        world.scenario.now.troubles.clear()
        world.settle(6)
        assert machine(world)["status"]["phase"] == "Running"
        assert creation(machine(world))["status"] == "True"

    def test_a_shortage_is_of_one_zone_and_type_and_may_leave_some(self) -> None:
        world = make(troubles=[{"type": "no_capacity", "zone": "us-east-2a", "available": 1}])
        add(world, "a-1")
        add(world, "a-2")
        add(world, "b-1", zone="us-east-2b")
        world.settle(4)
        phases = {name: machine(world, name)["status"]["phase"] for name in ("a-1", "a-2", "b-1")}
        assert phases == {"a-1": "Running", "a-2": "Provisioning", "b-1": "Running"}

    @pytest.mark.parametrize(
        ("instance_type", "trouble", "text"),
        [
            (
                "p4d.24xlarge",
                {"type": "quota_exceeded"},
                "You have requested more vCPU capacity than your current vCPU limit of 0 allows",
            ),
            (
                "p5.48xlarge",
                {"type": "unsupported_zone"},
                "Your requested instance type (p5.48xlarge) is not supported in your requested Availability Zone",
            ),
            ("g99.xlarge", {"type": "nothing"}, "Invalid value 'g99.xlarge' for InstanceType"),
        ],
    )
    def test_what_aws_never_grants_fails_for_good(
        self, instance_type: str, trouble: dict[str, str], text: str
    ) -> None:
        world = make(troubles=[trouble])
        add(world, instance_type=instance_type)
        world.settle(3)
        world.scenario.now.troubles.clear()
        world.settle(10)
        status = machine(world)["status"]
        assert (status["phase"], status["errorReason"]) == ("Failed", "InvalidConfiguration")
        assert status["errorMessage"].startswith("error launching instance: ")
        assert text in status["errorMessage"]

    def test_any_other_failure_with_its_own_words(self) -> None:
        world = make(
            troubles=[{"type": "machine_failed", "reason": "CreateError", "message": "out of ideas"}]
        )
        add(world)
        world.settle(3)
        assert (machine(world)["status"]["errorReason"], machine(world)["status"]["errorMessage"]) == (
            "CreateError",
            "out of ideas",
        )

    def test_a_node_that_never_joins_leaves_its_machine_provisioned(self) -> None:
        world = make(troubles=[{"type": "node_never_joins", "zone": "us-east-2a"}])
        add(world)
        world.settle(30)
        assert machine(world)["status"]["phase"] == "Provisioned"
        assert world.api.all("Node") == []

    def test_slow_machines_take_their_time(self) -> None:
        world = make(troubles=[{"type": "slow_machines", "seconds": 10}])
        add(world)
        world.settle(9)
        assert machine(world)["status"]["phase"] == "Provisioning"
        world.settle(15)
        assert machine(world)["status"]["phase"] == "Running"


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
                "Terminate operation currently blocked by: [{Name:wait Owner:somebody} {Name:more Owner:other}]",
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


class TestLosingInstances:
    def running(self, *names: str, **provider: t.Any) -> World:
        world = make()
        for name in names:
            add(world, name)
            body = {"spec": {"providerSpec": {"value": provider}}}
            world.api.patch(API, "machines", name, NAMESPACE, body)
        world.settle(3)
        return world

    def test_a_lost_instance_fails_its_machine(self) -> None:
        world = self.running("gpu-1", "gpu-2")
        world.scenario.now.troubles.append({"type": "instance_lost", "machine": "gpu-1"})
        world.settle(3)
        lost, kept = machine(world)["status"], machine(world, "gpu-2")["status"]
        assert (lost["phase"], lost["errorMessage"], kept["phase"]) == (
            "Failed",
            "can't find created instance",
            "Running",
        )
        [exists] = [one for one in lost["conditions"] if one["type"] == "InstanceExists"]
        assert (exists["status"], exists["reason"], exists["message"]) == (
            "False",
            "InstanceMissing",
            "Instance not found on provider",
        )
        assert [one["metadata"]["name"] for one in world.api.all("Node")] == [kept["nodeRef"]["name"]]

    def test_so_many_and_no_replacement(self) -> None:
        world = self.running("gpu-1", "gpu-2", "gpu-3")
        world.scenario.now.troubles.append({"type": "instance_lost", "zone": "us-east-2a", "count": 2})
        world.settle(3)
        add(world, "gpu-4")
        world.settle(3)
        assert [one["status"]["phase"] for one in world.api.all("Machine")] == [
            "Failed",
            "Failed",
            "Running",
            "Running",
        ]

    def test_a_spot_instance_gets_notice(self) -> None:
        world = self.running("gpu-1", spotMarketOptions={})
        world.scenario.now.troubles.append({"type": "spot_reclaimed"})
        world.settle(2)
        [node] = world.api.all("Node")
        [notice] = [one for one in node["status"]["conditions"] if one["type"] == "Terminating"]
        assert (notice["status"], notice["reason"]) == ("True", "TerminationRequested")
        assert machine(world)["status"]["phase"] == "Running"
        world.settle(6)
        assert machine(world)["status"]["phase"] == "Failed"

    def test_the_spot_market_takes_nothing_else(self) -> None:
        world = self.running("gpu-1")
        world.scenario.now.troubles.append({"type": "spot_reclaimed"})
        world.settle(10)
        assert machine(world)["status"]["phase"] == "Running"

    def test_the_control_plane_is_lost_only_by_name(self) -> None:
        world = self.running("master-0")
        label = {"machine.openshift.io/cluster-api-machine-role": "master"}
        world.api.patch(API, "machines", "master-0", NAMESPACE, {"metadata": {"labels": label}})
        world.scenario.now.troubles.append({"type": "instance_lost"})
        world.settle(3)
        assert machine(world, "master-0")["status"]["phase"] == "Running"
        world.scenario.now.troubles.append({"type": "instance_lost", "machine": "master-0"})
        world.settle(3)
        assert machine(world, "master-0")["status"]["phase"] == "Failed"
