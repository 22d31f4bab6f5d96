"""Traffic between pairs of nodes: what their pods get, by which rights, and what a slow link means."""

from __future__ import annotations

import typing as t

import pytest
from unit.fake_server import Answer, status
from unit.workload.builders import params
from unit.workload.measuring import Measuring, Pod
from unit.workload.programs.test_rdma import CAPABLE, LIMITED, LIST, NO_MR, UNLIMITED, device, log, ran, step
from unit.workload.test_steps import PLACE, PODS, THEIRS

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import steps

NETWORK: t.Final = {
    "name": "fast",
    "kind": "sriov",
    "annotation": "fast",
    "resources": {"openshift.io/fast": 1},
    "namespaces": [PLACE],
}
RDMA: t.Final = {"program": "rdma", "network": "fast"}


class Traffic(Measuring):
    """Two nodes whose pods write into each other's memory. locks: whether ordinary pods may lock memory."""

    def __init__(self, *more: str, locks: bool = True, says: dict[str, str] | None = None) -> None:
        super().__init__(*more, says=says)
        self.locks, self.rights = locks, dict[str, bool]()

    def note(self, pod: Pod, key: tuple[str, str, str, str]) -> None:
        super().note(pod, key)
        capabilities = pod["spec"]["containers"][0]["securityContext"]["capabilities"]
        self.rights[self.of_pod[key[3]]] = self.locks or "IPC_LOCK" in capabilities.get("add", [])

    def text(self, node: str) -> str:
        if node in self.says:
            return LIST + self.says[node]
        if self.rights[node]:
            return log(ran("host", 392.0), ran("dmabuf", 390.0), rights=UNLIMITED if self.locks else CAPABLE)
        return log(step("host", NO_MR), rights=LIMITED)

    def test(self, **given: t.Any) -> dict[str, t.Any]:
        return self.validate(RDMA, networks=[NETWORK], **given)


def test_pods_of_a_pair_get_the_network() -> None:
    world = Traffic()
    found = world.test()
    one, other = world.seen
    for pod in (one, other):
        assert pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] == "fast"
        resources = pod["spec"]["containers"][0]["resources"]
        assert resources["limits"] == resources["requests"]
        assert resources["limits"]["openshift.io/fast"] == "1"
        assert pod["spec"]["containers"][0]["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
        assert "rdma asked=1" in pod["spec"]["containers"][0]["command"][2]
    assert {entry["programs"][0]["outcome"] for entry in found["workload"]["nodes"]} == {"passed"}
    result = found["workload"]["nodes"][0]["pods"][0]["result"]
    assert (result["rights"], result["gpu_memory"]) == ("memlock", ["dmabuf"])
    assert (
        steps.present(world.api(), params(node_selector={"pool": "a"}, programs=[RDMA], networks=[NETWORK]))[
            "workload"
        ]["due"]
        == []
    )


def test_least_rights_come_first() -> None:
    world = Traffic(locks=False)
    found = world.test()
    assert len(world.seen) == 4
    before, after = world.seen[0]["spec"], world.seen[2]["spec"]
    assert before["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert after["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"], "add": ["IPC_LOCK"]},
        "runAsUser": 0,
    }
    assert "privileged" not in str(world.seen)
    assert found["workload"]["nodes"][0]["pods"][0]["result"]["rights"] == "IPC_LOCK"


@pytest.mark.parametrize(
    "answer",
    [
        'pods "x" is forbidden: unable to validate against any security context constraint: [...]',
        'pods "x" is forbidden: violates PodSecurity "restricted:latest": unrestricted capabilities',
    ],
)
def test_a_namespace_that_does_not_allow_the_capability(answer: str) -> None:
    world = Traffic(locks=False)
    inner = world.server.request

    def request(method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if method == "POST" and PODS in url and b"IPC_LOCK" in (body or b""):
            return status(403, "Forbidden", answer)
        found: Answer = inner(method, url, body, **more)
        return found

    world.server.request = request
    with pytest.raises(NotReadyError) as caught:
        world.test()
    assert caught.value.code == "WORK-RDMA-RIGHTS"
    assert answer in caught.value.message
    assert "cluster administrator" in caught.value.remedy
    assert world.pods() == []


@pytest.mark.parametrize(
    ("speeds", "code"),
    [((300.0, 295.0), "WORK-LOW"), ((392.0, 320.0), "WORK-LOW"), ((392.0, 190.0), "WORK-RDMA-RAIL")],
)
def test_slow_traffic(speeds: tuple[float, float], code: str) -> None:
    slow = log(ran("host", speeds[0]), ran("dmabuf", speeds[1]))
    world = Traffic(says={"gpu-0": slow, "gpu-1": slow})
    with pytest.raises(NotReadyError) as caught:
        world.test()
    assert caught.value.code == code
    assert "gpu-0" in caught.value.message
    expected = {**RDMA, "expected": {"host": 200, "gpu": 150}}
    assert (
        world.validate(expected, networks=[NETWORK])["workload"]["nodes"][0]["programs"][0]["outcome"]
        == "passed"
    )


def test_the_node_without_a_device_is_named_before_its_partner() -> None:
    silent = log(step("host", "Couldn't connect to g0-r1.peers:18516\n"))
    world = Traffic(says={"gpu-0": silent, "gpu-1": log(found="")})
    with pytest.raises(NotReadyError) as caught:
        world.test()
    assert caught.value.code == "WORK-RDMA-DEVICE"
    assert "Node gpu-1" in caught.value.message


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"networks": []}, "no network"),
        ({"networks": [{**NETWORK, "name": "other"}]}, "only other"),
        ({"networks": [{**NETWORK, "namespaces": ["team-a"]}]}, "not in namespace gpu-validation"),
    ],
)
def test_a_network_that_pods_of_the_validation_do_not_have(given: dict[str, t.Any], words: str) -> None:
    world = Traffic()
    with pytest.raises(InputError) as caught:
        world.validate(RDMA, **given)
    assert words in caught.value.message
    assert world.server.writes() == []


def test_a_fault_of_one_node_is_not_that_of_its_partner() -> None:
    good = log(ran("host", 392.0), ran("dmabuf", 390.0))
    extra = log(ran("host", 392.0), ran("dmabuf", 390.0), found=device() + device(1))
    world = Traffic(says={"gpu-0": good, "gpu-1": extra})
    with pytest.raises(NotReadyError) as caught:
        world.test()
    assert caught.value.code == "WORK-RDMA-EXTRA"
    outcomes = {one["name"]: one["programs"][0] for one in caught.value.facts["workload"]["nodes"]}
    assert outcomes["gpu-0"]["outcome"] == "passed"
    assert outcomes["gpu-1"]["code"] == "WORK-RDMA-EXTRA"


def test_a_log_is_read_from_its_first_lines() -> None:
    world, asked = Traffic(), list[str]()
    inner = world.server.request

    def request(method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        asked.extend([url] if "/log" in url else [])
        found: Answer = inner(method, url, body, **more)
        return found

    world.server.request = request
    world.test()
    assert len(asked) == 2
    assert all("tailLines=2000" in url for url in asked), asked


def reboot(world: Traffic, node: str) -> None:
    (live,) = [one for key, one in world.server.objects.items() if key[1] == "nodes" and key[3] == node]
    live["status"]["nodeInfo"]["bootID"] = "b2"


def again(world: Traffic) -> dict[str, t.Any]:
    """Validate what has changed. Return what the program says of each node that ran."""
    found = world.test()
    return {
        one["name"]: one["programs"][0]["outcome"] for one in found["workload"]["nodes"] if one["programs"]
    }


def test_a_node_that_was_booted_runs_with_a_partner() -> None:
    world = Traffic("gpu-2")
    world.test()
    reboot(world, "gpu-2")
    assert again(world) == {"gpu-0": "passed", "gpu-2": "passed"}
    assert again(world) == {}


def test_a_node_whose_partners_are_busy_stays_due() -> None:
    world = Traffic()
    world.test()
    reboot(world, "gpu-1")
    world.leave("theirs", THEIRS)
    assert again(world) == {"gpu-0": "not_run", "gpu-1": "not_run"}


def test_a_pool_of_one_node_has_no_pair() -> None:
    world = Traffic()
    (key,) = [key for key in world.server.objects if key[1] == "nodes" and key[3] == "gpu-1"]
    del world.server.objects[key]
    assert again(world) == {"gpu-0": "not_run"}
    assert world.seen == []


def test_a_node_that_is_left_over_has_not_passed() -> None:
    world = Traffic("gpu-2")
    world.test(max_nodes=2)
    hosts = {pod["spec"]["nodeSelector"]["kubernetes.io/hostname"] for pod in world.seen}
    assert hosts == {"host-gpu-0", "host-gpu-1"}
    assert again(world) == {"gpu-0": "passed", "gpu-2": "passed"}
