"""The cluster autoscaler's stand-in: what makes it grow a MachineSet, what stops it, and what it says."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.autoscaler import deployment as autoscaler_deployment
from openshift_sandbox.stand_ins.autoscaler import groups
from openshift_sandbox.stand_ins.autoscaler.cluster_autoscaler import ClusterAutoscaler, ClusterAutoscalers
from openshift_sandbox.stand_ins.autoscaler.machine_autoscalers import (
    MachineAutoscalers,
    accelerator_warning,
    upstream_copies,
)
from openshift_sandbox.stand_ins.core.pod_fit import Room, rejections

NAMESPACE = "openshift-machine-api"
MACHINE_API = "machine.openshift.io/v1beta1"
ACCELERATOR = {"cluster-api/accelerator": "nvidia-t4"}
TAINT = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists"}
OPENSHIFT = {
    "machine.openshift.io/vCPU": "4",
    "machine.openshift.io/memoryMb": "16384",
    "machine.openshift.io/GPU": "1",
}
COPIES = {
    "capacity.cluster-autoscaler.kubernetes.io/cpu": "4",
    "capacity.cluster-autoscaler.kubernetes.io/memory": "17179869184",
    "capacity.cluster-autoscaler.kubernetes.io/gpu-count": "1",
    "capacity.cluster-autoscaler.kubernetes.io/gpu-type": "nvidia.com/gpu",
}

Data = dict[str, t.Any]


def machine_set(
    name: str = "gpu-a",
    labels: Data | None = None,
    replicas: int = 0,
    annotations: Data | None = None,
    taints: t.Sequence[Data] = (),
) -> Data:
    spec = {
        "metadata": {"labels": ACCELERATOR if labels is None else labels},
        "taints": list(taints),
        "providerSpec": {"value": {}},
    }
    selected = {"set": name}
    return {
        "apiVersion": MACHINE_API,
        "kind": "MachineSet",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "annotations": OPENSHIFT if annotations is None else annotations,
        },
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": selected},
            "template": {"metadata": {"labels": selected}, "spec": spec},
        },
    }


def machine_autoscaler(target: str = "gpu-a", low: int = 0, high: int = 4) -> Data:
    reference = {"apiVersion": MACHINE_API, "kind": "MachineSet", "name": target}
    metadata = {"name": target, "namespace": NAMESPACE}
    spec = {"minReplicas": low, "maxReplicas": high, "scaleTargetRef": reference}
    return {
        "apiVersion": "autoscaling.openshift.io/v1beta1",
        "kind": "MachineAutoscaler",
        "metadata": metadata,
        "spec": spec,
    }


def pending(name: str = "train-0", gpus: int = 1, **spec: t.Any) -> Data:
    container = {
        "name": "c",
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": str(gpus)}},
    }
    unschedulable = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container]} | spec,
        "status": {"phase": "Pending", "conditions": [unschedulable]},
    }


def node(name: str, gpus: int | None = None, labels: Data | None = None) -> Data:
    capacity = {"cpu": "4", "memory": "16Gi", "pods": "250"} | (
        {} if gpus is None else {"nvidia.com/gpu": str(gpus)}
    )
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"providerID": f"aws:///a/{name}"},
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def machine(name: str, target: str = "gpu-a", **status: t.Any) -> Data:
    owner = {
        "apiVersion": MACHINE_API,
        "kind": "MachineSet",
        "name": target,
        "uid": f"uid-{target}",
        "controller": True,
    }
    metadata = {"name": name, "namespace": NAMESPACE, "labels": {"set": target}, "ownerReferences": [owner]}
    return {
        "apiVersion": MACHINE_API,
        "kind": "Machine",
        "metadata": metadata,
        "spec": {"providerID": f"aws:///a/{name}"},
        "status": status,
    }


def make(*objects: Data, **spec: t.Any) -> World:
    world = World(MachineAutoscalers(), ClusterAutoscalers(), ClusterAutoscaler())
    for obj in objects:
        world.api.create(obj)
    metadata = {"name": "default"}
    world.api.create(
        {
            "apiVersion": "autoscaling.openshift.io/v1",
            "kind": "ClusterAutoscaler",
            "metadata": metadata,
            "spec": spec,
        }
    )
    world.settle()
    available = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
    world.api.patch("apps/v1", "deployments", "cluster-autoscaler-default", NAMESPACE, available, "status")
    world.settle(3)
    return world


def replicas(world: World, name: str = "gpu-a") -> int:
    return t.cast(int, world.api.get("MachineSet", name, NAMESPACE)["spec"]["replicas"])


def events(world: World, reason: str) -> list[str]:
    return sorted(one["message"] for one in world.api.all("Event") if one["reason"] == reason)


class TestOperator:
    def test_a_machine_autoscaler_marks_its_set(self) -> None:
        world = make(machine_set(), machine_autoscaler())
        annotations = world.api.get("MachineSet", "gpu-a", NAMESPACE)["metadata"]["annotations"]
        assert annotations == OPENSHIFT | COPIES | {
            "machine.openshift.io/cluster-api-autoscaler-node-group-min-size": "0",
            "machine.openshift.io/cluster-api-autoscaler-node-group-max-size": "4",
            "autoscaling.openshift.io/machineautoscaler": f"{NAMESPACE}/gpu-a",
        }
        one = world.api.get("MachineAutoscaler", "gpu-a", NAMESPACE)
        assert one["metadata"]["finalizers"] == ["machinetarget.autoscaling.openshift.io"]
        assert one["status"]["lastTargetRef"] == one["spec"]["scaleTargetRef"]

    def test_copied_capacity_goes_stale_when_the_instance_type_changes(self) -> None:
        world = make(machine_set(), machine_autoscaler())
        world.api.patch(
            MACHINE_API,
            "machinesets",
            "gpu-a",
            NAMESPACE,
            {"metadata": {"annotations": {"machine.openshift.io/GPU": "8"}}},
        )
        world.api.patch(
            "autoscaling.openshift.io/v1beta1",
            "machineautoscalers",
            "gpu-a",
            NAMESPACE,
            {"spec": {"maxReplicas": 6}},
        )
        world.settle(2)
        annotations = world.api.get("MachineSet", "gpu-a", NAMESPACE)["metadata"]["annotations"]
        assert annotations["capacity.cluster-autoscaler.kubernetes.io/gpu-count"] == "1"
        assert annotations["machine.openshift.io/cluster-api-autoscaler-node-group-max-size"] == "6"

    def test_an_autoscaler_that_goes_leaves_the_set_without_bounds(self) -> None:
        world = make(machine_set(), machine_autoscaler())
        world.api.delete("autoscaling.openshift.io/v1beta1", "machineautoscalers", "gpu-a", NAMESPACE)
        world.settle()
        assert world.api.all("MachineAutoscaler") == []
        assert (
            world.api.get("MachineSet", "gpu-a", NAMESPACE)["metadata"]["annotations"] == OPENSHIFT | COPIES
        )

    def test_another_target_frees_the_one_before(self) -> None:
        world = make(machine_set(), machine_set("gpu-b"), machine_autoscaler())
        body = {"spec": {"scaleTargetRef": {"name": "gpu-b"}}}
        world.api.patch("autoscaling.openshift.io/v1beta1", "machineautoscalers", "gpu-a", NAMESPACE, body)
        world.settle()
        owners = [
            one["metadata"]["annotations"].get("autoscaling.openshift.io/machineautoscaler")
            for one in world.api.all("MachineSet")
        ]
        assert owners == [None, f"{NAMESPACE}/gpu-a"]

    def test_a_set_has_one_autoscaler(self) -> None:
        second = machine_autoscaler(high=9)
        second["metadata"]["name"] = "second"
        world = make(machine_set(), machine_autoscaler(), second)
        assert events(world, "FailedSetOwner") == [
            "Error setting target owner: already owned by another MachineAutoscaler"
        ]

    def test_a_target_that_does_not_exist(self) -> None:
        assert events(make(machine_autoscaler()), "FailedGetTarget") == [
            'Error getting target: machinesets.machine.openshift.io "gpu-a" not found'
        ]

    def test_only_the_one_called_default_is_looked_at(self) -> None:
        world = World(ClusterAutoscalers())
        world.api.create(
            {
                "apiVersion": "autoscaling.openshift.io/v1",
                "kind": "ClusterAutoscaler",
                "metadata": {"name": "mine"},
                "spec": {},
            }
        )
        world.settle(2)
        assert world.api.all("Deployment") == []

    def test_the_deployment_carries_the_limits(self) -> None:
        caps = {
            "maxNodesTotal": 20,
            "cores": {"min": 8, "max": 128},
            "gpus": [{"type": "nvidia-t4", "min": 0, "max": 4}],
        }
        assert autoscaler_deployment.arguments(
            {"resourceLimits": caps, "scaleDown": {"enabled": True, "unneededTime": "5m"}}
        )[4:] == [
            "--max-nodes-total=20",
            "--cores-total=8:128",
            "--gpu-total=nvidia-t4:0:4",
            "--scale-down-enabled=true",
            "--scale-down-unneeded-time=5m",
            "--v=1",
        ]

    def test_the_deployment_follows_and_goes(self) -> None:
        world = make(machine_set())
        path = ("autoscaling.openshift.io/v1", "clusterautoscalers", "default", None)
        world.api.patch(*path, {"spec": {"resourceLimits": {"maxNodesTotal": 7}}})
        world.settle()
        [deployment] = world.api.all("Deployment")
        assert "--max-nodes-total=7" in deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        world.api.delete(*path)
        world.settle()
        assert world.api.all("Deployment") == []

    def test_absent_keys_only(self) -> None:
        key = "capacity.cluster-autoscaler.kubernetes.io/cpu"
        assert key not in upstream_copies(OPENSHIFT | {key: "2"})
        assert (
            upstream_copies({"machine.openshift.io/GPU": "0"})[
                "capacity.cluster-autoscaler.kubernetes.io/gpu-type"
            ]
            == ""
        )

    @pytest.mark.parametrize(
        ("labels", "start"),
        [
            ({}, "GPU accelerator label not found on MachineSet gpu-a. This is not an error"),
            ({"cluster-api/accelerator": ""}, "GPU accelerator label is empty. This"),
            (
                {"cluster-api/accelerator": "nvidia.com/gpu"},
                "GPU accelerator label contains a poorly formed value: nvidia.com/gpu",
            ),
        ],
    )
    def test_the_accelerator_label_is_only_warned_about(self, labels: Data, start: str) -> None:
        assert (accelerator_warning(machine_set(labels=labels)) or "").startswith(start)
        assert accelerator_warning(machine_set()) is None


class TestGrowing:
    def test_from_zero_for_a_pending_pod(self) -> None:
        world = make(machine_set(), machine_autoscaler(), pending())
        assert replicas(world) == 1
        assert events(world, "TriggeredScaleUp") == [
            f"pod triggered scale-up: [{{MachineSet/{NAMESPACE}/gpu-a 0->1 (max: 4)}}]"
        ]
        assert ("patch scale", "MachineSet", "gpu-a") in world.api.writes

    def test_one_node_for_each_pod_that_fills_one(self) -> None:
        world = make(
            machine_set(), machine_autoscaler(), *(pending(f"train-{number}") for number in range(3))
        )
        world.settle(10)
        assert replicas(world) == 3

    def test_no_further_than_the_maximum(self) -> None:
        world = make(
            machine_set(), machine_autoscaler(high=2), *(pending(f"train-{number}") for number in range(3))
        )
        world.settle(10)
        assert replicas(world) == 2
        assert events(world, "NotTriggerScaleUp") == [
            "pod didn't trigger scale-up: 1 max node group size reached"
        ]

    def test_a_labelled_node_without_its_gpus_is_still_awaited(self) -> None:
        labelled = node("gpu-1", labels=ACCELERATOR)
        world = make(
            machine_set(replicas=1),
            machine_autoscaler(),
            machine("gpu-1", nodeRef={"name": "gpu-1"}),
            labelled,
            pending(),
        )
        world.settle(30)
        assert replicas(world) == 1

    def test_without_the_label_node_after_node_is_ordered(self) -> None:
        bare = machine_set(labels={}, replicas=1)
        world = make(
            bare, machine_autoscaler(), machine("gpu-1", nodeRef={"name": "gpu-1"}), node("gpu-1"), pending()
        )
        assert replicas(world) == 2

    def test_without_the_label_a_node_of_a_minute_s_age_says_that_the_group_has_no_gpus(self) -> None:
        bare = machine_set(labels={}, replicas=1)
        world = make(
            bare, machine_autoscaler(high=2), machine("gpu-1", nodeRef={"name": "gpu-1"}), node("gpu-1")
        )
        world.settle(61)
        world.api.create(pending())
        world.settle(3)
        assert replicas(world) == 1
        assert events(world, "NotTriggerScaleUp") == [
            "pod didn't trigger scale-up: 1 Insufficient nvidia.com/gpu"
        ]

    def test_the_smaller_waste_wins(self) -> None:
        big = OPENSHIFT | {
            "machine.openshift.io/vCPU": "96",
            "machine.openshift.io/memoryMb": "1179648",
            "machine.openshift.io/GPU": "8",
        }
        world = make(
            machine_set("big", annotations=big),
            machine_set("small"),
            machine_autoscaler("big"),
            machine_autoscaler("small"),
            pending(),
        )
        assert (replicas(world, "big"), replicas(world, "small")) == (0, 1)

    def test_no_scale_up_before_the_deployment_is_available(self) -> None:
        world = World(MachineAutoscalers(), ClusterAutoscalers(), ClusterAutoscaler())
        for obj in (machine_set(), machine_autoscaler(), pending()):
            world.api.create(obj)
        world.api.create(
            {
                "apiVersion": "autoscaling.openshift.io/v1",
                "kind": "ClusterAutoscaler",
                "metadata": {"name": "default"},
                "spec": {},
            }
        )
        world.settle(5)
        assert replicas(world) == 0

    def test_a_second_look_writes_nothing(self) -> None:
        world = make(machine_set(), machine_autoscaler(), pending(), pending("odd", gpus=3))
        world.settle(3)
        before = len(world.api.writes)
        world.settle(20)
        assert len(world.api.writes) == before


class TestLimits:
    def test_gpus_of_the_type_that_the_label_names(self) -> None:
        caps = {"gpus": [{"type": "nvidia-t4", "min": 0, "max": 2}]}
        world = make(
            machine_set(),
            machine_autoscaler(),
            *(pending(f"train-{number}") for number in range(3)),
            resourceLimits=caps,
        )
        world.settle(10)
        assert replicas(world) == 2
        assert events(world, "NotTriggerScaleUp") == [
            "pod didn't trigger scale-up: 1 max cluster nvidia-t4 limit reached"
        ]

    @pytest.mark.parametrize("labels", [{}, {"cluster-api/accelerator": "nvidia-a100"}])
    def test_a_limit_binds_no_group_whose_label_says_something_else(self, labels: Data) -> None:
        caps = {"gpus": [{"type": "nvidia-t4", "min": 0, "max": 1}]}
        world = make(
            machine_set(labels=labels),
            machine_autoscaler(),
            *(pending(f"train-{number}") for number in range(3)),
            resourceLimits=caps,
        )
        world.settle(10)
        assert replicas(world) == 3

    def test_cores_count_the_whole_cluster(self) -> None:
        caps = {"cores": {"min": 0, "max": 7}}
        world = make(machine_set(), machine_autoscaler(), node("worker"), pending(), resourceLimits=caps)
        assert replicas(world) == 0
        assert events(world, "NotTriggerScaleUp") == [
            "pod didn't trigger scale-up: 1 max cluster cpu limit reached"
        ]

    def test_so_many_nodes_and_no_more(self) -> None:
        world = make(
            machine_set(),
            machine_autoscaler(),
            node("worker"),
            pending(),
            resourceLimits={"maxNodesTotal": 1},
        )
        assert replicas(world) == 0
        assert events(world, "NotTriggerScaleUp") == [
            "pod didn't trigger scale-up: max total nodes in cluster reached"
        ]
        assert events(world, "MaxNodesTotalReached") == ["Max total nodes in cluster reached: 1"]

    def test_nodes_that_are_not_ready_leave_the_pod_without_a_word(self) -> None:
        broken = node("worker")
        broken["status"]["conditions"] = []
        world = make(
            machine_set(), machine_autoscaler(), broken, pending(), resourceLimits={"maxNodesTotal": 1}
        )
        assert replicas(world) == 0
        assert events(world, "NotTriggerScaleUp") == []


class TestWhatANodeWouldBe:
    def test_upstream_s_keys_come_first(self) -> None:
        mixed = OPENSHIFT | {
            "capacity.cluster-autoscaler.kubernetes.io/gpu-count": "4",
            "capacity.cluster-autoscaler.kubernetes.io/gpu-type": "amd.com/gpu",
        }
        assert groups.scale_from_zero(mixed) == {
            "cpu": 4,
            "memory": 16 * 2**30,
            "nvidia.com/gpu": 4,
            "pods": 110,
        }

    def test_a_node_that_was_there_is_remembered_instead_of_newer_annotations(self) -> None:
        gpu = node("gpu-1", 1, ACCELERATOR)
        world = make(
            machine_set(replicas=1),
            machine_autoscaler(),
            machine("gpu-1", nodeRef={"name": "gpu-1"}),
            gpu,
            scaleDown={"enabled": False},
        )
        world.settle(61)
        world.api.delete(MACHINE_API, "machines", "gpu-1", NAMESPACE)
        world.api.delete("v1", "nodes", "gpu-1")
        newer = {"capacity.cluster-autoscaler.kubernetes.io/gpu-count": "8"}
        world.api.patch(
            MACHINE_API,
            "machinesets",
            "gpu-a",
            NAMESPACE,
            {"metadata": {"annotations": newer}, "spec": {"replicas": 0}},
        )
        world.api.create(pending(gpus=8))
        world.settle(3)
        assert replicas(world) == 0
        assert events(world, "NotTriggerScaleUp") == [
            "pod didn't trigger scale-up: 1 Insufficient nvidia.com/gpu"
        ]

    def test_a_set_at_zero_of_unknown_capacity_is_no_node_group(self) -> None:
        world = make(
            machine_set(annotations={"machine.openshift.io/GPU": "1"}), machine_autoscaler(), pending()
        )
        assert replicas(world) == 0
        assert events(world, "NotTriggerScaleUp") == ["pod didn't trigger scale-up: "]

    @pytest.mark.parametrize(
        ("spec", "expected"),
        [
            ({}, ["node(s) had untolerated taint(s)"]),
            ({"tolerations": [TOLERATION]}, []),
            (
                {"tolerations": [TOLERATION], "nodeSelector": {"node-role.kubernetes.io/worker": ""}},
                ["node(s) didn't match Pod's node affinity/selector"],
            ),
            ({"tolerations": [TOLERATION], "nodeSelector": ACCELERATOR}, []),
        ],
    )
    def test_taints_and_labels_of_the_template(self, spec: Data, expected: list[str]) -> None:
        world = make(machine_set(taints=[TAINT]), machine_autoscaler(), pending(**spec))
        assert replicas(world) == (0 if expected else 1)
        assert events(world, "NotTriggerScaleUp") == [
            f"pod didn't trigger scale-up: 1 {one}" for one in expected
        ]

    @pytest.mark.parametrize(
        ("operator", "values", "fits"),
        [
            ("In", ["a", "b"], True),
            ("NotIn", ["a"], False),
            ("Exists", [], True),
            ("DoesNotExist", [], False),
            ("Gt", ["1"], False),
        ],
    )
    def test_node_affinity(self, operator: str, values: list[str], fits: bool) -> None:
        expression = {"key": "size" if operator == "Gt" else "zone", "operator": operator, "values": values}
        required = {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [expression]}]
            }
        }
        pod = pending(gpus=0, affinity={"nodeAffinity": required})
        assert (not rejections(pod, Room({"zone": "a"}, [], {"cpu": 4, "memory": 2**34, "pods": 1}))) is fits


class TestShrinkingAndFailing:
    def grown(self, **spec: t.Any) -> World:
        return make(
            machine_set(replicas=1),
            machine_autoscaler(),
            machine("gpu-1", nodeRef={"name": "gpu-1"}),
            node("gpu-1", 1, ACCELERATOR),
            **spec,
        )

    def test_an_idle_node_goes_after_its_time(self) -> None:
        world = self.grown(scaleDown={"enabled": True, "unneededTime": "20s", "delayAfterAdd": "5s"})
        world.settle(10)
        assert replicas(world) == 1
        world.settle(15)
        assert replicas(world) == 0
        assert (
            "machine.openshift.io/delete-machine"
            in world.api.get("Machine", "gpu-1", NAMESPACE)["metadata"]["annotations"]
        )
        assert world.api.get("Node", "gpu-1")["spec"]["taints"][0]["key"] == "ToBeDeletedByClusterAutoscaler"

    @pytest.mark.parametrize(
        ("spec", "low", "busy"),
        [
            ({"enabled": False}, 0, False),
            ({"enabled": True, "unneededTime": "5s"}, 1, False),
            ({"enabled": True, "unneededTime": "5s"}, 0, True),
        ],
    )
    def test_a_node_stays(self, spec: Data, low: int, busy: bool) -> None:
        pod = pending(nodeName="gpu-1") if busy else pending("other", nodeName="elsewhere")
        gpu = machine("gpu-1", nodeRef={"name": "gpu-1"})
        world = make(
            machine_set(replicas=1),
            machine_autoscaler(low=low),
            gpu,
            node("gpu-1", 1, ACCELERATOR),
            pod,
            scaleDown=spec,
        )
        world.settle(30)
        assert replicas(world) == 1

    def test_a_failed_machine_is_taken_back_and_another_set_is_tried(self) -> None:
        world = make(
            machine_set(), machine_set("gpu-b"), machine_autoscaler(), machine_autoscaler("gpu-b"), pending()
        )
        world.api.create(machine("gpu-1", phase="Failed", errorReason="InvalidConfiguration"))
        world.settle(1)
        world.api.delete(MACHINE_API, "machines", "gpu-1", NAMESPACE)
        world.settle(3)
        assert (replicas(world), replicas(world, "gpu-b")) == (0, 1)
        status = yaml.safe_load(
            world.api.get("ConfigMap", "cluster-autoscaler-status", NAMESPACE)["data"]["status"]
        )
        assert [one["scaleUp"]["status"] for one in status["nodeGroups"]] == ["Backoff", "InProgress"]

    def test_the_status_config_map(self) -> None:
        status = yaml.safe_load(
            self.grown().api.get("ConfigMap", "cluster-autoscaler-status", NAMESPACE)["data"]["status"]
        )
        assert status["autoscalerStatus"] == "Running"
        [group] = status["nodeGroups"]
        assert group["name"] == f"MachineSet/{NAMESPACE}/gpu-a"
        assert group["health"]["nodeCounts"]["registered"] == {
            "total": 1,
            "ready": 1,
            "notStarted": 0,
            "unready": {"total": 0, "resourceUnready": 0},
        }
        assert (group["health"]["cloudProviderTarget"], group["health"]["maxSize"]) == (1, 4)
