"""Findings about quotas: limits of what does not exist, scopes without pods, keys that never count."""

from __future__ import annotations

import typing as t

import pytest
from unit.quota.builders import CLAIMED, GPU, quota

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import findings
from ansible_collections.accelerators.openshift.plugins.module_utils._quota.findings import Known

NODES = Known(resources={"cpu", "nvidia.com/gpu"})
MIG = "requests.nvidia.com/mig-1g.5gb"


def counted(hard: dict[str, str], name: str = "other", **spec: t.Any) -> KubeObject:
    """Return another quota of the namespace, as the controller has counted it."""
    return quota(hard, dict.fromkeys(hard, "0"), name, **spec)


@pytest.mark.parametrize(
    ("limits", "known", "others", "words"),
    [
        ({GPU: "1"}, NODES, [], []),
        ({GPU: "1"}, Known(), [], []),
        ({"pods": "1"}, NODES, [], []),
        ({MIG: "1"}, NODES, [], ["No node advertises nvidia.com/mig-1g.5gb"]),
        (
            {GPU: "8"},
            NODES,
            [counted({GPU: "4"}, "tight")],
            ["Quota tight (requests.nvidia.com/gpu: 4) of the same namespace leaves less"],
        ),
        ({GPU: "8"}, NODES, [counted({GPU: "9"}, "loose"), quota({GPU: "1"})], []),
        ({GPU: "8"}, NODES, [counted({GPU: "1"}, "scoped", scopes=["BestEffort"])], []),
    ],
)
def test_what_limits_nothing_and_what_allows_less(
    limits: dict[str, str], known: Known, others: list[KubeObject], words: list[str]
) -> None:
    found = findings.of_limits("gpu-quota", limits, known)
    found += findings.of_quotas("gpu-quota", limits, others, known)
    assert len(found) == len(words)
    assert all(part in one.message for part, one in zip(words, found, strict=True))


def test_a_device_class_that_does_not_exist() -> None:
    limits = {CLAIMED: "2"}
    assert findings.of_limits("q", limits, Known(device_classes=["gpu.nvidia.com"])) == []
    (found,) = findings.of_limits("q", limits, Known(device_classes=[]))
    assert found.message == (
        "There is no DeviceClass gpu.nvidia.com: quota q limits something that does not exist (yet)."
    )
    assert (found.code, found.path) == ("QUOTA-COUNTS-NOTHING", f"spec.hard[{CLAIMED}]")


def term(operator: str, *values: str, scope: str = "PriorityClass") -> KubeObject:
    return {"scopeName": scope, "operator": operator, **({"values": [*values]} if values else {})}


@pytest.mark.parametrize(
    ("terms", "known", "why"),
    [
        ([term("In", "a"), term("NotIn", "a")], None, "no priority class fulfils all"),
        ([term("In", "a"), term("In", "b")], None, "no priority class fulfils all"),
        ([term("In", "a"), term("DoesNotExist")], None, "no priority class at the same time"),
        ([term("Exists"), term("DoesNotExist")], None, "no priority class at the same time"),
        ([term("In", "a", "b")], {"c"}, "there is no PriorityClass a or b"),
        (
            [term("Exists", scope="Terminating"), term("Exists", scope="NotTerminating")],
            None,
            "no pod has the scopes Terminating and NotTerminating",
        ),
        ([term("In", "gold", scope="VolumeAttributesClass")], None, "counts volume claims"),
        ([term("In", "a", "b")], {"b"}, ""),
        ([term("In", "a")], None, ""),
        ([term("NotIn", "a")], set(), ""),
        ([term("DoesNotExist")], set(), ""),
    ],
)
def test_scopes_that_no_pod_with_a_device_has(
    terms: list[KubeObject], known: set[str] | None, why: str
) -> None:
    theirs = counted({GPU: "1"}, scopeSelector={"matchExpressions": terms})
    found = findings.of_quotas("gpu-quota", {GPU: "8"}, [theirs], Known(priority_classes=known))
    assert len(found) == bool(why)
    for one in found:
        assert why in one.message
        assert (one.code, one.is_ours) == ("QUOTA-COUNTS-NOTHING", False)
        assert one.path.startswith("spec.scopeSelector.matchExpressions[")


def test_claims_have_no_scope() -> None:
    theirs = counted({CLAIMED: "1"}, scopes=["NotTerminating"])
    (found,) = findings.of_quotas("gpu-quota", {GPU: "8"}, [theirs], Known())
    assert "claims of devices have no scope" in found.message


def test_scopes_of_a_quota_without_devices_are_nobodys_business() -> None:
    theirs = counted({"pods": "1"}, scopes=["BestEffort", "NotBestEffort"])
    assert findings.of_quotas("gpu-quota", {GPU: "8"}, [theirs], Known()) == []


def test_a_key_that_is_never_enforced_and_one_that_is_not_counted() -> None:
    theirs = quota({"nvidia.com/gpu": "1", "limits.nvidia.com/gpu": "1", GPU: "9"}, None, "theirs")
    theirs["status"] = {"hard": {"pods": "1"}, "used": {"pods": "0"}}
    found = findings.of_quotas("gpu-quota", {GPU: "8"}, [theirs], Known())
    assert [(one.code, one.path) for one in found] == [
        ("QUOTA-COUNTS-NOTHING", "spec.hard[nvidia.com/gpu]"),
        ("QUOTA-COUNTS-NOTHING", "spec.hard[limits.nvidia.com/gpu]"),
        ("QUOTA-NOT-COUNTED", f"status.hard[{GPU}]"),
    ]
    assert all(f"the key that counts is {GPU}." in one.message for one in found[:2])
    assert "(status unknown for quota). Run `oc get clusteroperator" in found[2].warning
    assert found[2].warning.endswith(" (QUOTA-NOT-COUNTED)")


def test_a_quota_of_ours_with_scopes_is_void_and_is_never_compared() -> None:
    pair = {"matchExpressions": [term("In", "a"), term("NotIn", "a")]}
    ours = counted({GPU: "8"}, "gpu-quota", scopeSelector=pair)
    ours["metadata"]["labels"] = MANAGED_BY
    found = findings.of_quotas("gpu-quota", {GPU: "8"}, [ours, counted({GPU: "1"})], Known(), is_scoped=True)
    assert [one.as_result() for one in found] == [
        {
            "code": found[0].code,
            "quota": "gpu-quota",
            "path": found[0].path,
            "message": found[0].message,
            "ours": True,
        }
    ]
    assert findings.first_void(found, "gpu-quota") == found[0]
    assert findings.first_void(found, "other") is None
