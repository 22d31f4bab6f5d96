"""Three outcomes: a program passed on a node, it measured too little, or it did not run."""

from __future__ import annotations

import json
import re
import typing as t

import pytest
from unit.workload.measuring import RATE, Measuring
from unit.workload.test_steps import THEIRS

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import outcomes

Outcome = dict[str, t.Any]
# A number of one's own below which everything here is: only peers and the past judge.
LAX: t.Final = {**RATE, "expected": 1}
HOT: t.Final = "reading gpu GPU-gpu-1, 0x0000000000000040, 91, 70.1, 0, 16, 16"


def outcome(found: dict[str, t.Any], node: str, number: int = 0) -> Outcome:
    """Return what a program did on a node."""
    (entry,) = [one for one in found["workload"]["nodes"] if one["name"] == node]
    programs: list[Outcome] = entry["programs"]
    return programs[number]


def failed(world: Measuring, *programs: t.Any, **given: t.Any) -> NotReadyError:
    """Return the error with which the validation ends."""
    with pytest.raises(NotReadyError) as caught:
        world.validate(*programs, **given)
    return caught.value


def test_a_program_that_passed_says_what_it_measured_and_what_it_was_compared_with() -> None:
    world = Measuring()
    found = outcome(world.validate(), "gpu-0")
    assert (found["outcome"], found["reason"], found["code"]) == ("passed", "", "")
    (figure,) = found["figures"]
    assert (figure["value"], figure["unit"], figure["expected"], figure["source"]) == (100, "x/s", 50, "user")
    assert (figure["peers"], figure["baseline"]) == (100, None)
    again = world.validate(repeat=True)
    assert outcome(again, "gpu-0")["figures"][0]["baseline"] == 100


def test_a_second_run_measures_nothing_and_says_nothing_new() -> None:
    world = Measuring()
    world.validate()
    pods = len(world.seen)
    found = world.validate()
    assert (found["workload"]["due"], len(world.seen)) == ([], pods)
    assert [one["programs"] for one in found["workload"]["nodes"]] == [[], []]
    assert [one["validated"] for one in found["workload"]["nodes"]] == [1, 1]


def test_a_figure_below_the_expectation_fails_with_node_device_and_both_numbers() -> None:
    error = failed(Measuring(says={"gpu-1": f"rate: 40\n{HOT}"}))
    assert error.code == "WORK-LOW"
    words = r"Node gpu-1: own:rate:\w+ measured figure 40 x/s on all devices, and a good one .* 50 x/s"
    assert re.search(words, error.message), error.message
    assert "Read beside it: the hardware slows it down because of heat" in error.message
    bad, good = (outcome(error.facts, node) for node in ("gpu-1", "gpu-0"))
    assert (bad["outcome"], bad["code"], good["outcome"]) == ("failed", "WORK-LOW", "passed")


def test_a_node_that_became_slower_fails_with_both_figures() -> None:
    world = Measuring(says={"gpu-0": "rate: 100", "gpu-1": "rate: 100"})
    world.validate(LAX)
    world.says = {"gpu-0": "rate: 80", "gpu-1": "rate: 80"}
    error = failed(world, LAX, repeat=True)
    assert error.code == "WORK-BASELINE"
    assert re.search(r"measured figure 80 x/s .* baseline allows 100 x/s", error.message), error.message
    stored = {node: json.loads(text) for node, text in world.data("gpu-validation-baselines").items()}
    figures = [next(iter(one.values()))["figures"] for one in stored.values()]
    assert figures == [{"figure": 100.0}] * 2, "the first figure stays"


def test_one_slow_node_of_four_is_named_by_its_peers() -> None:
    error = failed(Measuring("gpu-2", "gpu-3", says={"gpu-2": "rate: 60"}), LAX)
    assert (error.code, "others of a measure 100 x/s (median)" in error.message) == ("WORK-PEER", True)
    assert "Node gpu-2" in error.message
    outcomes_of = {one["name"]: one["programs"][0]["outcome"] for one in error.facts["workload"]["nodes"]}
    assert outcomes_of == {"gpu-0": "passed", "gpu-1": "passed", "gpu-2": "failed", "gpu-3": "passed"}


def test_a_program_that_measured_nothing_failed() -> None:
    error = failed(Measuring(says={"gpu-0": "no number"}))
    found = outcome(error.facts, "gpu-0")
    assert (error.code, found["outcome"], found["figures"]) == ("WORK-FAULT", "failed", [])
    assert "it measured nothing" in found["message"]


def test_a_busy_node_did_not_run() -> None:
    world = Measuring()
    world.leave("theirs", THEIRS)
    found = outcome(world.validate(), "gpu-0")
    assert (found["outcome"], found["reason"]) == ("not_run", "busy")
    assert "gpu-validation/theirs" in found["message"]
    assert "gpu-0" not in world.data("gpu-validation-fingerprints"), "it stays due"


def test_a_program_that_does_not_fit_the_node_did_not_run_and_others_did() -> None:
    world = Measuring()
    found = world.validate({"program": "nccl"}, RATE)
    other, mine = (outcome(found, "gpu-0", number) for number in (0, 1))
    assert (other["outcome"], other["reason"], mine["outcome"]) == ("not_run", "not_applicable", "passed")
    assert "it has one GPU" in other["message"]


def test_an_image_that_cannot_be_pulled_did_not_run() -> None:
    world = Measuring()

    def pending(pod: dict[str, t.Any], _key: object) -> None:
        waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "manifest unknown"}}
        pod["status"] = {
            "phase": "Pending",
            "containerStatuses": [{"name": "benchmark", "ready": False, "state": waiting}],
        }

    world._on_pod = pending
    error = failed(world, grace=0)
    found = outcome(error.facts, "gpu-0")
    assert (error.code, found["outcome"], found["reason"]) == ("WORK-IMAGE", "not_run", "image")


def test_only_a_program_that_was_added_runs() -> None:
    world = Measuring()
    world.validate()
    found = world.validate(RATE, {**RATE, "name": "other"})
    labels = [one["programs"][0]["program"] for one in found["workload"]["nodes"]]
    assert [label.split(":")[1] for label in labels] == ["other", "other"]
    assert len(world.seen) == 4


@pytest.mark.parametrize("how", ["taint", "cordon"])
def test_a_failed_node_is_closed_and_one_that_passes_is_opened(how: str) -> None:
    world = Measuring(says={"gpu-1": "rate: 40"})
    failed(world, pool={"on_failure": how})

    def spec(name: str) -> dict[str, t.Any]:
        (found,) = [one for key, one in world.server.objects.items() if key[1] == "nodes" and key[3] == name]
        return found.get("spec") or {}

    is_cordoned = how == "cordon"
    assert bool(spec("gpu-1").get("unschedulable")) is is_cordoned
    taints = [one["key"] for one in spec("gpu-1").get("taints") or []]
    assert taints == ([] if is_cordoned else ["accelerators.openshift/validation-failed"])
    assert not spec("gpu-0").get("unschedulable")
    world.says = {}
    world.validate(pool={"on_failure": how})
    assert not spec("gpu-1").get("unschedulable")
    assert not spec("gpu-1").get("taints")


def test_the_numbers_of_the_user_are_checked_before_the_first_request() -> None:
    world = Measuring()
    with pytest.raises(InputError):
        world.validate({**RATE, "expected": 0})
    assert world.server.requests == []


class Pairs(Measuring):
    """Nodes that measure in pairs: a pair with the bad node is slow."""

    def __init__(self, bad: str, *more: str) -> None:
        super().__init__(*more)
        self.bad = bad

    def text(self, node: str) -> str:
        """Return the log of nccl on a node: slow if the partner of its last pod, or itself, is bad."""
        mine = [pod for pod in self.seen if self.of_pod[pod["metadata"]["name"]] == node][-1]
        domain, host = mine["spec"]["subdomain"], mine["spec"]["hostname"].partition("-")[0]
        group = {
            self.of_pod[pod["metadata"]["name"]]
            for pod in self.seen
            if pod["spec"]["subdomain"] == domain and pod["spec"]["hostname"].partition("-")[0] == host
        }
        speed = 90.0 if self.bad in group else 190.0
        row = f"8589934592 2147483648 float sum -1 90000.0 {speed} {speed} 0"
        return (
            f"GPU 0: Tesla T4 (UUID: GPU-{node})\nnccl part=all_reduce rank=0 nodes=2\n"
            f"#  Rank  0 Group  0 Pid     60 on x device  0 [0000:00:00] Tesla T4\n"
            f"x NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA\n"
            f"{row}\n# Out of bounds values : 0 OK\n"
        )


@pytest.mark.parametrize("bad", ["gpu-0", "gpu-1", "gpu-2", "gpu-3"])
def test_a_fault_that_shows_only_in_pairs_is_given_to_its_node(bad: str) -> None:
    world = Pairs(bad, "gpu-2", "gpu-3")
    error = failed(world, {"program": "nccl", "nodes": 2})
    assert error.code == "WORK-PEER"
    assert error.message.startswith(f"Node {bad} is slow with each of its partners: nccl:2 measured"), (
        error.message
    )
    found = {one["name"]: one["programs"][0]["outcome"] for one in error.facts["workload"]["nodes"]}
    assert found == {name: "failed" if name == bad else "passed" for name in found}
    assert sorted(world.data("gpu-validation-fingerprints")) == sorted(set(found) - {bad})
    assert len(world.seen) == 8, "each node ran with two partners"


def test_two_nodes_that_are_slow_together_are_both_named() -> None:
    error = failed(Pairs("gpu-1"), {"program": "nccl", "nodes": 2, "expected": {"all_reduce": 100}})
    assert error.code == "WORK-LOW"
    words = (
        "Node gpu-0 is slow together with others, and no partner tells which of gpu-0, gpu-1 it is: nccl:2"
    )
    assert error.message.startswith(words), error.message
    found = {one["name"]: one["programs"][0]["outcome"] for one in error.facts["workload"]["nodes"]}
    assert found == {"gpu-0": "failed", "gpu-1": "failed"}


def test_good_pairs_run_once() -> None:
    world = Pairs("nobody", "gpu-2", "gpu-3")
    found = world.validate({"program": "nccl", "nodes": 2})
    assert outcome(found, "gpu-3")["figures"][0]["value"] == 190.0
    assert len(world.seen) == 4
    assert world.pods() == []


def test_a_bad_figure_of_the_whole_node_leaves_no_device_good() -> None:
    error = failed(Measuring(says={"gpu-1": "rate: 40"}))
    numbers = {one["name"]: one["validated"] for one in error.facts["workload"]["nodes"]}
    assert numbers == {"gpu-0": 1, "gpu-1": 0}
    assert outcomes.good_devices(4, []) == 4
