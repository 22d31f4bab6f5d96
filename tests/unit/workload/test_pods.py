"""Validation pods: how many, how they may run, who holds what, and the verdict on their end."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ForbiddenError,
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import claims
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import (
    failures,
    pods as workload_pods,
    verdict,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.benchmarks.registry import (
    BENCHMARKS,
)

PASSED = "GPU 0: Tesla T4 (UUID: GPU-{uuid})\n[Vector addition of 50000 elements]\nCUDA kernel launch with 196 blocks of 256 threads\nTest PASSED\nDone\n"
QUOTA = 'pods "x" is forbidden: exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=4, used: ..., limited: requests.nvidia.com/gpu=2'


def params(**given: t.Any) -> dict[str, t.Any]:
    plain = {
        "namespace": "gpu-validation",
        "node_selector": {"pool": "a"},
        "tolerations": [],
        "resources": None,
        "benchmark": "vectoradd",
        "image": None,
    }
    plain["claims"] = False
    return plain | {"hold": 3, "force": False, "min_nodes": 1, "grace": 60} | given


def node(
    name: str = "gpu-0", boot: str = "b1", labels: dict[str, str] | None = None, **allocatable: str
) -> dict[str, t.Any]:
    offered = (
        {"nvidia.com/gpu": "2"}
        if not allocatable
        else {f"nvidia.com/{key.replace('_', '-')}": value for key, value in allocatable.items()}
    )
    marks = {
        "pool": "a",
        "kubernetes.io/hostname": f"host-{name}",
        "nvidia.com/cuda.driver-version.full": "595.91.07",
        **(labels or {}),
    }
    return {
        "metadata": {"name": name, "labels": marks},
        "status": {"allocatable": {"cpu": "4", **offered}, "nodeInfo": {"bootID": boot}},
    }


def ended(
    name: str = "p", phase: str = "Succeeded", code: int | None = 0, host: str = "host-gpu-0", **status: t.Any
) -> dict[str, t.Any]:
    containers = [] if code is None else [{"name": "benchmark", "state": {"terminated": {"exitCode": code}}}]
    found = {"phase": phase, "containerStatuses": containers, **status}
    return {
        "metadata": {"name": name, "namespace": "gpu-validation"},
        "spec": {"nodeSelector": {"kubernetes.io/hostname": host}},
        "status": found,
    }


def test_as_many_pods_as_the_geometry_promises() -> None:
    pods = workload_pods.pods(params(), [node(), node("gpu-1", mig_1g="3", gpu="1")], "r1")
    asked = [
        (
            pod["spec"]["nodeSelector"]["kubernetes.io/hostname"],
            *(key for key in pod["spec"]["containers"][0]["resources"]["limits"] if "/" in key),
        )
        for pod in pods
    ]
    assert (
        asked
        == [("host-gpu-0", "nvidia.com/gpu")] * 2
        + [("host-gpu-1", "nvidia.com/gpu")]
        + [("host-gpu-1", "nvidia.com/mig-1g")] * 3
    )
    names = [pod["metadata"]["name"] for pod in pods]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 63 for name in names)


def test_a_pod_is_what_an_ordinary_user_may_run() -> None:
    (pod,) = workload_pods.pods(
        params(
            resources={"nvidia.com/gpu": 1},
            tolerations=[{"key": "team", "operator": "Exists", "value": None}],
        ),
        [node()],
        "r1",
    )
    spec, (container,) = pod["spec"], pod["spec"]["containers"]
    assert "nodeName" not in spec
    assert spec["restartPolicy"] == "Never"
    assert spec["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["requests"] == container["resources"]["limits"]
    assert container["image"] == BENCHMARKS["vectoradd"].image
    assert spec["tolerations"] == [
        {"key": "team", "operator": "Exists"},
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    ]
    assert container["command"][-1].endswith("code=$?\nsleep 3\nexit $code")
    assert pod["metadata"]["labels"]["accelerators.openshift/benchmark"] == "vectoradd"


def test_the_probe_asks_for_everything_at_once() -> None:
    (probe,) = workload_pods.probes(params(), [node(), node("gpu-1")], "r1")
    limits = probe["spec"]["containers"][0]["resources"]["limits"]
    assert (limits["nvidia.com/gpu"], limits["cpu"], limits["memory"]) == ("4", "400m", "2048Mi")


def test_only_changed_nodes_are_due() -> None:
    nodes = [node(), node("gpu-1")]
    memory = workload_pods.fingerprints(params(), None, nodes, nodes)
    assert workload_pods.changed(nodes, "vectoradd", memory, False) == []
    assert workload_pods.changed(nodes, "vectoradd", memory, True) == nodes
    assert workload_pods.changed(nodes, "matmul", memory, False) == nodes
    rebooted, cut, updated = (
        node(boot="b2"),
        node(gpu="1"),
        node(labels={"nvidia.com/cuda.driver-version.full": "600.1"}),
    )
    assert workload_pods.changed([rebooted, cut, updated], "vectoradd", memory, False) == [
        rebooted,
        cut,
        updated,
    ]


def test_the_memory_forgets_nodes_that_are_gone_and_keeps_other_pools() -> None:
    memory = workload_pods.fingerprints(
        params(), {"data": {"gone": "x", "other": "y"}}, [node()], [node(), node("other")]
    )
    assert list(memory["data"]) == ["gpu-0", "other"]
    assert memory["data"]["other"] == "y"
    assert memory["data"]["gpu-0"] == "benchmark=vectoradd boot=b1 driver=595.91.07 geometry=nvidia.com/gpu=2"


def holder(
    name: str,
    number: int,
    phase: str = "Running",
    labels: dict[str, str] | None = None,
    namespace: str = "team-a",
) -> dict[str, t.Any]:
    container = {"resources": {"limits": {"nvidia.com/gpu": str(number)}}}
    return {
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}},
        "spec": {"containers": [container], "nodeSelector": {"kubernetes.io/hostname": "host-gpu-0"}},
        "status": {"phase": phase},
    }


OURS = {"app.kubernetes.io/managed-by": "accelerators.openshift", "accelerators.openshift/run": "old"}


def test_who_holds_the_devices_is_named() -> None:
    present = {
        "gpu-0": [
            holder("trainer", 1),
            holder("done", 1, "Succeeded"),
            holder("web", 0),
            holder("left", 1, labels=OURS, namespace="gpu-validation"),
        ]
    }
    lines = workload_pods.holders(
        [node()], {"gpu-0": workload_pods.requests(node(), present["gpu-0"], params())}, params()
    )
    assert lines == ["gpu-0: 1 of 2 nvidia.com/gpu free, 2 needed; held by team-a/trainer (1)"]
    with pytest.raises(NotReadyError, match="team-a/trainer") as caught:
        failures.check_holders(lines)
    assert caught.value.code == "WORK-BUSY"
    assert (
        workload_pods.holders(
            [node()], {"gpu-0": workload_pods.requests(node(), [holder("web", 0)], params())}, params()
        )
        == []
    )


SLICES: t.Final[list[dict[str, t.Any]]] = [
    {
        "spec": {
            "driver": "gpu.nvidia.com",
            "nodeName": name,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": [
                {
                    "name": f"gpu-{index}",
                    "attributes": {"type": {"string": "gpu"}, "driverVersion": {"version": "595.91.7"}},
                }
                for index in range(number)
            ],
        }
    }
    for name, number in (("gpu-0", 2), ("gpu-1", 4))
]


def claim(
    name: str, device: str, pod: str = "trainer", on: str = "gpu-0", **result: t.Any
) -> dict[str, t.Any]:
    given = {"driver": "gpu.nvidia.com", "pool": on, "device": device, **result}
    status = {
        "allocation": {"devices": {"results": [given]}},
        "reservedFor": [{"resource": "pods", "name": pod}] if pod else [],
    }
    return {"metadata": {"name": name, "namespace": "team-a"}, "status": status}


def test_where_pods_claim_devices_the_slices_say_what_a_node_offers() -> None:
    first = claims.offering(node(gpu="7"), SLICES)
    assert first["status"]["allocatable"] == {"cpu": "4", "nvidia.com/gpu": "2"}
    assert (
        workload_pods.fingerprint(first, "vectoradd")
        == "benchmark=vectoradd boot=b1 driver=595.91.7 geometry=nvidia.com/gpu=2"
    )
    late = [
        {"spec": {**SLICES[0]["spec"], "pool": {"name": "gpu-0", "generation": 2, "resourceSliceCount": 2}}}
    ]
    assert claims.offering(node(gpu="7"), late)["status"]["allocatable"] == {"cpu": "4"}


def test_a_pod_that_claims_requests_no_device() -> None:
    asked = params(claims=True)
    (pod, _other) = workload_pods.pods(asked, [claims.offering(node(), SLICES)], "r1")
    (container,) = pod["spec"]["containers"]
    assert (
        container["resources"]["limits"]
        == container["resources"]["requests"]
        == {"cpu": "100m", "memory": "512Mi"}
    )
    assert container["resources"]["claims"] == [{"name": "gpu"}]
    assert "env" not in container
    template = workload_pods.template(asked, "r1")
    assert pod["spec"]["resourceClaims"] == [
        {"name": "gpu", "resourceClaimTemplateName": template["metadata"]["name"]}
    ]
    assert template["spec"]["metadata"]["labels"] == {
        key: value for key, value in pod["metadata"]["labels"].items() if "benchmark" not in key
    }
    whole, everything = workload_pods.probes(
        asked, [claims.offering(node(name), SLICES) for name in ("gpu-0", "gpu-1")], "r1"
    )
    assert whole["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "600m", "memory": "3072Mi"}
    assert claims.asked(everything) == {"gpu.nvidia.com": 6}


def test_who_claims_the_devices_is_named() -> None:
    found = [
        claim("a", "gpu-1"),
        claim("b", "gpu-0", pod=""),
        claim("monitoring", "gpu-0", pod="dcgm", adminAccess=True),
        claim("c", "gpu-0", on="elsewhere"),
        claim("d", "nic-0", driver="nic.example.com"),
    ]
    held = claims.held(found, SLICES)
    assert held == {"gpu-0": {"nvidia.com/gpu": {"team-a/trainer": 1}}}
    lines = workload_pods.holders([claims.offering(node(), SLICES)], held, params(claims=True))
    assert lines == ["gpu-0: 1 of 2 nvidia.com/gpu free, 2 needed; held by team-a/trainer (1)"]


def test_claims_are_of_whole_gpus() -> None:
    failures.check(params(claims=True, resources={"nvidia.com/gpu": 1}))
    with pytest.raises(InputError, match=r"resources\[nvidia.com/mig-1g.5gb\]"):
        failures.check(params(claims=True, resources={"nvidia.com/mig-1g.5gb": 7}))


def test_leftovers_of_a_killed_run_are_found_on_these_nodes_only() -> None:
    left = holder("left", 1, labels=OURS, namespace="gpu-validation")
    assert workload_pods.leftovers([left, holder("trainer", 1)], params(), [node()]) == [left]
    assert workload_pods.leftovers([left], params(), [node("gpu-1")]) == []


@pytest.mark.parametrize(
    ("nodes", "given", "code"),
    [
        ([], {}, "WORK-NO-NODES"),
        ([node()], {"min_nodes": 2}, "WORK-NO-NODES"),
        ([node()], {"resources": {"nvidia.com/gpu": 4}}, "GPU-ALLOC"),
        ([node(gpu="0")], {}, "GPU-ALLOC"),
    ],
)
def test_nodes_that_cannot_be_validated(
    nodes: list[dict[str, t.Any]], given: dict[str, t.Any], code: str
) -> None:
    found = failures.problem(nodes, params(**given))
    assert found is not None
    assert found.code == code
    assert failures.problem([node()], params()) is None


def test_a_quota_is_called_by_its_name() -> None:
    found = failures.quota(ForbiddenError("API-REFUSED", QUOTA), "gpu-validation")
    assert (found.code, found.layer) == ("QUOTA-TOO-SMALL", "quota")
    assert QUOTA in found.message
    other = ForbiddenError("API-FORBIDDEN", "no")
    assert failures.quota(other, "gpu-validation") is other


def judged(pods: list[dict[str, t.Any]], wanted: int, after: float = 0.0) -> t.Any:
    moments = iter([0.0, after])
    judge = verdict.Judge(wanted, 60, lambda: next(moments))
    return (judge({"pods": pods}), judge({"pods": pods}))[1]


def waiting(**status: t.Any) -> dict[str, t.Any]:
    return ended(phase="Pending", code=None, **status)


UNSCHEDULABLE = {
    "conditions": [
        {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": "0/7 nodes are available: 7 Insufficient nvidia.com/gpu.",
        }
    ]
}
NO_IMAGE = {
    "containerStatuses": [
        {
            "name": "benchmark",
            "restartCount": 0,
            "state": {"waiting": {"reason": "ImagePullBackOff", "message": "denied"}},
        }
    ]
}
ROOT = {
    "containerStatuses": [
        {
            "name": "benchmark",
            "restartCount": 0,
            "state": {
                "waiting": {"reason": "CreateContainerConfigError", "message": "image will run as root"}
            },
        }
    ]
}


@pytest.mark.parametrize(
    ("pods", "wanted", "early", "late", "code"),
    [
        ([ended(), ended("q")], 2, "ready", "ready", ""),
        ([ended()], 2, "pending", "pending", "WORK-RUNNING"),
        ([ended(), ended("q", "Running", None)], 2, "pending", "pending", "WORK-RUNNING"),
        (
            [ended(phase="Failed", code=1), ended("q", "Running", None)],
            2,
            "pending",
            "pending",
            "WORK-RUNNING",
        ),
        ([ended(phase="Failed", code=1), ended("q", "Pending", None)], 2, "ready", "ready", ""),
        ([waiting(**UNSCHEDULABLE)], 1, "pending", "failed", "WORK-UNSCHEDULABLE"),
        ([waiting(**NO_IMAGE)], 1, "pending", "failed", "WORK-IMAGE"),
        ([waiting(**ROOT)], 1, "pending", "failed", "WORK-CONTAINER"),
    ],
)
def test_when_the_wait_is_over(
    pods: list[dict[str, t.Any]], wanted: int, early: str, late: str, code: str
) -> None:
    assert judged(pods, wanted).verdict == early
    found = judged(pods, wanted, after=61)
    assert (found.verdict, found.code) == (late, code)


def test_the_scheduler_is_quoted() -> None:
    assert "Insufficient nvidia.com/gpu" in judged([waiting(**UNSCHEDULABLE)], 1, after=61).message


def results(*logs: tuple[dict[str, t.Any], str]) -> list[dict[str, t.Any]]:
    return [verdict.result(pod, "vectoradd", log) for pod, log in logs]


def test_distinct_devices_are_proof() -> None:
    found = results((ended(), PASSED.format(uuid="a")), (ended("q"), PASSED.format(uuid="b")))
    assert verdict.complaints(node(), found) == []
    facts = verdict.summarize([node()], [node()], {"gpu-0": found}, params())
    assert (facts["due"], facts["nodes"][0]["validated"], facts["nodes"][0]["ran"]) == (["gpu-0"], 2, True)


def test_the_same_device_twice_is_no_proof_unless_it_is_shared() -> None:
    found = results((ended(), PASSED.format(uuid="a")), (ended("q"), PASSED.format(uuid="a")))
    assert [part.code for part in verdict.complaints(node(), found)] == ["WORK-SAME-DEVICE"]
    shared = {"nvidia.com/gpu.sharing-strategy": "time-slicing"}
    assert verdict.complaints(node(labels=shared), found) == []


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
        (ended(phase="Pending", code=None), "", "still Pending when another one failed"),
        (
            ended(phase="Failed", code=1),
            "CUDA error: system not yet initialized",
            "the NVSwitch fabric is not up",
        ),
    ],
)
def test_failures(pod: dict[str, t.Any], log: str, words: str) -> None:
    (part,) = verdict.complaints(node(), results((pod, log)))
    assert part.code == "WORK-FAILED"
    assert words in part.message
    error = failures.failure([part, part], {"workload": {}})
    assert (error.code, "(and 1 more)" in error.message) == ("WORK-FAILED", True)


def test_the_log_tail_is_short() -> None:
    (found,) = results((ended(phase="Failed", code=1), "\n".join(map(str, range(50)))))
    assert found["log_tail"] == [str(number) for number in range(30, 50)]


def test_a_node_that_did_not_run_counts_with_what_it_offers() -> None:
    facts = verdict.summarize([node()], [], {}, params())
    assert (
        facts["nodes"][0] | {"resources": {"nvidia.com/gpu": 2}, "validated": 2, "ran": False}
        == facts["nodes"][0]
    )


def test_a_fresh_namespace_needs_its_account() -> None:
    assert verdict.judge_account({"accounts": []}).code == "WORK-NO-ACCOUNT"
    assert verdict.judge_account({"accounts": [{}]}).is_ready


def test_results_belong_to_their_node() -> None:
    pods, logs = [ended(), ended("q", host="host-gpu-1")], [PASSED.format(uuid="a"), PASSED.format(uuid="b")]
    found = verdict.by_node([node(), node("gpu-1")], pods, logs, "vectoradd")
    assert [(name, [one["name"] for one in entries]) for name, entries in found.items()] == [
        ("gpu-0", ["p"]),
        ("gpu-1", ["q"]),
    ]


def test_a_pod_that_never_ran_has_no_log() -> None:
    assert verdict.has_log(ended())
    assert not verdict.has_log(ended(phase="Failed", code=None, reason="UnexpectedAdmissionError"))
    assert not verdict.has_log(ended(phase="Pending"))
