"""ResourceQuota: keys that count, usage, doubts and the proof."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import proof, resource_quota

GPU = "requests.nvidia.com/gpu"
CLAIMED = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"


def live(
    hard: dict[str, str], used: dict[str, str] | None = None, name: str = "gpu-quota", **spec: t.Any
) -> dict[str, t.Any]:
    status = {} if used is None else {"hard": hard, "used": used}
    return {
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": "a"},
        "spec": {"hard": hard, **spec},
        "status": status,
    }


def test_the_shorthand() -> None:
    assert resource_quota.hard(8, None) == {GPU: "8"}


@pytest.mark.parametrize(
    "name",
    [
        *(GPU, "requests.nvidia.com/mig-1g.5gb", "requests.nvidia.com/gpu.shared"),
        *("cpu", "limits.memory", "pods", "count/jobs.batch", "requests.hugepages-2Mi"),
        *(
            "gold.storageclass.storage.k8s.io/requests.storage",
            "gpu.nvidia.com.deviceclass.resource.k8s.io/devices",
        ),
    ],
)
def test_keys_that_count(name: str) -> None:
    assert resource_quota.hard(None, {name: 2}) == {name: "2"}


@pytest.mark.parametrize(
    ("name", "value", "code", "words"),
    [
        ("nvidia.com/gpu", 1, "QUOTA-KEY", "Write requests.nvidia.com/gpu"),
        ("limits.nvidia.com/gpu", 1, "QUOTA-KEY", "Write requests.nvidia.com/gpu"),
        ("limits.nvidia.com/gpu", 1, "QUOTA-KEY", "hard[limits.nvidia.com/gpu]"),
        ("limits.nvidia.com/gpu", 1, "QUOTA-KEY", "never enforces it"),
        ("request.cpu", 1, "QUOTA-KEY", "Did you mean requests.cpu"),
        ("gpus", 1, "QUOTA-KEY", "not a resource that a quota can limit"),
        ("requests./gpu", 1, "QUOTA-KEY", "not a resource"),
        (GPU, "1.5", "QUOTA-QUANTITY", "whole number"),
        (GPU, "500m", "QUOTA-QUANTITY", "whole number"),
        (GPU, -1, "QUOTA-QUANTITY", "0 or more"),
        (GPU, "many", "QUOTA-QUANTITY", "'many' is not a quantity"),
        (GPU, True, "QUOTA-QUANTITY", "True is not a quantity"),
    ],
)
def test_what_is_refused_says_why_and_what_instead(name: str, value: object, code: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        resource_quota.hard(None, {name: value})
    assert caught.value.code == code
    assert words in caught.value.message + caught.value.remedy


@pytest.mark.parametrize(
    ("gpus", "hard", "code"),
    [(-1, None, "QUOTA-QUANTITY"), (None, {}, "QUOTA-EMPTY"), (None, None, "QUOTA-EMPTY")],
)
def test_nothing_to_limit(gpus: int | None, hard: dict[str, str] | None, code: str) -> None:
    with pytest.raises(InputError) as caught:
        resource_quota.hard(gpus, hard)
    assert caught.value.code == code


def test_units_are_compared_as_the_server_keeps_them() -> None:
    assert resource_quota.hard(None, {"requests.cpu": "4000m", "requests.memory": "1024Mi"}) == {
        "requests.cpu": "4",
        "requests.memory": "1Gi",
    }


@pytest.mark.parametrize(
    ("found", "ready"),
    [
        ([], False),
        ([live({GPU: "1"})], False),
        ([live({GPU: "1"}, {GPU: "0"})], True),
        ([live({GPU: "2"}, {GPU: "0"})], False),
        ([live({GPU: "1"}, {})], False),
        ([live({GPU: "1"}, {GPU: "0"}, name="other")], False),
    ],
)
def test_ready_means_counted(found: list[dict[str, t.Any]], ready: bool) -> None:
    assert resource_quota.judge(found, "gpu-quota", {GPU: "1"}).is_ready is ready


def test_usage_per_resource() -> None:
    facts = resource_quota.summarize(live({GPU: "8", "pods": "9"}, {GPU: "2"}))
    assert facts == {
        "name": "gpu-quota",
        "namespace": "a",
        "resources": {GPU: {"hard": "8", "used": "2"}, "pods": {"hard": "9", "used": None}},
    }
    assert resource_quota.is_used(facts)


NODES = [{"status": {"allocatable": {"cpu": "4", "nvidia.com/gpu": "0"}}}]


@pytest.mark.parametrize(
    ("limits", "nodes", "others", "words"),
    [
        ({GPU: "1"}, NODES, [], []),
        ({GPU: "1"}, None, [], []),
        ({"pods": "1"}, NODES, [], []),
        ({"requests.nvidia.com/mig-1g.5gb": "1"}, NODES, [], ["No node advertises nvidia.com/mig-1g.5gb"]),
        ({GPU: "8"}, NODES, [live({GPU: "4"}, name="tight")], ["Quota tight (requests.nvidia.com/gpu: 4)"]),
        ({GPU: "8"}, NODES, [live({GPU: "9"}, name="loose"), live({GPU: "1"})], []),
        ({GPU: "8"}, NODES, [live({GPU: "1"}, name="scoped", scopes=["BestEffort"])], []),
    ],
)
def test_doubts(
    limits: dict[str, str],
    nodes: list[dict[str, t.Any]] | None,
    others: list[dict[str, t.Any]],
    words: list[str],
) -> None:
    found = resource_quota.doubts("gpu-quota", limits, nodes, others)
    assert len(found) == len(words)
    assert all(part in text for part, text in zip(words, found, strict=True))


def pod(name: str, gpus: int, phase: str = "Running") -> dict[str, t.Any]:
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"resources": {"requests": {"nvidia.com/gpu": str(gpus)}}}, {}]},
        "status": {"phase": phase},
    }


def test_who_holds_what_is_limited() -> None:
    pods = [pod("a", 2), pod("b", 0), pod("c", 4, "Succeeded")]
    assert resource_quota.holders([GPU], pods) == [{"pod": "a", "requests": {"nvidia.com/gpu": 2}}]


@pytest.mark.parametrize(
    ("hard", "used", "asked"), [("1", "0", "2"), ("8", "6", "3"), ("2", "5", "1"), ("0", "0", "1")]
)
def test_the_proof_asks_for_one_too_many(hard: str, used: str, asked: str) -> None:
    container = proof.too_much(live({GPU: hard}, {GPU: used}), {GPU: hard})["spec"]["containers"][0]
    assert container["resources"]["limits"] == container["resources"]["requests"]
    assert container["resources"]["requests"]["nvidia.com/gpu"] == asked


@pytest.mark.parametrize(
    ("text", "quota", "transient"),
    [
        (
            'pods "p" is forbidden: exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=2, used: requests.nvidia.com/gpu=0',
            "gpu-quota",
            False,
        ),
        (
            'pods "p" is forbidden: status unknown for quota: gpu-quota, resources: requests.nvidia.com/gpu',
            None,
            True,
        ),
        (
            'pods "p" is forbidden: error looking up service account a/default: serviceaccount "default" not found',
            None,
            True,
        ),
        ('pods is forbidden: User "u" cannot create resource "pods"', None, False),
    ],
)
def test_what_a_refusal_says(text: str, quota: str | None, transient: bool) -> None:
    assert proof.refusal(text) == quota
    assert proof.is_transient(text) is transient


def test_devices_that_pods_claim() -> None:
    limits = resource_quota.hard(2, None, claims=True)
    assert limits == {CLAIMED: "2"}
    assert (resource_quota.extended(limits), resource_quota.classes(limits)) == ([], ["gpu.nvidia.com"])
    proof.check(limits)
    over = proof.too_much(live(limits, {CLAIMED: "1"}), limits)
    assert (over["kind"], over["metadata"]["namespace"]) == ("ResourceClaim", "a")
    assert over["spec"]["devices"]["requests"][0]["exactly"] == {
        "deviceClassName": "gpu.nvidia.com",
        "allocationMode": "ExactCount",
        "count": 2,
    }
    assert resource_quota.is_used(resource_quota.summarize(live(limits, {CLAIMED: "1"}), limits))
    asks = {
        "devices": {
            "requests": [
                {"name": "x", "exactly": {"deviceClassName": "gpu.nvidia.com"}},
                {"name": "y", "firstAvailable": []},
            ]
        }
    }
    taken = {"metadata": {"name": "c"}, "spec": asks, "status": {"reservedFor": [{"name": "p"}]}}
    assert resource_quota.claimants(limits, [taken, {"metadata": {"name": "other"}, "spec": {}}]) == [
        {"pod": "p", "claim": "c", "requests": {"gpu.nvidia.com": 1}}
    ]
    assert resource_quota.doubts("q", limits, None, [], [{"metadata": {"name": "gpu.nvidia.com"}}]) == []
    assert resource_quota.doubts("q", limits, None, [], []) == [
        "There is no DeviceClass gpu.nvidia.com: quota q limits something that does not exist (yet)."
    ]


def test_a_proof_needs_a_device() -> None:
    with pytest.raises(InputError, match="prove: needs an extended resource"):
        proof.check({"pods": "1"})
