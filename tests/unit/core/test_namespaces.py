"""Names of namespaces: of the platform, and near to existing ones."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core import namespaces


@pytest.mark.parametrize(
    ("name", "is_of_platform"),
    [
        ("default", True),
        ("openshift", True),
        ("openshift-monitoring", True),
        ("kube-system", True),
        ("team-a", False),
        ("my-openshift-team", False),
    ],
)
def test_namespaces_of_the_platform(name: str, is_of_platform: bool) -> None:
    assert namespaces.is_of_platform(name) is is_of_platform


@pytest.mark.parametrize(
    ("name", "existing", "near"),
    [
        ("team-vison", "team-vision", "team-vision"),
        ("reserach", "research", "research"),
        ("ml-platfrom-prod", "ml-platform-prod", "ml-platform-prod"),
        ("team-b", "team-a", ""),
        ("team-12", "team-11", ""),
        ("team2", "team1", ""),
        ("team-a", "team-a", ""),
        ("vision", "speech", ""),
        ("ml-dev", "ml-prod", ""),
    ],
)
def test_a_name_near_to_an_existing_one_is_perhaps_misspelt(name: str, existing: str, near: str) -> None:
    assert namespaces.near(name, ["default", existing]) == near
