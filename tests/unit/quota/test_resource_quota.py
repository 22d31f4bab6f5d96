"""ResourceQuota: usage, and who holds what it limits."""

from __future__ import annotations

import pytest
from unit.quota.builders import CLAIMED, GPU, quota

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import resource_quota


@pytest.mark.parametrize(
    ("found", "ready"),
    [
        ([], False),
        ([quota({GPU: "1"})], False),
        ([quota({GPU: "1"}, {GPU: "0"})], True),
        ([quota({GPU: "2"}, {GPU: "0"})], False),
        ([quota({GPU: "1"}, {})], False),
        ([quota({GPU: "1"}, {GPU: "0"}, name="other")], False),
    ],
)
def test_ready_means_counted(found: list[KubeObject], ready: bool) -> None:
    assert resource_quota.judge(found, "gpu-quota", {GPU: "1"}).is_ready is ready


def test_usage_per_resource() -> None:
    facts = resource_quota.summarize(quota({GPU: "8", "pods": "9"}, {GPU: "2"}))
    assert facts == {
        "name": "gpu-quota",
        "namespace": "a",
        "resources": {GPU: {"hard": "8", "used": "2"}, "pods": {"hard": "9", "used": None}},
    }
    assert resource_quota.is_used(facts)
    assert not resource_quota.is_used(resource_quota.summarize(quota({GPU: "8"}, {GPU: "0", "pods": "1"})))
    assert not resource_quota.is_used(resource_quota.summarize(quota({"pods": "9"}, {"pods": "1"})))


def pod(name: str, gpus: int, phase: str = "Running") -> KubeObject:
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"resources": {"requests": {"nvidia.com/gpu": str(gpus)}}}, {}]},
        "status": {"phase": phase},
    }


def test_who_holds_what_is_limited() -> None:
    pods = [pod("a", 2), pod("b", 0), pod("c", 4, "Succeeded")]
    assert resource_quota.holders([GPU], pods) == [
        {"pod": "a", "owner": {"kind": "Pod", "name": "a"}, "requests": {"nvidia.com/gpu": 2}}
    ]


def test_devices_that_pods_claim() -> None:
    limits = {CLAIMED: "2"}
    assert resource_quota.is_used(resource_quota.summarize(quota(limits, {CLAIMED: "1"}), limits))
    asks = {
        "devices": {
            "requests": [
                {"name": "x", "exactly": {"deviceClassName": "gpu.nvidia.com"}},
                {"name": "y", "firstAvailable": []},
                {"name": "z", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}},
            ]
        }
    }
    taken = {"metadata": {"name": "c"}, "spec": asks, "status": {"reservedFor": [{"name": "p"}]}}
    assert resource_quota.claimants(limits, [taken, {"metadata": {"name": "other"}, "spec": {}}]) == [
        {
            "pod": "p",
            "claim": "c",
            "owner": {"kind": "Pod", "name": "p"},
            "requests": {"gpu.nvidia.com": 3},
        }
    ]
    assert resource_quota.claimants(limits, [{**taken, "status": {}}])[0]["owner"]["name"] == "c"


def test_use_comes_from_the_quotas_that_count_and_else_from_pods_and_claims() -> None:
    scoped: KubeObject = {"spec": {"scopes": ["BestEffort"]}, "status": {"used": {GPU: "9"}}}
    plain: KubeObject = {"spec": {}, "status": {"used": {GPU: "3", "pods": "1"}}}
    assert resource_quota.counted([scoped, plain], [GPU]) == {GPU: "3"}
    assert resource_quota.counted([plain, scoped], [GPU]) == {GPU: "3"}
    named = [{**each, "metadata": {"name": name}} for name, each in (("s", scoped), ("p", plain))]
    assert resource_quota.counted(named, [GPU, "pods"], "s") == {GPU: "9"}
    claims = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"
    holding = [
        {"pod": "a", "requests": {"nvidia.com/gpu": 2}},
        {"pod": "b", "claim": "c", "requests": {"gpu.nvidia.com": 3}},
    ]
    assert resource_quota.held(holding, [GPU, claims, "pods"]) == {GPU: "2", claims: "3"}
    assert resource_quota.overused("x/y", {GPU: "2", claims: "2"}, {GPU: "2", claims: "3"}) == [
        f"Quota x/y: the namespace already uses 3 of {claims}, and the limit is 2. "
        "What runs stays; nothing new starts until the use is below the limit."
    ]
