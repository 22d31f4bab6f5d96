"""Limits of a quota: keys that count, keys that are refused, and amounts."""

from __future__ import annotations

import pytest
from unit.quota.builders import CLAIMED, GPU

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import keys


def test_the_shorthand() -> None:
    assert keys.hard(8, None) == {GPU: "8"}


@pytest.mark.parametrize(
    "name",
    [
        *(GPU, "requests.nvidia.com/mig-1g.5gb", "requests.nvidia.com/gpu.shared"),
        *("cpu", "memory", "ephemeral-storage", "pods", "count/jobs.batch"),
        *("requests.cpu", "requests.memory", "requests.ephemeral-storage", "requests.storage"),
        *("limits.cpu", "limits.memory", "limits.ephemeral-storage"),
        *("services", "services.nodeports", "services.loadbalancers", "replicationcontrollers"),
        *("resourcequotas", "secrets", "configmaps", "persistentvolumeclaims"),
        *("requests.hugepages-2Mi", "hugepages-1Gi"),
        *(
            "gold.storageclass.storage.k8s.io/requests.storage",
            "gpu.nvidia.com.deviceclass.resource.k8s.io/devices",
        ),
    ],
)
def test_keys_that_count(name: str) -> None:
    assert keys.hard(None, {name: 2}) == {name: "2"}


@pytest.mark.parametrize(
    ("name", "value", "code", "words"),
    [
        ("nvidia.com/gpu", 1, "QUOTA-KEY", "Write requests.nvidia.com/gpu"),
        ("limits.nvidia.com/gpu", 1, "QUOTA-KEY", "Write requests.nvidia.com/gpu"),
        ("limits.nvidia.com/gpu", 1, "QUOTA-KEY", "hard[limits.nvidia.com/gpu]"),
        ("limits.nvidia.com/gpu", 1, "QUOTA-KEY", "never enforces it"),
        ("request.cpu", 1, "QUOTA-KEY", "Write requests.cpu"),
        ("gpus", 1, "QUOTA-KEY", "a quota cannot limit gpus: no quota has this key"),
        ("requests./gpu", 1, "QUOTA-KEY", "a quota cannot limit requests./gpu: '/gpu'"),
        ("limits./gpu", 1, "QUOTA-KEY", "a quota cannot limit limits./gpu: '/gpu'"),
        (GPU, "1.5", "QUOTA-QUANTITY", "whole number"),
        (GPU, "500m", "QUOTA-QUANTITY", "whole number"),
        (GPU, -1, "QUOTA-QUANTITY", "0 or more"),
        (GPU, "many", "QUOTA-QUANTITY", "'many' is not a quantity"),
        (GPU, True, "QUOTA-QUANTITY", "True is not a quantity"),
    ],
)
def test_what_is_refused_says_why_and_what_instead(name: str, value: object, code: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        keys.hard(None, {name: value})
    assert caught.value.code == code
    assert words in caught.value.message + caught.value.remedy


@pytest.mark.parametrize(
    ("gpus", "hard", "code"),
    [(-1, None, "QUOTA-QUANTITY"), (None, {}, "QUOTA-EMPTY"), (None, None, "QUOTA-EMPTY")],
)
def test_nothing_to_limit(gpus: int | None, hard: dict[str, str] | None, code: str) -> None:
    with pytest.raises(InputError) as caught:
        keys.hard(gpus, hard)
    assert caught.value.code == code


def test_units_are_compared_as_the_server_keeps_them() -> None:
    assert keys.hard(None, {"requests.cpu": "4000m", "requests.memory": "1024Mi"}) == {
        "requests.cpu": "4",
        "requests.memory": "1Gi",
    }


def test_claimed_devices_are_counted_by_their_class() -> None:
    limits = keys.hard(2, None, claims=True)
    assert limits == {CLAIMED: "2"}
    assert (keys.extended(limits), keys.classes(limits)) == ([], ["gpu.nvidia.com"])
