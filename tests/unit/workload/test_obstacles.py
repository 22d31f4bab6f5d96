"""Obstacles to a validation: its options, nodes and devices that are missing, a quota."""

from __future__ import annotations

import typing as t

import pytest
from unit.workload.builders import node, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    ForbiddenError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import obstacles

QUOTA = (
    'pods "x" is forbidden: exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=4, '
    "used: ..., limited: requests.nvidia.com/gpu=2"
)


def test_claims_are_of_whole_gpus() -> None:
    obstacles.check(params(claims=True, resources={"nvidia.com/gpu": 1}))
    with pytest.raises(InputError, match=r"resources\[nvidia.com/mig-1g.5gb\]"):
        obstacles.check(params(claims=True, resources={"nvidia.com/mig-1g.5gb": 7}))


def test_an_image_that_no_kubelet_can_parse_is_refused() -> None:
    obstacles.check(params(image="mirror.example.com:5000/cuda:12"))
    with pytest.raises(InputError, match=r"image 'https://r\.io/cuda' has a scheme") as caught:
        obstacles.check(params(image="https://r.io/cuda"))
    assert "gpu_validation_image" in caught.value.remedy


@pytest.mark.parametrize(
    ("nodes", "given", "code"),
    [
        ([], {}, "WORK-NO-NODES"),
        ([node()], {"min_nodes": 2}, "WORK-NO-NODES"),
        ([node()], {"resources": {"nvidia.com/gpu": 4}}, "GPU-ALLOC"),
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
    found = obstacles.problem(nodes, params(resources=wanted))
    assert found is not None
    assert found.message.startswith("Devices are missing on 2 of 2 nodes")
    assert len(found.evidence) == 4
