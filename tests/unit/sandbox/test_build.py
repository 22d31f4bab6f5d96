"""Pins in two places agree; the version of a toolchain is read correctly."""

from __future__ import annotations

import re
import subprocess
import time
import typing as t
from pathlib import Path

import pytest

from openshift_sandbox import build, scenario
from openshift_sandbox.go import modules, toolchain
from openshift_sandbox.go.progress import Progress
from openshift_sandbox.sandbox import SandboxError

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
    ("name", "wanted"),
    [
        ("aws", ["control-plane", "olm"]),
        ("no-olm", ["control-plane"]),
        ("monitoring", ["control-plane", "olm", "prometheus"]),
        ("gpu-queues", ["control-plane", "olm"]),
        ("real-queues", ["control-plane", "olm", "kueue"]),
    ],
)
def test_only_what_a_scenario_needs_is_built(name: str, wanted: list[str]) -> None:
    assert [family.name for family in build.families_of(scenario.load(name))] == wanted


def test_optional_programs_are_built_by_name() -> None:
    assert [one.name for one in build.named([])] == ["control-plane", "olm"]
    assert [one.name for one in build.named(["prometheus"])] == ["control-plane", "olm", "prometheus"]
    both = [one.name for one in build.named(["kueue", "prometheus"])]
    assert both == ["control-plane", "olm", "prometheus", "kueue"]
    with pytest.raises(SandboxError, match="--with grafana: choose from prometheus, kueue"):
        build.named(["grafana"])


@pytest.mark.parametrize(
    "family", [one for one in build.OPTIONAL if one.copied], ids=lambda one: str(one.name)
)
def test_a_copied_module_has_one_version(family: build.Family) -> None:
    assert family.copied
    sums, required = (BUILD / "modules/go.sum").read_text(), (family.source / "go.mod").read_text()
    assert f"{family.copied.module} {family.copied.version} h1:" in sums
    assert f"{family.copied.module} {family.copied.version}\n" in required
    assert f"replace {family.copied.module} => ../../../.build/src/{family.name}\n" in required


@pytest.mark.parametrize(
    "family", [one for one in build.OPTIONAL if one.manifests], ids=lambda one: str(one.name)
)
def test_manifests_are_those_of_the_version_that_is_built(family: build.Family) -> None:
    assert family.manifests
    pin = f"{family.manifests.module} {family.manifests.version}"
    assert f"\t{pin} // indirect\n" in (family.source / "go.mod").read_text()
    assert f"{pin} h1:" in (family.source / "go.sum").read_text()


class Compiler:
    """A `go build` that compiles one package every ten seconds and ends after three of them."""

    def __init__(self, log: Path) -> None:
        self._log, self._left = log, 3
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        if self._left == 0:
            self.returncode = 0
            return 0
        self._left -= 1
        with self._log.open("a") as log:
            log.write(f"example.com/package{self._left}\n")
        raise subprocess.TimeoutExpired("go", timeout or 0)

    def poll(self) -> int | None:
        return self.returncode


def test_the_build_says_how_far_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, family = tmp_path / "build.log", build.FAMILIES[1]
    log.touch()
    child = t.cast("subprocess.Popen[bytes]", Compiler(log))
    assert build._followed(child, family, log, Progress([family.name]), time.monotonic()) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("olm: ")[1].split(";")[0] for line in lines] == [
        f"{number} of about 1272 packages compiled" for number in (1, 2, 3)
    ]
    assert all(line.endswith(" left") for line in lines)
