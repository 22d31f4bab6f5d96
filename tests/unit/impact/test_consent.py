"""What is asked before the first write: which requests, and what each answer of on_busy does."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Readiness
from ansible_collections.accelerators.openshift.plugins.module_utils._impact import consent, driver
from ansible_collections.accelerators.openshift.plugins.module_utils._impact.impact import Question
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Query

Object = dict[str, t.Any]
LABEL: t.Final = dict([driver.DRIVEN.split("=")])
QUESTION: t.Final = Question("the driver changes", driver.UPGRADE, driver.DRIVEN)


def node(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {}}


def pod(name: str, on: str) -> Object:
    limits = {"limits": {"nvidia.com/gpu": "1"}}
    owner = {"kind": "Job", "name": name, "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "team", "ownerReferences": [owner]},
        "spec": {"nodeName": on, "containers": [{"name": "c", "image": "i", "resources": limits}]},
        "status": {"phase": "Running"},
    }


def server_with(*objects: Object) -> FakeServer:
    server = FakeServer("Node", "Pod")
    for one in objects:
        server.put(one)
    return server


def lists(server: FakeServer) -> list[str]:
    return [path.rpartition("/")[2] for method, path, _query in server.requests if method == "GET"]


BUSY: t.Final = (node("gpu-0", **LABEL), node("cpu-0"), pod("train", "gpu-0"), pod("other", "cpu-0"))


def test_without_a_question_nothing_is_read() -> None:
    server = server_with(*BUSY)
    assert consent.ask(api_on(server), [], "fail", "GPU-BUSY") == []
    assert server.requests == []


def test_without_a_node_with_a_driver_no_pod_is_read() -> None:
    server = server_with(node("cpu-0"), pod("other", "cpu-0"))
    assert consent.ask(api_on(server), [QUESTION], "fail", "GPU-BUSY") == []
    assert lists(server) == ["nodes"]


def test_fail_refuses_and_names_only_pods_on_nodes_with_a_driver() -> None:
    server = server_with(*BUSY)
    with pytest.raises(AcceleratorError) as caught:
        consent.ask(api_on(server), [QUESTION, QUESTION], "fail", "OLM-BUSY")
    assert caught.value.code == "OLM-BUSY"
    assert [one["name"] for one in caught.value.facts["ends"][0]["pods"]] == ["train"]
    assert lists(server) == ["nodes", "pods"], "each list is read once"
    assert server.writes() == []


def test_drain_says_what_ends() -> None:
    api = api_on(server_with(*BUSY))
    (ends,) = consent.ask(api, [QUESTION], "drain", "GPU-BUSY")
    assert ends["nodes"] == ["gpu-0"]
    assert "1 GPU pod of 1 namespace on 1 node ends, because the driver changes" in api.warnings[0]


@pytest.mark.parametrize(("nodes", "queries"), [(1, 1), (8, 8), (12, 1)])
def test_wait_waits_until_no_pod_with_devices_is_left(
    nodes: int, queries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to eight nodes have a query each; above, one query reads all pods."""
    names = [f"gpu-{number}" for number in range(nodes)]
    working = [pod(f"p-{name}", name) for name in names]
    api = api_on(server_with(*(node(name, **LABEL) for name in names), *working))
    waits: list[tuple[int, str]] = []

    def wait(
        asked: t.Mapping[str, Query],
        judge: t.Callable[[Snapshot], Readiness],
        _stage: str,
        on_timeout_code: str = "",
    ) -> None:
        late = judge({"pods": working})
        assert (late.verdict, late.code) == ("pending", "GPU-BUSY")
        assert any("pod team/p-gpu-0" in line for line in late.details)
        assert judge({"pods": [pod("other", "cpu-0")]}).is_ready
        waits.append((len(asked), on_timeout_code))

    monkeypatch.setattr(api, "wait", wait)
    assert consent.ask(api, [QUESTION], "wait", "GPU-BUSY") == []
    assert waits == [(queries, "GPU-BUSY")]


def test_a_task_that_does_not_wait_refuses_in_place_of_waiting() -> None:
    api = api_on(server_with(*BUSY), wait_wanted=False)
    with pytest.raises(AcceleratorError, match="1 GPU pod of 1 namespace"):
        consent.ask(api, [QUESTION], "wait", "GPU-BUSY")


def test_check_mode_says_what_a_wait_would_be_about() -> None:
    api = api_on(server_with(*BUSY), check_mode=True)
    assert [one["because"] for one in consent.ask(api, [QUESTION], "wait", "GPU-BUSY")] == [
        "the driver changes"
    ]


def test_a_pod_of_a_daemon_set_is_refused_before_the_first_write_whatever_on_busy_says() -> None:
    agent = pod("agent-x", "gpu-0")
    agent["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": "agent", "controller": True}]
    server = server_with(node("gpu-0", **LABEL), pod("train", "gpu-0"), agent)
    question = Question("the driver changes", driver.UPGRADE, driver.DRIVEN, rules={})
    for on_busy in ("fail", "wait", "drain"):
        with pytest.raises(AcceleratorError) as caught:
            consent.ask(api_on(server), [question], on_busy, "GPU-BUSY")
        assert caught.value.code == "GPU-UPG-KEPT"
        assert "team/agent-x on gpu-0 (of DaemonSet agent)" in caught.value.message
    assert server.writes() == []


def test_a_pod_that_names_no_number_of_gpus_is_asked_about() -> None:
    zero = pod("zero", "gpu-0")
    zero["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "0"}}
    question = Question("the driver changes", driver.UPGRADE, driver.DRIVEN, rules={})
    with pytest.raises(AcceleratorError, match="team/zero on gpu-0"):
        consent.ask(api_on(server_with(node("gpu-0", **LABEL), zero)), [question], "fail", "GPU-BUSY")


def test_policies_of_both_kinds_bring_nic_drivers() -> None:
    server = FakeServer("NicClusterPolicy", "NicNodePolicy")
    for kind in ("NicClusterPolicy", "NicNodePolicy"):
        server.put({"apiVersion": "mellanox.com/v1alpha1", "kind": kind, "metadata": {"name": kind}})
    assert [each["kind"] for each in consent.nic_policies(api_on(server))] == [
        "NicClusterPolicy",
        "NicNodePolicy",
    ]
