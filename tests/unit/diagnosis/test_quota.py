"""The layer quota: limits that count nothing, and quotas that are used up."""

from __future__ import annotations

import typing as t

from unit.diagnosis.pods import Data, event, node, seen

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import quota


def limit(used: str = "0", /, **spec: t.Any) -> Data:
    hard = spec.pop("hard", {"requests.nvidia.com/gpu": "8"})
    status = {"hard": hard, "used": dict.fromkeys(hard, used)}
    return {
        "metadata": {"name": "q", "namespace": "team-a"},
        "spec": {"hard": hard, **spec},
        "status": status,
    }


def test_a_quota_that_counts_is_neither_a_trouble_nor_a_note() -> None:
    look = seen("", node("a"), quotas=[limit("7")])
    assert list(quota.judge(look)) == []
    assert list(quota.notes(look)) == []


def test_a_quota_without_devices_is_not_looked_at() -> None:
    assert list(quota.judge(seen("", quotas=[limit(hard={"pods": "1"})]))) == []


def test_a_key_that_is_never_enforced_gets_the_name_that_counts() -> None:
    (found,) = quota.judge(seen("", node("a"), quotas=[limit(hard={"limits.nvidia.com/gpu": "8"})]))
    assert (found.code, found.about) == ("QUOTA-COUNTS-NOTHING", "ResourceQuota team-a/q")
    assert found.message.startswith("ResourceQuota team-a/q has the key limits.nvidia.com/gpu, which")
    assert (
        'oc patch resourcequota q -n team-a --type json -p \'[{"op": "move", '
        '"from": "/spec/hard/limits.nvidia.com~1gpu", "path": "/spec/hard/requests.nvidia.com~1gpu"}]\''
    ) in found.remedy


def test_a_key_that_is_there_in_both_forms_loses_the_wrong_one() -> None:
    (found,) = quota.judge(
        seen("", quotas=[limit(hard={"nvidia.com/gpu": "8", "requests.nvidia.com/gpu": "8"})])
    )
    assert '"op": "remove", "path": "/spec/hard/nvidia.com~1gpu"' in found.remedy


def test_scopes_that_no_pod_can_have() -> None:
    (found,) = quota.judge(seen("", quotas=[limit(scopes=["BestEffort", "NotBestEffort"])]))
    assert found.code == "QUOTA-COUNTS-NOTHING"
    assert "oc get resourcequota q -n team-a -o yaml" in found.remedy


def test_a_quota_that_is_used_up_is_a_note() -> None:
    look = seen("", node("a"), quotas=[limit("8")])
    assert list(quota.judge(look)) == []
    assert list(quota.notes(look)) == ["Quota team-a/q is used up: 8 of 8 nvidia.com/gpu."]


def test_a_name_that_no_node_offers_is_a_note() -> None:
    quotas = [limit(hard={"requests.nvidia.com/mig-1g.5gb": "8"})]
    assert "limits nvidia.com/mig-1g.5gb, which no GPU node offers" in next(
        iter(quota.notes(seen("", node("a"), quotas=quotas)))
    )
    assert list(quota.notes(seen("", quotas=quotas))) == []


def test_the_pod_of_the_option_that_a_quota_refused_is_of_this_layer() -> None:
    told = (
        'Error creating: pods "train" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=1, '
        "used: requests.nvidia.com/gpu=8, limited: requests.nvidia.com/gpu=8"
    )
    (found,) = quota.judge(
        seen("team-a/train", node("a"), events=[event("train", "FailedCreate", told, "Job")])
    )
    assert (found.code, found.layer) == ("QUOTA-EXCEEDED", "quota")
