# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who proves that images are there: the cluster, or this machine where the cluster has no API for it."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
import yaml
from integration.scenarios.place import Data, Place, said
from integration.scenarios.test_disconnected import MISSING, POOLS, SOURCES
from integration.stack.operators.updates import trouble
from integration.troubles.demo import verdict

from openshift_sandbox import build
from openshift_sandbox.programs import registry

SCENARIO: t.Final = "disconnected"
pytestmark = [
    pytest.mark.long("few have built the registry: unit/mirrors/test_registry.py has each rule"),
    pytest.mark.skipif(
        not build.built("registry"), reason="no registry is built: run `sandbox build --with registry`"
    ),
    pytest.mark.story("an API server that looks images up, and then one that does not"),
]
CRD: t.Final = (
    "apiextensions.k8s.io/v1",
    "customresourcedefinitions",
    "imagestreamimports.image.openshift.io",
)


def proofs(images: t.Sequence[Data]) -> set[tuple[str, str]]:
    return {(one["answer"], one["proof"]) for one in images}


def test_the_plan_counts_the_images_and_names_those_that_lack(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    with trouble(place.cluster, "image_missing", image=MISSING):
        run = place.done("plan", gpu_pools=POOLS, gpu_plan_file=str(file), **SOURCES)
    images = json.loads(file.read_text())["images"]
    assert proofs(images) == {("there", "cluster"), ("404, not found", "cluster")}
    assert all(one["why"] and one["needed_by"] for one in images)
    count, *lost = [line for line in said(run, "Show the plan") if line.startswith("pull ")]
    assert count == f"pull    {len(images)} images from the mirrors of the cluster"
    assert [line.split()[1] for line in lost] == [MISSING]
    assert place.writes(run) == []


@pytest.mark.parametrize("playbook", ["enable_gpus", "mirror"])
def test_a_registry_that_cannot_be_reached_is_refused_before_the_first_write(
    place: Place, playbook: str
) -> None:
    sandbox = place.cluster.needs_sandbox()
    sandbox.processes.stop(registry.NAME)
    try:
        run = place.run(playbook, gpu_pools=POOLS, **SOURCES)
    finally:
        registry.start(sandbox)
    found = verdict(run, "MIRROR-AWAY", "registry")
    assert registry.address(sandbox) in found["message"]
    assert place.writes(run) == []


def test_a_login_that_is_not_there_is_refused_with_the_registry(place: Place) -> None:
    with trouble(place.cluster, "token_expired"):
        run = place.run("enable_gpus", gpu_pools=POOLS, **SOURCES)
    found = verdict(run, "MIRROR-DENIED", "registry")
    assert registry.address(place.cluster.needs_sandbox()) in found["remedy"]
    assert place.writes(run) == []


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("packages[0].name", "other", "lacks package"),
        ("packages[0].channels[0].minVersion", "99.0.0", "minVersion is 99.0.0"),
    ],
)
def test_a_file_that_brings_too_little_is_refused_with_the_path(
    place: Place, tmp_path: Path, path: str, value: str, told: str
) -> None:
    file = tmp_path / "image-set.yml"
    place.done("mirror", gpu_pools=POOLS, gpu_mirror_file=str(file), **SOURCES)
    content = yaml.safe_load(file.read_text())
    package = content["mirror"]["operators"][0]["packages"][0]
    *_start, key = path.split(".")
    (package if key == "name" else package["channels"][0])[key] = value
    file.write_text(yaml.safe_dump(content))
    run = place.run("mirror", gpu_pools=POOLS, gpu_mirror_config=str(file), **SOURCES)
    found = verdict(run, "MIRROR-FILE", "input")
    assert f"mirror.operators{'[0]' if key != 'name' else ''}" in found["message"]
    assert told in found["message"]
    assert place.writes(run) == []


@pytest.fixture(scope="module")
def without_look_ups(place: Place) -> t.Iterator[Place]:
    """Take the API that looks images up from the cluster."""
    live = place.client.get(*CRD) or {}
    place.client.delete(*CRD)
    yield place
    kept = {key: live[key] for key in ("apiVersion", "kind", "spec")}
    place.client.apply({**kept, "metadata": {"name": CRD[2]}})


def test_this_machine_asks_the_mirrors_with_the_logins_of_the_cluster(without_look_ups: Place) -> None:
    run = without_look_ups.done("mirror", gpu_pools=POOLS, **SOURCES)
    result = next(task for task in run.tasks if task.name.endswith("Check the images")).result
    assert proofs(result["images"]) == {("there", "controller")}
    assert any("this machine asked" in line for line in said(run, "Show the checks"))
    assert without_look_ups.writes(run) == []


@pytest.mark.parametrize(
    ("lost", "code", "words"),
    [
        ({"kind": "image_missing", "image": MISSING}, "MIRROR-MISSING", "404, not found"),
        ({"kind": "no_blob", "image": MISSING}, "MIRROR-MISSING", "404, no blob"),
        (
            {"kind": "architecture_missing", "image": MISSING, "architecture": "amd64"},
            "MIRROR-ARCH",
            "amd64",
        ),
        ({"kind": "forbidden", "image": MISSING}, "MIRROR-DENIED", "403, access denied"),
        ({"kind": "token_expired"}, "MIRROR-DENIED", "401, no login that is good"),
    ],
)
def test_what_a_mirror_lacks_is_refused_before_the_first_write(
    without_look_ups: Place, lost: Data, code: str, words: str
) -> None:
    with trouble(without_look_ups.cluster, **lost):
        run = without_look_ups.run("enable_gpus", gpu_pools=POOLS, **SOURCES)
    found = verdict(run, code, "registry")
    assert words in found["message"]
    assert without_look_ups.writes(run) == []


def test_a_mirror_that_this_machine_cannot_reach_leaves_it_open(without_look_ups: Place) -> None:
    sandbox = without_look_ups.cluster.needs_sandbox()
    sandbox.processes.stop(registry.NAME)
    try:
        run = without_look_ups.done("mirror", gpu_pools=POOLS, **SOURCES)
    finally:
        registry.start(sandbox)
    checks = next(task for task in run.tasks if task.name.endswith("Check the images")).result["checks"]
    assert {(one["code"], one["verdict"]) for one in checks if one["verdict"] != "ok"} == {
        ("MIRROR-UNCHECKED", "unknown")
    }
