"""What a configuration makes of a node's resources."""

from __future__ import annotations

import pytest

from openshift_sandbox.seed import booted


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], {}),
        (["hugepages=1024"], {"2Mi": 2048}),
        (["default_hugepagesz=1G hugepages=4"], {"1Gi": 4096}),
        (["hugepagesz=1G", "hugepages=2", "hugepagesz=2M", "hugepages=8"], {"1Gi": 2048, "2Mi": 16}),
        (["hugepagesz=16M", "hugepages=many"], {}),
    ],
)
def test_huge_pages(arguments: list[str], expected: dict[str, int]) -> None:
    assert booted.huge_pages(arguments) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", set()), ("0-3,8", {0, 1, 2, 3, 8}), ("5", {5}), ("none", set()), ("1-", set())],
)
def test_cpus(text: str, expected: set[int]) -> None:
    assert booted.cpus(text) == expected


def test_a_configuration_without_tuning_changes_nothing() -> None:
    status = {
        "capacity": {"cpu": "8", "memory": "32Gi"},
        "allocatable": {"cpu": "7500m", "memory": "31642Mi", "pods": "250"},
    }
    assert booted.resources(status, {}) == status
