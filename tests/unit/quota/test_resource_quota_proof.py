"""Proof of a quota: what asks for too much, and what a refusal says."""

from __future__ import annotations

import pytest
from unit.quota.builders import CLAIMED, GPU, quota

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import new_namespace
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import resource_quota


@pytest.mark.parametrize(
    ("hard", "used", "asked"), [("1", "0", "2"), ("8", "6", "3"), ("2", "5", "1"), ("0", "0", "1")]
)
def test_the_proof_asks_for_one_too_many(hard: str, used: str, asked: str) -> None:
    container = resource_quota.proof(quota({GPU: hard}, {GPU: used}), {GPU: hard})["spec"]["containers"][0]
    assert container["resources"]["limits"] == container["resources"]["requests"]
    assert container["resources"]["requests"]["nvidia.com/gpu"] == asked


def test_the_proof_is_a_pod_that_the_strictest_namespace_admits() -> None:
    pod = resource_quota.proof(quota({GPU: "1"}, {GPU: "0"}), {GPU: "1"}, "gpu-training")
    assert (pod["apiVersion"], pod["kind"]) == ("v1", "Pod")
    assert pod["metadata"] == {"generateName": "gpu-quota-proof-", "namespace": "a"}
    (container,) = pod["spec"].pop("containers")
    assert pod["spec"] == {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "priorityClassName": "gpu-training",
    }
    assert container["name"] == "proof"
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["requests"] == {"cpu": "1m", "memory": "1Mi", "nvidia.com/gpu": "2"}
    assert "priorityClassName" not in resource_quota.proof(quota({GPU: "1"}), {GPU: "1"})["spec"]


@pytest.mark.parametrize(
    ("text", "name", "transient"),
    [
        (
            'pods "p" is forbidden: exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=2, '
            "used: requests.nvidia.com/gpu=0",
            "gpu-quota",
            False,
        ),
        (
            'pods "p" is forbidden: status unknown for quota: gpu-quota, resources: requests.nvidia.com/gpu',
            None,
            True,
        ),
        (
            'pods "p" is forbidden: error looking up service account a/default: '
            'serviceaccount "default" not found',
            None,
            True,
        ),
        ('pods is forbidden: User "u" cannot create resource "pods"', None, False),
    ],
)
def test_what_a_refusal_says(text: str, name: str | None, transient: bool) -> None:
    assert resource_quota.refusing_quota(text) == name
    assert new_namespace.is_transient(text) is transient


def test_the_proof_claims_one_device_too_many() -> None:
    limits = {CLAIMED: "2"}
    resource_quota.check_provable(limits)
    over = resource_quota.proof(quota(limits, {CLAIMED: "1"}), limits)
    metadata = {"generateName": "gpu-quota-proof-", "namespace": "a"}
    assert (over["kind"], over["metadata"]) == ("ResourceClaim", metadata)
    assert over["spec"]["devices"]["requests"][0]["exactly"] == {
        "deviceClassName": "gpu.nvidia.com",
        "allocationMode": "ExactCount",
        "count": 2,
    }


def test_scopes_never_change_so_the_quota_goes() -> None:
    error = resource_quota.void("a/q", "no pod fits", "spec.scopes[0]")
    assert "Run `oc delete resourcequota q -n a`" in error.remedy


def test_a_proof_needs_a_device() -> None:
    with pytest.raises(InputError, match="prove: needs an extended resource"):
        resource_quota.check_provable({"pods": "1"})
