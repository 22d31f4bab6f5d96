"""The execution environment: its packages have versions, licences and hashes, and it takes no others."""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

import yaml
from documents import ee_requirements as page

ROOT: t.Final = Path(__file__).resolve().parents[3]
LOCKED: t.Final = (ROOT / "requirements-ee.txt").read_text()
ENTRY: t.Final = re.compile(
    r"^# \S.*\n([a-z0-9.-]+)==(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.M
)
PACKAGES: t.Final = {
    name: (version, hashes.count("--hash")) for name, version, hashes in ENTRY.findall(LOCKED)
}
DEFINITION: t.Final[dict[str, t.Any]] = yaml.safe_load((ROOT / "execution-environment.yml").read_text())


def test_every_line_belongs_to_a_package_with_its_licence_version_and_hashes() -> None:
    assert ENTRY.sub("", LOCKED) == page.INTRO
    assert len(PACKAGES) > 20
    assert all(1 <= count <= len(page.MACHINES) * len(page.PYTHONS) for _version, count in PACKAGES.values())


def test_the_versions_are_those_of_the_tests() -> None:
    pins = dict(line.lower().split("==") for line in page.pins())
    assert {name: PACKAGES[name][0] for name in pins} == pins


def test_everything_that_the_collection_requires_is_there() -> None:
    lines = (ROOT / "requirements.txt").read_text().lower().splitlines()
    required = {re.split(r"[<>=]", line)[0] for line in lines if line and not line.startswith("#")}
    more = {one.partition("==")[0] for one in page.MORE}
    assert required | more <= set(PACKAGES)


def test_the_definition_names_its_base_and_takes_packages_only_with_hashes() -> None:
    assert DEFINITION["version"] == 3
    assert DEFINITION["images"]["base_image"]["name"].count(":") == 1
    steps = DEFINITION["additional_build_steps"]["prepend_final"]
    assert [step for step in steps if " install " in step and "--require-hashes" not in step] == []
    assert "package_pip" not in DEFINITION["options"]["container_init"]
    assert {"python", "system"} & set(DEFINITION["dependencies"]) == set()


def test_it_installs_this_version_and_leaves_out_what_collections_ask_for() -> None:
    galaxy = yaml.safe_load((ROOT / "galaxy.yml").read_text())
    (collection,) = DEFINITION["dependencies"]["galaxy"]["collections"]
    own = f"{galaxy['namespace']}.{galaxy['name']}"
    assert collection == {"name": own, "version": galaxy["version"]}
    left_out = DEFINITION["dependencies"]["exclude"]["all_from_collections"]
    assert set(left_out) == {own, *galaxy["dependencies"]}
