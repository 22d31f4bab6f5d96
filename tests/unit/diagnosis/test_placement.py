"""Why no node takes a pod: what each node lacks, and which of these reasons counts."""

from __future__ import annotations

import pytest
from unit.diagnosis.pods import GPU, Data, node, pod, seen

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import placement, pod as own
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import Trouble

FULL = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: 0/2 nodes are available."
TAINTED = "0/1 nodes are available: 1 node(s) had untolerated taint {nvidia.com/gpu: present}."
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
NOT_OURS = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
CLOSED = "0/1 nodes are available: 1 node(s) were unschedulable."


def found(asked: Data | str, *nodes: Data, **objects: list[Data]) -> Trouble:
    made = own.judge(seen(asked, *nodes, **objects))
    assert made is not None
    return made


def affinity(*rules: Data, kind: str = "matchExpressions") -> Data:
    terms = {"nodeSelectorTerms": [{kind: [*rules]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


class TestNodes:
    def test_all_devices_are_in_use(self) -> None:
        made = found(
            pod(gpus=2, told=FULL),
            node("a"),
            node("b", 4),
            crowd=[pod("x", 7, "team-b", "a"), pod("y", 2, "team-b", "b"), pod("z", 1, "team-c", "b")],
        )
        assert made.code == "SCHED-FULL"
        assert "Pod team-b/x (7)" in made.message
        assert any(line.startswith("a: 1 of 8 nvidia.com/gpu free") for line in made.evidence)
        assert any("2 Insufficient nvidia.com/gpu" in line for line in made.evidence)
        assert made.since == "2026-11-28T09:00:00Z"

    def test_the_owner_of_several_pods_is_the_holder(self) -> None:
        meta = {"ownerReferences": [{"kind": "Job", "name": "sweep", "controller": True}]}
        crowd = [pod(f"s-{number}", 1, "team-b", "a", meta=meta) for number in range(8)]
        assert "Held by Job team-b/sweep (8)" in found(pod(told=FULL), node("a"), crowd=crowd).message

    def test_a_taint_comes_with_the_toleration_to_add(self) -> None:
        made = found(pod(told=TAINTED), node("a", taints=[TAINT]))
        assert made.code == "SCHED-TAINT"
        toleration = (
            '{"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}'
        )
        assert f"tolerations: [{toleration}]" in made.remedy

    def test_a_tolerated_taint_is_no_reason(self) -> None:
        asked = pod(told=FULL, tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}])
        crowd = [pod("x", 8, "team-b", "a")]
        assert found(asked, node("a", taints=[TAINT]), crowd=crowd).code == "SCHED-FULL"

    def test_a_taint_that_only_prefers_is_no_reason(self) -> None:
        soft = {**TAINT, "effect": "PreferNoSchedule"}
        crowd = [pod("x", 8, "team-b", "a")]
        assert found(pod(told=FULL), node("a", taints=[soft]), crowd=crowd).code == "SCHED-FULL"

    def test_a_label_that_no_node_has_comes_with_the_nearest_value(self) -> None:
        asked = pod(told=NOT_OURS, nodeSelector={"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"})
        made = found(asked, node("a", labels={"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB"}))
        assert made.code == "SCHED-LABELS"
        assert "the node has nvidia.com/gpu.product=NVIDIA-A100-SXM4-40GB" in made.message

    def test_a_misspelt_label_comes_with_the_nearest_name(self) -> None:
        asked = pod(told=NOT_OURS, nodeSelector={"nvidia.com/gpu.prodct": "T4"})
        assert (
            "the node has nvidia.com/gpu.product=T4"
            in found(asked, node("a", labels={"nvidia.com/gpu.product": "T4"})).message
        )

    @pytest.mark.parametrize(
        ("operator", "values", "fits"),
        [
            ("In", ["us-1a"], True),
            ("In", ["us-1b"], False),
            ("NotIn", ["us-1a"], False),
            ("Exists", [], True),
            ("DoesNotExist", [], False),
            ("Gt", ["3"], False),
        ],
    )
    def test_affinity(self, operator: str, values: list[str], fits: bool) -> None:
        asked = pod(told=NOT_OURS, affinity=affinity({"key": "zone", "operator": operator, "values": values}))
        assert found(asked, node("a", labels={"zone": "us-1a"})).code == (
            "SCHED-UNPLACED" if fits else "SCHED-LABELS"
        )

    def test_affinity_to_a_number_and_to_a_name(self) -> None:
        many = affinity({"key": "nvidia.com/gpu.memory", "operator": "Gt", "values": ["40000"]})
        here = node("a", labels={"nvidia.com/gpu.memory": "81559"})
        assert found(pod(told=NOT_OURS, affinity=many), here).code == "SCHED-UNPLACED"
        other = affinity({"key": "metadata.name", "operator": "In", "values": ["b"]}, kind="matchFields")
        made = found(pod(told=NOT_OURS, affinity=other), here)
        assert (made.code, "metadata.name=a" in made.message) == ("SCHED-LABELS", True)

    def test_a_cordoned_node(self) -> None:
        made = found(pod(told=CLOSED), node("a", cordoned=True))
        assert (made.code, made.node) == ("SCHED-CLOSED", "a")
        assert "oc adm uncordon a" in made.remedy

    def test_a_node_that_is_not_ready(self) -> None:
        told = "0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/unreachable: }."
        made = found(pod(told=told), node("a", ready=False))
        assert (made.code, made.node) == ("SCHED-CLOSED", "a")
        assert "Kubelet stopped posting" in made.message

    def test_a_new_node_behind_its_gate(self) -> None:
        gate = {
            "key": "startup-taint.cluster-autoscaler.kubernetes.io/gpu-validation",
            "value": "pending",
            "effect": "NoSchedule",
        }
        made = found(pod(told=TAINTED), node("a", taints=[gate]))
        assert made.code == "SCHED-CLOSED"
        assert "playbooks/validate.yml" in made.remedy

    def test_a_node_that_is_being_deleted(self) -> None:
        leaving = node("a")
        leaving["metadata"]["deletionTimestamp"] = "2026-11-28T09:00:00Z"
        assert "being deleted" in found(pod(told=CLOSED), leaving).message

    def test_a_name_that_no_node_offers_comes_with_near_names(self) -> None:
        asked = pod(
            limits={"nvidia.com/mig-1g.5gb": "1"},
            told="0/1 nodes are available: 1 Insufficient nvidia.com/mig-1g.5gb.",
        )
        made = found(asked, node("a", offers={"nvidia.com/mig-1g.10gb": "14"}))
        assert made.code == "SCHED-NAME"
        assert "14 nvidia.com/mig-1g.10gb" in made.message

    def test_a_whole_gpu_where_all_are_partitioned(self) -> None:
        marks = {
            "nvidia.com/gpu.count": "2",
            "nvidia.com/mig.capable": "true",
            "nvidia.com/mig.strategy": "mixed",
        }
        made = found(pod(told=FULL), node("a", labels=marks, offers={"nvidia.com/mig-1g.10gb": "14"}))
        assert made.code == "SCHED-NAME"

    def test_more_than_any_node_has(self) -> None:
        made = found(pod(gpus=16, told=FULL), node("a"), node("b", 4))
        assert made.code == "SCHED-NAME"
        assert "8 nvidia.com/gpu" in made.message

    def test_no_gpu_node_at_all(self) -> None:
        assert "at most no device" in found(pod(told=FULL)).message

    def test_a_node_whose_driver_offers_nothing_is_named(self) -> None:
        made = found(pod(told=FULL), node("a", 0, capacity=8))
        assert (made.code, made.node) == ("SCHED-OFFER", "a")
        assert "offers 0 of 8 nvidia.com/gpu" in made.message

    def test_a_node_that_offers_a_part(self) -> None:
        made = found(pod(gpus=8, told=FULL), node("a", 7, labels={"nvidia.com/gpu.count": "8"}))
        assert (made.code, made.node) == ("SCHED-OFFER", "a")

    def test_devices_by_claims_are_asked_for_by_name(self) -> None:
        made = found(pod(told=FULL), node("a", offers={}), clusters=[{"metadata": {"name": "gpu"}}])
        assert made.code == "SCHED-NAME"

    def test_free_devices_without_cpu(self) -> None:
        told = "0/1 nodes are available: 1 Insufficient cpu."
        crowd = [pod("x", 0, "team-b", "a", requests={"cpu": "60"})]
        made = found(pod(requests={"cpu": "8"}, told=told), node("a"), crowd=crowd)
        assert made.code == "SCHED-FULL"
        assert "4 of 64 cpu free, 8 asked for" in made.message

    def test_free_devices_without_memory(self) -> None:
        told = "0/1 nodes are available: 1 Insufficient memory."
        made = found(pod(requests={"memory": "300Gi"}, told=told), node("a"))
        assert "256Gi of 256Gi memory free, 300Gi asked for" in made.message

    def test_a_node_full_of_pods(self) -> None:
        made = found(
            pod(told="0/1 nodes are available: 1 Too many pods, 1 Insufficient x."),
            node("a", room={"pods": "1"}),
            crowd=[pod("x", 0, "b", "a")],
        )
        assert "has its 1 pods" in made.message

    def test_most_of_the_near_nodes_count(self) -> None:
        nodes = [node("a", taints=[TAINT]), node("b"), node("c")]
        crowd = [pod("x", 8, "team-b", "b"), pod("y", 8, "team-b", "c")]
        made = found(pod(told=FULL), *nodes, crowd=crowd)
        assert made.code == "SCHED-FULL"
        assert "a: untolerated taint nvidia.com/gpu=present:NoSchedule" in made.evidence

    def test_many_nodes_are_a_short_table(self) -> None:
        made = found(pod(told=TAINTED), *(node(f"n-{number:02}", taints=[TAINT]) for number in range(30)))
        assert "n-19 and 10 more: untolerated taint" in made.evidence[0]

    def test_several_devices_of_several_kinds(self) -> None:
        limits = {GPU: "1", "rdma/shared_ib": "1"}
        told = "0/1 nodes are available: 1 Insufficient rdma/shared_ib."
        made = found(pod(limits=limits, told=told), node("a"))
        assert made.code == "SCHED-NAME"
        assert "a: offers no rdma/shared_ib" in made.evidence


def test_the_largest_init_container_counts() -> None:
    asked = pod(gpus=1, initContainers=[{"name": "i", "resources": {"limits": {GPU: "4"}}}])
    assert placement.asked(asked) == {GPU: 4}


def test_many_holders_are_counted() -> None:
    every = placement.places([node("a")], [pod(f"x-{number}", 1, "team-b", "a") for number in range(8)])
    assert placement.holders(every, [GPU]).endswith(" and 3 more.")
    assert placement.holders(every, [GPU], "team-a") == ""


def test_a_node_that_takes_the_pod() -> None:
    assert placement.why(pod(), placement.places([node("a", cordoned=True), node("b")], [])) is None


def test_a_node_that_the_pod_does_not_select_is_no_candidate() -> None:
    asked = pod(told=FULL, nodeSelector={"kubernetes.io/hostname": "a"})
    made = found(asked, node("a", 0, capacity=8), node("b"))
    assert (made.code, made.node) == ("SCHED-OFFER", "a")
    made = found(asked, node("a"), node("b"), node("c"), crowd=[pod("x", 8, "team-b", "a")])
    assert made.code == "SCHED-FULL"


@pytest.mark.parametrize(
    "key", ["ToBeDeletedByClusterAutoscaler", "accelerators.openshift/validation-failed"]
)
def test_no_pod_should_tolerate_a_node_that_is_not_fit(key: str) -> None:
    made = found(pod(told=TAINTED), node("a", taints=[{"key": key, "effect": "NoSchedule"}]))
    assert (made.code, made.remedy) == ("SCHED-CLOSED", "Run `oc describe node a` to see who closed it.")
