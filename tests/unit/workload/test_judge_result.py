"""Results of a validation: of pods, of nodes, and what is wrong with them."""

from __future__ import annotations

import pytest
from unit.workload.builders import ended, node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import judge

PASSED = (
    "GPU 0: Tesla T4 (UUID: GPU-{uuid})\n[Vector addition of 50000 elements]\n"
    "CUDA kernel launch with 196 blocks of 256 threads\nTest PASSED\nDone\n"
)


def results(*logs: tuple[KubeObject, str]) -> list[KubeObject]:
    return [judge.pod_result(pod, "vectoradd", log) for pod, log in logs]


def test_distinct_devices_are_proof() -> None:
    found = results((ended(), PASSED.format(uuid="a")), (ended("q"), PASSED.format(uuid="b")))
    assert judge.complaints(node(), found) == []
    facts = judge.summarize([node()], [node()], {"gpu-0": found}, params())
    assert (facts["due"], facts["nodes"][0]["validated"], facts["nodes"][0]["ran"]) == (["gpu-0"], 2, True)


def test_the_same_device_twice_is_no_proof_unless_it_is_shared() -> None:
    found = results((ended(), PASSED.format(uuid="a")), (ended("q"), PASSED.format(uuid="a")))
    assert [part.code for part in judge.complaints(node(), found)] == ["WORK-SAME-DEVICE"]
    for device in ("gpu", "mig-1g.5gb"):
        shared = {f"nvidia.com/{device}.sharing-strategy": "time-slicing"}
        assert judge.complaints(node(labels=shared), found) == []


@pytest.mark.parametrize(
    ("pod", "log", "words"),
    [
        (ended(phase="Failed", code=7), "boom", "exit code 7: boom"),
        (ended(), "nothing useful", "does not say that the test passed"),
        (
            ended(phase="Failed", code=None, reason="UnexpectedAdmissionError"),
            "",
            "refused by the node (UnexpectedAdmissionError)",
        ),
        (ended(phase="Pending", code=None), "", "still Pending when another pod failed"),
        (
            ended(phase="Failed", code=1),
            "CUDA error: system not yet initialized",
            "the NVSwitch fabric is not up",
        ),
    ],
)
def test_failures(pod: KubeObject, log: str, words: str) -> None:
    (part,) = judge.complaints(node(), results((pod, log)))
    assert part.code == "WORK-FAILED"
    assert words in part.message
    error = judge.failure([part, part], {"workload": {}})
    assert (error.code, "(and 1 more)" in error.message) == ("WORK-FAILED", True)


def test_the_log_tail_is_short() -> None:
    (found,) = results((ended(phase="Failed", code=1), "\n".join(map(str, range(50)))))
    assert found["log_tail"] == [str(number) for number in range(30, 50)]


def test_a_node_that_did_not_run_counts_with_what_it_offers() -> None:
    facts = judge.summarize([node()], [], {}, params())
    assert (
        facts["nodes"][0] | {"resources": {"nvidia.com/gpu": 2}, "validated": 2, "ran": False}
        == facts["nodes"][0]
    )


def test_results_belong_to_their_node() -> None:
    pods, logs = [ended(), ended("q", host="host-gpu-1")], [PASSED.format(uuid="a"), PASSED.format(uuid="b")]
    found = judge.by_node([node(), node("gpu-1")], pods, logs, "vectoradd")
    assert [(name, [one["name"] for one in entries]) for name, entries in found.items()] == [
        ("gpu-0", ["p"]),
        ("gpu-1", ["q"]),
    ]


def test_a_pod_that_never_ran_has_no_log() -> None:
    assert judge.has_log(ended())
    assert not judge.has_log(ended(phase="Failed", code=None, reason="UnexpectedAdmissionError"))
    assert not judge.has_log(ended(phase="Pending"))
