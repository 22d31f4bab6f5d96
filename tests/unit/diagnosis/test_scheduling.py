"""The layer scheduling: the pods that wait for devices, and the order of causes."""

from __future__ import annotations

import typing as t

from unit.diagnosis.pods import GPU, Data, event, node, pod, seen

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import model, scheduling

FULL = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
TAINT = {"key": "example.com/team", "value": "b", "effect": "NoSchedule"}
TAINTED = "0/1 nodes are available: 1 node(s) had untolerated taint {example.com/team: b}."


def test_nobody_waits() -> None:
    look = seen("", node("a"), pending=[pod(on="a", phase="Pending"), pod(gpus=0, told=FULL)])
    assert list(scheduling.judge(look)) == []
    assert list(scheduling.notes(look)) == []


def test_pods_that_wait_because_all_is_in_use_are_a_note() -> None:
    waiting = [pod(f"w-{number}", told=FULL) for number in range(5)]
    look = seen("", node("a"), pending=waiting, crowd=[pod("x", 8, "team-b", "a")])
    assert list(scheduling.judge(look)) == []
    (note,) = scheduling.notes(look)
    assert note.startswith("A pod waits: Pod team-a/w-0 asks for 1 nvidia.com/gpu, and too little is free")
    assert "Held by Pod team-b/x (8)." in note
    assert "5 pods wait like it, the youngest (team-a/w-4) since 2026-11-28T09:00:00Z." in note


def test_pods_behind_a_cordon_are_a_note() -> None:
    told = "0/1 nodes are available: 1 node(s) were unschedulable."
    look = seen("", node("a", cordoned=True), pending=[pod(told=told)])
    assert list(scheduling.judge(look)) == []
    assert "cordoned" in next(iter(scheduling.notes(look)))


def test_pods_of_a_queue_are_a_note() -> None:
    look = seen("", node("a"), pending=[pod(schedulingGates=[{"name": "kueue.x-k8s.io/admission"}])])
    assert list(scheduling.judge(look)) == []
    assert "1 pod with devices wait behind scheduling gates, such as team-a/train." in scheduling.notes(look)


def test_a_pod_that_can_never_run_is_a_note_once_for_all_alike() -> None:
    look = seen(
        "", node("a", taints=[TAINT]), pending=[pod(f"w-{number}", told=TAINTED) for number in range(3)]
    )
    assert list(scheduling.judge(look)) == []
    (note,) = scheduling.notes(look)
    assert note.startswith("A pod waits: Pod team-a/w-0 ")
    assert "3 pods wait like it" in note
    assert "SCHED-TAINT: " in note


def test_a_device_that_virtual_machines_may_not_have_is_a_trouble_of_its_node() -> None:
    machines = node("a")
    machines["metadata"]["labels"]["nvidia.com/gpu.workload.config"] = "vm-passthrough"
    machines["status"]["allocatable"] = {"nvidia.com/TU104GL_TESLA_T4": "2"}
    look = seen("", machines)
    assert list(scheduling.more(look)) == ["permits"]
    assert scheduling.more(seen("", node("a"))) == {}
    look.objects["permits"] = [
        {"apiVersion": "hco.kubevirt.io/v1", "metadata": {"name": "kubevirt-hyperconverged"}, "spec": {}}
    ]
    (found,) = scheduling.judge(look)
    assert (found.code, found.node) == ("GPU-VM-UNPERMITTED", "a")


def test_a_young_pod_gets_time() -> None:
    young = pod(told=TAINTED, meta={"creationTimestamp": "2026-11-28T09:59:30Z"})
    assert list(scheduling.judge(seen("", node("a", taints=[TAINT]), pending=[young]))) == []


def test_a_placeholder_may_wait() -> None:
    spare = pod(told=TAINTED, meta={"labels": {"accelerators.openshift/spare": "training"}}, priority=-10)
    look = seen("", node("a", taints=[TAINT]), pending=[spare])
    assert [*scheduling.judge(look), *scheduling.notes(look)] == []


def test_the_autoscaler_is_at_work() -> None:
    scaled = [event("train", "TriggeredScaleUp", "pod triggered scale-up", warns=False)]
    (found,) = scheduling.judge(seen("", pending=[pod(told=FULL)], scaled=scaled))
    assert (found.code, found.is_busy) == ("SCHED-NAME", True)


def test_a_machine_comes() -> None:
    machines = [{"metadata": {"name": "m"}, "status": {"phase": "Provisioned"}}]
    (found,) = scheduling.judge(seen("", pending=[pod(told=FULL)], machines=machines))
    assert found.is_busy


def test_the_pod_of_the_option_is_not_said_twice() -> None:
    asked = pod(told=TAINTED)
    assert [
        one.code for one in scheduling.judge(seen(asked, node("a", taints=[TAINT]), pending=[asked]))
    ] == ["SCHED-TAINT"]


def of(layer: str, **more: t.Any) -> model.Trouble:
    return model.Trouble(layer=layer, code="GPU-X", about="x", message="m", remedy="r", **more)


def test_a_broken_driver_on_its_node_is_the_cause() -> None:
    (asked,) = scheduling.judge(seen(pod(told=FULL), node("a", 0, capacity=8)))
    driver, other = of(model.DRIVER, node="a"), of(model.DRIVER, node="b")
    assert {one.code: one.cause for one in model.with_causes([asked, driver])}["SCHED-OFFER"] == model.DRIVER
    assert {one.code: one.cause for one in model.with_causes([asked, other])}["SCHED-OFFER"] == ""


def test_a_broken_driver_is_no_cause_of_a_wrong_pod() -> None:
    (asked,) = scheduling.judge(seen(pod(told=TAINTED), node("a", taints=[TAINT])))
    made = model.with_causes([asked, of(model.DRIVER, node="a"), of(model.OPERATORS)])
    assert {one.code: one.cause for one in made}["SCHED-TAINT"] == ""


def test_5000_nodes_and_pods_are_a_few_kinds() -> None:
    nodes = [node(f"n-{number:04}") for number in range(5000)]
    crowd = [pod(f"p-{number}", 8, "team-b", f"n-{number:04}") for number in range(5000)]
    pending = [pod(f"w-{number}", told=FULL, nodeSelector={"x": str(number % 9)}) for number in range(900)]
    look = seen("", *nodes, pending=pending, crowd=crowd)
    assert ["SCHED-LABELS" in note for note in scheduling.notes(look)] == [True] * 3
    big: Data = pod(told=FULL, limits={GPU: "1"})
    assert [one.code for one in scheduling.judge(seen(big, *nodes, crowd=crowd))] == ["SCHED-FULL"]
