"""Several pools in one validation: their pods run together, and a failed pool stops no other."""

from __future__ import annotations

import re
import typing as t

import pytest
from unit.fake_server import Answer, status
from unit.workload.builders import node, params
from unit.workload.test_steps import PODS, World, of

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import steps, turns
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.images import SAMPLES

POOLS: t.Final = [
    {"name": "a", "node_selector": {"pool": "a"}, "expected": {"nvidia.com/gpu": 1}},
    {"name": "b", "node_selector": {"pool": "b"}, "image": "mirror/cuda"},
]
Pod = dict[str, t.Any]


class TwoPools(World):
    """Pool a has the nodes gpu-0 and gpu-1, pool b has other-0; each has one GPU."""

    def __init__(self, fails: str = "", **more: t.Any) -> None:
        super().__init__(**more)
        self.fails, self.sent = fails, list[tuple[str, str]]()
        other = node("other-0", labels={"pool": "b"}, gpu="1")
        self.server.put({"apiVersion": "v1", "kind": "Node", **other})

    def succeed(self, pod: Pod, key: tuple[str, str, str, str]) -> None:
        super().succeed(pod, key)
        if self.fails and pod["spec"]["nodeSelector"]["pool"] == self.fails:
            pod["status"] = {"phase": "Failed", "reason": "Evicted"}

    def answer(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if PODS in url and "dryRun" not in url and "/log" not in url:
            self.sent.append((method, url.partition("?")[0]))
        return super().answer(method, url, body, **more)


def validate(world: World, **given: t.Any) -> dict[str, t.Any]:
    return steps.present(world.api(), params(node_selector=None, **{"pools": POOLS, **given}))


def test_the_pods_of_all_pools_are_made_before_the_first_is_waited_for() -> None:
    world = TwoPools()
    found = validate(world)
    assert of(found, "validated") == {"gpu-0": 1, "gpu-1": 1, "other-0": 1}
    assert of(found, "pool") == {"gpu-0": "a", "gpu-1": "a", "other-0": "b"}
    methods = [method for method, path in world.sent if path.endswith("/pods")]
    made = [index for index, method in enumerate(methods) if method == "POST"]
    assert len(made) == 3
    assert made == list(range(made[0], made[0] + 3)), methods
    assert world.pods() == []
    assert validate(world)["workload"]["due"] == []


@pytest.mark.parametrize("of_task", [None, "example.com/cuda"])
def test_a_pool_has_its_own_image_or_that_of_the_task(of_task: str | None) -> None:
    seen: list[Pod] = []
    world = TwoPools()

    def note(pod: Pod, key: tuple[str, str, str, str]) -> None:
        seen.append(pod)
        world.succeed(pod, key)

    world._on_pod = note
    validate(world, image=of_task)
    images = {pod["spec"]["nodeSelector"]["pool"]: pod["spec"]["containers"][0]["image"] for pod in seen}
    assert images["b"] == "mirror/cuda"
    assert images["a"] == (of_task or SAMPLES)


@pytest.mark.parametrize(("fails", "good"), [("a", ["other-0"]), ("b", ["gpu-0", "gpu-1"])])
def test_a_pool_that_fails_keeps_no_other_from_being_validated(fails: str, good: list[str]) -> None:
    world = TwoPools(fails)
    with pytest.raises(NotReadyError) as caught:
        validate(world)
    assert caught.value.code == "WORK-FAILED"
    assert caught.value.message.startswith(f"Pool {fails}: ")
    nodes = {one["name"]: one["validated"] for one in caught.value.facts["workload"]["nodes"]}
    assert [name for name, passed in nodes.items() if passed] == good
    world.fails = ""
    assert sorted(validate(world)["workload"]["due"]) == sorted(set(nodes) - set(good))


def test_a_pool_without_its_nodes_fails_after_the_other_was_validated() -> None:
    world = TwoPools()
    absent = {"name": "c", "node_selector": {"pool": "c"}, "min_nodes": 2}
    with pytest.raises(NotReadyError) as caught:
        validate(world, pools=[absent, *POOLS])
    assert re.match(r"Pool c: pool=c selects 0 of 2 nodes", caught.value.message), caught.value.message
    assert len(caught.value.facts["workload"]["due"]) == 3
    assert validate(world)["workload"]["due"] == []


def test_the_codes_of_all_pools_that_fail_are_told() -> None:
    world = TwoPools("b")
    absent = {"name": "c", "node_selector": {"pool": "c"}}
    with pytest.raises(NotReadyError) as caught:
        validate(world, pools=[absent, *POOLS])
    assert re.match(r"Pool c: ", caught.value.message), caught.value.message
    assert caught.value.code == "WORK-NODES"
    assert [line for line in caught.value.evidence if line.startswith("pool b: WORK-FAILED: ")]


def test_a_pod_that_is_gone_ends_its_own_pool_only() -> None:
    world = TwoPools()

    def lose(pod: Pod, key: tuple[str, str, str, str]) -> None:
        (world.lose if pod["spec"]["nodeSelector"]["pool"] == "b" else world.succeed)(pod, key)

    world._on_pod = lose
    with pytest.raises(NotReadyError) as caught:
        validate(world)
    assert re.match(r"Pool b: .*1 of 1 pod gone", caught.value.message), caught.value.message
    assert caught.value.code == "WORK-GONE"
    assert {one["name"] for one in caught.value.facts["workload"]["nodes"] if one["validated"]} == {
        "gpu-0",
        "gpu-1",
    }


def test_no_more_nodes_than_the_limit_are_validated_at_the_same_time() -> None:
    world = TwoPools()
    most = 0

    def count(pod: Pod, key: tuple[str, str, str, str]) -> None:
        nonlocal most
        world.succeed(pod, key)
        pods = [one for one in world.server.objects.values() if one.get("kind") == "Pod"]
        most = max(most, len({one["spec"]["nodeSelector"]["kubernetes.io/hostname"] for one in pods}))

    world._on_pod = count
    assert of(validate(world, max_nodes=1), "validated") == {"gpu-0": 1, "gpu-1": 1, "other-0": 1}
    assert most == 1


def test_a_quota_that_takes_one_pool_only_lets_them_go_one_after_the_other() -> None:
    world = TwoPools()
    answer = world.answer

    def limited(method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        if method == "POST" and PODS in url and "dryRun" not in url and len(world.pods()) > 1:
            return status(403, "Forbidden", 'pods "x" is forbidden: exceeded quota: of-a-colleague')
        return answer(method, url, body, **more)

    world.server.request = limited
    assert of(validate(world), "validated") == {"gpu-0": 1, "gpu-1": 1, "other-0": 1}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"name": "a"}, r"pools\[0\].node_selector is missing"),
        ({"node_selector": {"a": "b"}, "resources": {}}, r"pools\[0\].resources is no key"),
        ({"node_selector": {"a": "b"}, "benchmark": "hpl"}, r"pools\[0\].benchmark is hpl"),
    ],
)
def test_a_wrong_pool_is_refused_before_the_first_request(entry: Pod, said: str) -> None:
    world = TwoPools()
    with pytest.raises(InputError, match=said):
        validate(world, pools=[entry])
    assert world.server.requests == []


def test_a_node_of_two_pools_is_validated_once_at_a_time() -> None:
    one, other = (turns.Turn(name, params(), due=[node("n")]) for name in "ab")
    assert [[job.turn.pool for job in batch] for batch in turns.batches([one, other], 9)] == [["a"], ["b"]]


def test_without_pools_nothing_is_read() -> None:
    world = TwoPools()
    assert validate(world, pools=[])["workload"]["nodes"] == []
    assert world.server.requests == []


def test_each_program_of_a_pool_has_its_turn_with_its_own_options() -> None:
    programs = ["nccl", "vectoradd", {"program": "matmul", "types": ["fp8"], "tolerance": 0.2}]
    pools = [
        {"name": "a", "node_selector": {"pool": "a"}, "programs": programs, "tolerance": 0.05, "gate": True},
        {"name": "b", "node_selector": {"pool": "b"}, "on_failure": "taint"},
    ]
    each = turns.begin(params(node_selector=None, pools=pools))
    assert [(one.pool, one.params.program.label) for one in each] == [
        ("a", "vectoradd"),
        ("a", "matmul:fp8"),
        ("a", "nccl"),
        ("b", "vectoradd"),
    ]
    assert [one.params.program.tolerance for one in each] == [0.05, 0.2, 0.05, 0.1]
    assert [one.params.on_failure for one in each] == ["report"] * 3 + ["taint"]
    assert [one.is_gated for one in each] == [True] * 3 + [False]


@pytest.mark.parametrize(
    ("programs", "said"),
    [
        (["hpl"], "hpl"),
        ([{"program": "dcgm", "level": 9}], "level"),
        ([], "must be a list of programs"),
    ],
)
def test_wrong_programs_are_refused_before_the_first_request(programs: list[t.Any], said: str) -> None:
    world = TwoPools()
    entry = {"node_selector": {"a": "b"}, "programs": programs}
    with pytest.raises(InputError, match=said) as caught:
        validate(world, pools=[entry])
    assert "pools[0].programs" in str(caught.value.facts or caught.value)
    assert world.server.requests == []


def test_the_programs_of_a_node_run_one_after_the_other() -> None:
    """Two that share the GPUs of a node would measure each other."""
    each = [turns.Turn("a", params(), due=[node("n"), node("m")]) for _program in range(2)]
    assert [[len(job.nodes) for job in batch] for batch in turns.batches(each, 9)] == [[2], [2]]


def test_a_program_of_a_task_without_pools() -> None:
    (one,) = turns.begin(params(programs=[{"program": "dcgm", "level": 1}]))
    assert (one.params.benchmark, one.params.program.level) == ("dcgm", 1)


def test_a_node_without_a_pod_has_not_passed() -> None:
    turn = turns.Turn("a", params(), due=[node("n"), node("m")])
    turn.ran = {"n": []}
    assert [one["metadata"]["name"] for one in turn.passed] == ["m"]
