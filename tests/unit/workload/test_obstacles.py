"""Obstacles to a validation: options, missing nodes and devices, a quota, holders of devices."""

from __future__ import annotations

import typing as t

import pytest
from unit.workload.builders import SLICES, node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    ForbiddenError,
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import claims as gpu_claims
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import obstacles, runs

QUOTA = (
    'pods "x" is forbidden: exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=4, '
    "used: ..., limited: requests.nvidia.com/gpu=2"
)


def test_claims_are_of_whole_gpus() -> None:
    obstacles.check(params(claims=True, expected={"nvidia.com/gpu": 1}))
    with pytest.raises(InputError, match=r"expected\[nvidia.com/mig-1g.5gb\]"):
        obstacles.check(params(claims=True, expected={"nvidia.com/mig-1g.5gb": 7}))


def test_an_image_that_no_kubelet_can_parse_is_refused() -> None:
    obstacles.check(params(image="mirror.example.com:5000/cuda:12"))
    with pytest.raises(InputError, match=r"image 'https://r\.io/cuda' has a scheme") as caught:
        obstacles.check(params(image="https://r.io/cuda"))
    assert "gpu_validation_image" in caught.value.remedy


@pytest.mark.parametrize(
    ("nodes", "given", "code"),
    [
        ([], {}, "WORK-NODES"),
        ([node()], {"min_nodes": 2}, "WORK-NODES"),
        ([node()], {"expected": {"nvidia.com/gpu": 4}}, "GPU-ALLOC"),
        ([node(gpu="0")], {}, "GPU-ALLOC"),
    ],
)
def test_nodes_that_cannot_be_validated(nodes: list[KubeObject], given: dict[str, t.Any], code: str) -> None:
    found = obstacles.problem(nodes, params(**given))
    assert found is not None
    assert found.code == code
    assert obstacles.problem([node()], params()) is None


def test_a_quota_is_called_by_its_name() -> None:
    found = obstacles.refused(ForbiddenError("API-REFUSED", QUOTA), "gpu-validation")
    assert (found.code, found.layer) == ("QUOTA-TOO-SMALL", "quota")
    assert QUOTA in found.message
    other = ForbiddenError("API-FORBIDDEN", "no")
    assert obstacles.refused(other, "gpu-validation") is other


@pytest.mark.parametrize("webhook", ["validation.gatekeeper.sh", "validate.kyverno.svc-fail"])
def test_a_policy_engine_that_refuses_the_image_leads_to_the_option_of_the_image(webhook: str) -> None:
    """Gatekeeper answers with HTTP 403, Kyverno with 400."""
    text = f'admission webhook "{webhook}" denied the request: image of nvcr.io'
    found = obstacles.refused(ApiError("API-REFUSED", text), "gpu-validation")
    assert (found.code, found.message) == ("API-REFUSED", text)
    assert "Set validate.image of the pool in gpu_pools (module option image)" in found.remedy
    assert f"the webhook {webhook} allows, or exempt namespace gpu-validation there" in found.remedy


def test_a_node_that_lacks_two_resources_counts_once() -> None:
    wanted = {"nvidia.com/mig-2g.10gb": 1, "nvidia.com/mig-1g.5gb": 2}
    nodes = [node("n1"), node("n2")]
    found = obstacles.problem(nodes, params(expected=wanted))
    assert found is not None
    assert found.message.startswith("Devices are missing on 2 of 2 nodes")
    assert len(found.evidence) == 4


def holder(
    name: str,
    number: int,
    phase: str = "Running",
    labels: dict[str, str] | None = None,
    namespace: str = "team-a",
) -> KubeObject:
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
    held = {"gpu-0": obstacles.held_by_others(node(), present["gpu-0"], params())}
    busy = obstacles.busy([node()], held, params())
    assert busy == {"gpu-0": "1 of 2 nvidia.com/gpu free, 2 needed; held by team-a/trainer (1)"}
    with pytest.raises(NotReadyError, match="team-a/trainer") as caught:
        obstacles.check_busy(busy, 1, strict=True)
    assert caught.value.code == "WORK-BUSY"
    assert caught.value.evidence == [f"gpu-0: {busy['gpu-0']}"]
    idle = {"gpu-0": obstacles.held_by_others(node(), [holder("web", 0)], params())}
    assert obstacles.busy([node()], idle, params()) == {}


def test_a_busy_node_is_a_warning_unless_the_user_is_strict() -> None:
    assert obstacles.check_busy({}, 2, strict=True) == ""
    text = obstacles.check_busy({"gpu-0": "held by a", "gpu-1": "held by b"}, 3, strict=False)
    assert text.startswith("Not validated: 2 of 3 nodes")
    assert "gpu-0: held by a (and 1 more)" in text


def test_a_pod_of_a_run_that_lives_holds_its_device_also_before_it_has_a_node() -> None:
    living = holder("theirs", 1, "Pending", labels=OURS, namespace="gpu-validation")
    living["metadata"]["annotations"] = {runs.ANNOTATION: "eva|laptop|there|2|2|12"}
    held = {"gpu-0": obstacles.held_by_others(node(), [living], params(), living=[living])}
    (line,) = obstacles.busy([node()], held, params()).values()
    assert "gpu-validation/theirs of the validation of eva@laptop (pid 2, AWX job 12) (1)" in line
    assert obstacles.held_by_others(node("gpu-1"), [], params(), living=[living]) == {"nvidia.com/gpu": {}}


def claim(name: str, device: str, pod: str = "trainer", on: str = "gpu-0", **result: t.Any) -> KubeObject:
    given = {"driver": "gpu.nvidia.com", "pool": on, "device": device, **result}
    status = {
        "allocation": {"devices": {"results": [given]}},
        "reservedFor": [{"resource": "pods", "name": pod}] if pod else [],
    }
    return {"metadata": {"name": name, "namespace": "team-a"}, "status": status}


def test_who_claims_the_devices_is_named() -> None:
    found = [
        claim("a", "gpu-1"),
        claim("b", "gpu-0", pod=""),
        claim("monitoring", "gpu-0", pod="dcgm", adminAccess=True),
        claim("c", "gpu-0", on="elsewhere"),
        claim("d", "nic-0", driver="nic.example.com"),
    ]
    held = obstacles.held_by_pods(found, SLICES)
    assert held == {"gpu-0": {"nvidia.com/gpu": {"team-a/trainer": 1}}}
    assert obstacles.busy([gpu_claims.offering(node(), SLICES)], held, params(claims=True)) == {
        "gpu-0": "1 of 2 nvidia.com/gpu free, 2 needed; held by team-a/trainer (1)"
    }


def test_leftovers_of_a_killed_run_are_found_on_these_nodes_only() -> None:
    left = holder("left", 1, labels=OURS, namespace="gpu-validation")
    assert obstacles.on_nodes([left, holder("trainer", 1)], params(), [node()]) == [left]
    assert obstacles.on_nodes([left], params(), [node("gpu-1")]) == []
