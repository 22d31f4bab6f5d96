"""What the build says about itself while it runs."""

from __future__ import annotations

import pytest

from openshift_sandbox import build
from openshift_sandbox.go.progress import PACKAGES, Progress, duration

BOTH = ["control-plane", "olm"]
DOWNLOADS = ["go: downloading k8s.io/api v0.36.1"]


def packages(count: int) -> list[str]:
    return [f"k8s.io/package{number}" for number in range(count)]


def test_every_family_has_its_total() -> None:
    assert [family.name for family in (*build.FAMILIES, *build.OPTIONAL)] == list(PACKAGES)


@pytest.mark.parametrize(
    ("log", "text"),
    [([], "olm: nothing to compile yet"), (DOWNLOADS, "olm: downloading modules")],
)
def test_before_the_first_package(log: list[str], text: str) -> None:
    assert Progress(BOTH).describe("olm", log, 5.0) == text


def test_the_time_left_is_that_of_the_whole_build() -> None:
    half = sum(PACKAGES[name] for name in BOTH) // 2
    line = Progress(BOTH).describe("control-plane", DOWNLOADS + packages(half), 360.0)
    assert line == (
        f"control-plane: {half} of about {PACKAGES['control-plane']} packages compiled; "
        "50% of the packages of the build, about 6 min 0 s left"
    )


def test_a_family_that_is_compiled_counts_as_done() -> None:
    progress = Progress(BOTH)
    progress.finish("control-plane")
    assert "; 69% of the packages of the build, about 1 min 21 s left" in progress.describe(
        "olm", packages(1), 180.0
    )


def test_more_packages_than_expected_are_no_more_than_all() -> None:
    line = Progress(["olm"]).describe("olm", packages(PACKAGES["olm"] + 9), 300.0)
    assert line == "olm: linking the programs; 100% of the packages of the build"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.4, "59 s"), (60, "1 min 0 s"), (785, "13 min 5 s")]
)
def test_a_time_is_written_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text
