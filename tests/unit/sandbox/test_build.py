"""Pins in two places agree; the version of a toolchain is read correctly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from openshift_sandbox import build, scenario
from openshift_sandbox.go import modules, toolchain

BUILD = Path(__file__).resolve().parents[3] / "sandbox/build"


@pytest.mark.parametrize(("module", "version"), modules.MODULES.items())
def test_files_are_read_at_the_version_that_is_built(module: str, version: str) -> None:
    sums = (BUILD / "modules/go.sum").read_text()
    assert f"{module} {version} h1:" in sums
    for family in build.FAMILIES:
        required = re.search(
            rf"^\t{re.escape(module)} (\S+)", (BUILD / family.name / "go.mod").read_text(), re.MULTILINE
        )
        assert required is None or module == "github.com/openshift/api" or required[1] == version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("go version go1.26.8 linux/amd64", (1, 26, 8)),
        ("go version go1.27 linux/arm64", (1, 27, 0)),
        ("go: cannot find main module", ()),
        ("", ()),
    ],
)
def test_go_version(text: str, version: tuple[int, ...]) -> None:
    assert toolchain.parse(text) == version


def test_a_stamp_changes_with_the_flags() -> None:
    first, second = build.FAMILIES
    assert build.stamp(first) != build.stamp(build.Family(first.name, first.programs, ldflags="-s"))
    assert build.stamp(first) != build.stamp(second)


@pytest.mark.parametrize(
    ("name", "wanted"), [("aws", ["control-plane", "olm"]), ("no-olm", ["control-plane"])]
)
def test_only_what_a_scenario_needs_is_built(name: str, wanted: list[str]) -> None:
    assert [family.name for family in build.families_of(scenario.load(name))] == wanted
