# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/versions.md: each line names tests that are there, and the versions that they run with."""

from __future__ import annotations

import json
import re
import sysconfig
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._olm.support import SUPPORT
from openshift_sandbox import scenario

ROOT: t.Final = Path(__file__).resolve().parents[3]
PAGE: t.Final = (ROOT / "docs/versions.md").read_text()
ROWS: t.Final = {
    what.strip(" `"): (versions, shown)
    for what, versions, shown in re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)
    if what != "what"
}
TEST: t.Final = re.compile(r"`((?:tests|molecule)/[\w./]+)`")


def versions(what: str, pattern: str = r"\d+\.\d+") -> list[str]:
    return re.findall(pattern, ROWS[what][0])


def pinned(path: str, pattern: str) -> str:
    """Return the first group of the pattern in a file of the repository."""
    found = re.search(pattern, (ROOT / path).read_text(), re.MULTILINE)
    assert found, pattern
    return found[1]


@pytest.mark.parametrize("what", ROWS)
def test_each_line_names_tests_that_are_there(what: str) -> None:
    shown = ROWS[what][1]
    named = TEST.findall(shown)
    assert named or "all tests" in shown
    for name in named:
        path = ROOT / name
        assert path.exists(), name
        assert path.is_file() or any(path.glob("test_*.py")) or "molecule/" in name or name == "tests/awx_api"


def test_ansible_core_is_what_units_and_sanity_run_with() -> None:
    units = [
        pinned(f"requirements-{name}.txt", r"^ansible-core==(\d+\.\d+)\.")
        for name in ("oldest", "dev", "newest")
    ]
    others = re.findall(r"^(\d+\.\d+)\.", (ROOT / "tests/sanity/cores.txt").read_text(), re.MULTILINE)
    first, last = (int(version.partition(".")[2]) for version in versions("ansible-core"))
    supported = [f"2.{minor}" for minor in range(first, last + 1)]
    assert (units[0], units[-1]) == (supported[0], supported[-1])
    assert sorted({*others, units[1]}) == supported
    said = ROWS["ansible-core"][1].partition(":")[0]
    assert re.findall(r"\d+\.\d+", said) == units


def test_each_python_has_its_unit_tests() -> None:
    oldest, newest = (
        pinned("tests/other_core", rf"^    {core}\) pythons='?python(\S+?)[ ']")
        for core in ("oldest", "newest")
    )
    makefile = pinned("Makefile", r"^PYTHONS := /usr/bin/python(\S+) ")
    assert versions("Python of the controller") == [makefile, oldest, newest]


def test_operators_are_those_of_the_table_of_support() -> None:
    for what, package in (
        ("GPU operator", "gpu-operator-certified"),
        ("Network operator", "nvidia-network-operator"),
    ):
        assert versions(what) == [f"{major}.{minor}" for major, minor in SUPPORT[package]]


def test_openshift_begins_and_ends_where_the_sandbox_and_the_newest_gpu_operator_do() -> None:
    releases = [scenario.load(name).cluster["version"] for name in ("older-nfd", "aws")]
    assert versions("OpenShift") == [release.rpartition(".")[0] for release in releases]
    newest = max(SUPPORT["gpu-operator-certified"])
    spans = SUPPORT["gpu-operator-certified"][newest]
    assert versions("OpenShift") == [f"{major}.{minor}" for major, minor in spans]


def test_the_others_are_what_is_pinned() -> None:
    core = Path(sysconfig.get_path("purelib"), "ansible_collections/kubernetes/core/MANIFEST.json")
    installed = json.loads(core.read_text())["collection_info"]["version"]
    floor = yaml.safe_load((ROOT / "galaxy.yml").read_text())["dependencies"]["kubernetes.core"]
    assert versions("kubernetes.core") == [
        installed.rpartition(".")[0],
        floor.removeprefix(">=").rpartition(".")[0],
    ]
    assert versions("Kueue")[0] == pinned("sandbox/build/kueue/go.mod", r"sigs.k8s.io/kueue v(\d+\.\d+)\.")
    kubernetes = pinned("sandbox/build/control-plane/go.mod", r"k8s.io/kubernetes v(\d+\.\d+)\.")
    assert f"Kubernetes {kubernetes} " in ROWS["OpenShift"][1]
    for what, package, position in (
        ("Kueue", "kueue-operator", 1),
        ("Kernel Module Management", "kernel-module-management", 0),
        ("OpenShift Virtualization", "kubevirt-hyperconverged", 0),
        ("SR-IOV network operator", "sriov-network-operator", 0),
        ("Node Feature Discovery", "nfd", -1),
    ):
        newest = yaml.safe_load((ROOT / f"sandbox/catalog/{package}.yml").read_text())["versions"][-1]
        assert str(newest).startswith(f"{versions(what)[position]}."), what
    assert versions("AWX") == [pinned("tests/awx_api/server.py", r'^VERSION: t.Final = "(\d+\.\d+)\.')]
