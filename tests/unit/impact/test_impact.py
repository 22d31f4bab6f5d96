"""What a write ends: pods with devices on the nodes it reaches, as sentences, results and a refusal."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.registry import CODES
from ansible_collections.accelerators.openshift.plugins.module_utils._impact import impact
from ansible_collections.accelerators.openshift.plugins.module_utils._impact.impact import Impact, Question
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain

Object = dict[str, t.Any]


def node(name: str, **labels: str) -> Object:
    return {"metadata": {"name": name, "labels": labels}, "spec": {}}


def pod(name: str, on: str, namespace: str = "team-a", gpus: str = "1", **more: t.Any) -> Object:
    return {
        "metadata": {"name": name, "namespace": namespace, **more},
        "spec": {
            "nodeName": on,
            "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": gpus}}}],
        },
        "status": {"phase": "Running"},
    }


JOB: t.Final = [{"kind": "Job", "name": "train", "controller": True}]
QUESTION: t.Final = Question("spec.daemonsets.tolerations changes", "the upgrade controller", "gpu=true")


def test_only_pods_with_devices_on_these_nodes_end() -> None:
    of_set: Object = {"ownerReferences": [{"kind": "DaemonSet", "name": "ds", "controller": True}]}
    claim = pod("claims", "a", gpus="0")
    claim["spec"]["resourceClaims"] = [{"name": "gpu"}]
    ended = pod("ended", "a")
    ended["status"]["phase"] = "Succeeded"
    found = impact.endings(
        [
            pod("train", "a", gpus="2", ownerReferences=JOB),
            pod("elsewhere", "b"),
            pod("idle", "a", gpus="0"),
            pod("serve", "a", **of_set),
            pod("operand", "a", gpus="0", **of_set),
            pod("terminating", "a", deletionTimestamp="2026-11-22T10:00:00Z"),
            ended,
            claim,
        ],
        ["a"],
    )
    assert [(one.pod, one.owner, one.devices) for one in found] == [
        ("claims", "", ("claim gpu",)),
        ("serve", "DaemonSet ds", ("1 nvidia.com/gpu",)),
        ("train", "Job train", ("2 nvidia.com/gpu",)),
    ]


def test_a_sentence_says_how_many_why_by_whom_and_in_what_order() -> None:
    found = QUESTION.answer(
        [node("a"), node("b"), node("c")], [pod("x", "a"), pod("y", "a", "team-b"), pod("z", "b")]
    )
    assert found
    assert found.nodes == ("a", "b", "c")
    assert found.line == (
        "3 GPU pods of 2 namespaces on 2 nodes end, because spec.daemonsets.tolerations changes; "
        "by: the upgrade controller; order: node by node"
    )
    assert impact.lines([found])[1] == "a: pod team-a/x: 1 nvidia.com/gpu"


def test_what_is_not_certain_counts_and_says_so() -> None:
    unsure = Question("nobody can tell", "the operator", "gpu=true", is_certain=False)
    found = unsure.answer([node("a")], [pod("x", "a")])
    assert found
    assert "1 GPU pod of 1 namespace on 1 node may end, because nobody can tell" in found.line
    assert impact.as_result([found])[0]["certain"] is False


def test_nodes_without_such_a_pod_give_no_impact() -> None:
    assert QUESTION.answer([node("a")], [pod("x", "b")]) is None
    some = Question("why", "who", "gpu=true", node_selector={"pool": "one"})
    nodes = [node("a", pool="one"), node("b", pool="two")]
    assert some.answer(nodes, [pod("x", "b")]) is None
    assert some.answer(nodes, [pod("x", "a")])


def test_the_refusal_names_nodes_pods_and_one_setting() -> None:
    pods = [pod(f"p{number:02}", "a") for number in range(11)]
    found = QUESTION.answer([node("a")], pods)
    assert found
    error = impact.refusal([found], "GPU-BUSY")
    assert "GPU-BUSY" in CODES
    assert "team-a/p00 on a" in error.message
    assert "team-a/p09 on a and 1 more" in error.message
    assert error.message.endswith("Nothing was changed.")
    assert "gpu_on_busy: wait" in error.remedy
    assert "on_busy" in error.remedy
    assert len(error.evidence) == 12
    ends = error.facts["ends"]
    assert ends == impact.as_result([found])
    assert ends[0]["pods"][0] == {
        "node": "a",
        "namespace": "team-a",
        "name": "p00",
        "owner": "",
        "devices": ["1 nvidia.com/gpu"],
    }


def test_the_pods_of_a_gang_are_counted_apart_and_a_line_names_the_controller() -> None:
    endings = (
        impact.Ending("a", "n", "first", "Job train", ("1 nvidia.com/gpu",)),
        impact.Ending("b", "n", "second", "", ()),
    )
    found = Impact("why", "who", ("a", "b"), endings, True)
    assert found.line.startswith("1 GPU pod and 1 other pod of their gangs of 1 namespace on 2 nodes end,")
    assert [each.line for each in endings] == [
        "a: pod n/first of Job train: 1 nvidia.com/gpu",
        "b: pod n/second: no device",
    ]


def test_devices_of_all_containers_are_added_up() -> None:
    one = pod("x", "a")
    one["spec"]["containers"].append({"name": "d", "resources": {"requests": {"nvidia.com/gpu": "2"}}})
    one["spec"]["initContainers"] = [{"name": "i", "resources": {"limits": {"nvidia.com/gpu": "4"}}}]
    assert impact.ending(one).devices == ("7 nvidia.com/gpu",)


def test_ten_pods_that_cannot_end_are_named_and_the_others_counted() -> None:
    kept = upgrade(*(pod(f"p{number:02}", "a", ownerReferences=SET) for number in range(11))).kept
    problem = impact.refuse_kept(kept, "fail", "One label was set.")
    assert problem
    assert "team-a/p09 on a (of DaemonSet agent) and 1 more" in problem.message
    assert "11 pods" in problem.message
    assert problem.message.endswith("One label was set.")
    assert len(problem.evidence) == 11
    ten = impact.refuse_kept(kept[:10], "fail")
    assert ten
    assert " more" not in ten.message


def test_a_long_list_of_pods_has_an_end() -> None:
    endings = tuple(impact.Ending("a", "n", f"p{number}", "", ()) for number in range(500))
    found = impact.lines([Impact("why", "who", ("a",), endings, True)])
    assert len(found) == 202
    assert found[-1] == "and 300 more pods"


SET: t.Final = [{"kind": "DaemonSet", "name": "agent", "controller": True}]
STATIC: t.Final = {"kubernetes.io/config.mirror": "hash"}
FREE: t.Final[Object] = {"podDeletion": {"force": True, "deleteEmptyDir": True}}
WHOLE: t.Final[Object] = {"drain": {"enable": True}}
WHOLE_FREE: t.Final[Object] = {"drain": {"enable": True, "force": True, "deleteEmptyDir": True}}


def with_data(one: Object) -> Object:
    one["spec"]["volumes"] = [{"name": "d", "emptyDir": {}}]
    return one


def upgrade(*pods: Object, **rules: t.Any) -> Impact:
    asked = Question("the driver changes", "the upgrade controller", "gpu=true", rules=rules)
    found = asked.answer([node("a")], pods)
    assert found
    return found


KINDS: t.Final[dict[str, Object]] = {
    "job": pod("p", "a", ownerReferences=JOB),
    "zero": pod("p", "a", gpus="0", ownerReferences=JOB),
    "bare": pod("p", "a"),
    "data": with_data(pod("p", "a", ownerReferences=JOB)),
    "daemon": pod("p", "a", ownerReferences=SET),
    "static": pod(
        "p", "a", annotations=STATIC, ownerReferences=[{"kind": "Node", "name": "a", "controller": True}]
    ),
}


@pytest.mark.parametrize(
    ("rules", "kept"),
    [
        ({}, ["bare", "data", "daemon", "static"]),
        (FREE, ["daemon", "static"]),
        (WHOLE, ["bare", "data"]),
        ({**FREE, **WHOLE}, []),
        (WHOLE_FREE, []),
        ({"drain": {"enable": False, "force": True}}, ["bare", "data", "daemon", "static"]),
    ],
)
def test_which_pods_the_upgrade_controller_cannot_delete(rules: Object, kept: list[str]) -> None:
    assert [object_name for object_name, one in KINDS.items() if upgrade(one, **rules).kept] == kept


@pytest.mark.parametrize(
    ("kind", "refused", "way_out"),
    [
        ("job", [], ""),
        ("zero", [], ""),
        ("bare", ["drain"], "podDeletion: {force: true}"),
        ("data", ["drain"], "podDeletion: {deleteEmptyDir: true}"),
        ("daemon", ["fail", "wait", "drain"], "oc patch daemonset agent -n team-a"),
        ("static", ["fail", "wait", "drain"], "oc debug node/a"),
    ],
)
def test_what_is_refused_before_the_first_write_and_the_way_out(
    kind: str, refused: list[str], way_out: str
) -> None:
    kept = upgrade(KINDS[kind]).kept
    answers = {one: impact.refuse_kept(kept, one) for one in ("fail", "wait", "drain")}
    assert [one for one, answer in answers.items() if answer] == refused
    for problem in filter(None, answers.values()):
        assert problem.code == "GPU-UPG-KEPT"
        assert "team-a/p on a" in problem.message
        assert problem.message.endswith("Nothing was changed.")
        assert way_out in problem.remedy
        assert "end" in problem.remedy or "deletes such pods" in problem.remedy


def test_a_pod_that_only_names_a_gpu_is_in_the_plan_of_an_upgrade_and_in_no_other() -> None:
    zero = pod("zero", "a", gpus="0")
    assert upgrade(zero).endings[0].devices == ("0 nvidia.com/gpu",)
    assert "1 GPU pod of 1 namespace" in upgrade(zero).line
    assert QUESTION.answer([node("a")], [zero]) is None


def test_a_drain_that_follows_is_said_to_end_all_pods() -> None:
    assert "drains the node of all pods" in upgrade(KINDS["daemon"], **WHOLE).line
    assert "drains the node" not in upgrade(KINDS["job"], **WHOLE).line


def test_pods_with_devices_of_the_network_count_where_the_nic_driver_changes() -> None:
    asked = Question("x", "the network operator", "nic=true", counts=drain.uses_devices)
    rdma = pod("rdma", "a")
    rdma["spec"]["containers"][0]["resources"] = {"limits": {"openshift.io/mlnx": "1", "rdma/a": "1"}}
    found = asked.answer([node("a")], [rdma])
    assert found
    assert found.endings[0].devices == ("1 openshift.io/mlnx", "1 rdma/a")
    assert found.line.startswith("1 pod with devices of 1 namespace on 1 node")
    assert QUESTION.answer([node("a")], [rdma]) is None
