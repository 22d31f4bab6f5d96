"""The profiles that the collection ships: each setting says what it does, for which nodes, and its source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.profiles import shipped
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.profiles.model import (
    Argument,
    Profile,
    Setting,
)

PAGE = Path(__file__).resolve().parents[4] / "docs/node-tuning.md"


@pytest.mark.parametrize("profile", shipped.SHIPPED.values(), ids=lambda one: str(one.name))
def test_every_setting_says_what_it_is_for(profile: Profile) -> None:
    assert profile.own
    settings: list[Setting | Argument] = [*profile.own, *profile.arguments]
    for one in settings:
        assert one.does, one
        assert one.hardware, one
        assert re.match(
            r"TuneD, profile |NVIDIA skyhook-packages, |OpenShift Virtualization, ", one.source
        ), one


@pytest.mark.parametrize("profile", shipped.SHIPPED.values(), ids=lambda one: str(one.name))
def test_the_page_has_every_setting(profile: Profile) -> None:
    section = (
        PAGE.read_text().partition(f"### `{profile.name}`")[2].partition("\n### ")[0].partition("\n## ")[0]
    )
    for one in profile.own:
        value = f"{one.key}={one.value}".replace("|", "\\|")
        assert f"| `[{one.section}] {value}` | {one.does} | {one.hardware} | {one.source} |" in section
    for argument in profile.arguments:
        row = f"| kernel argument `{argument.text}` | {argument.does} | {argument.hardware} "
        assert f"{row}| {argument.source} |" in section


def test_the_nearest_name() -> None:
    assert [shipped.near(one) for one in ("trainings", "gracee", "xyz")] == ["training", "grace", ""]
