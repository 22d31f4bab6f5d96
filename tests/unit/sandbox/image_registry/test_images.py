# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tiny images of the registry, what it holds, and what scripted troubles do to requests."""

from __future__ import annotations

import hashlib
import json
import typing as t
from pathlib import Path

import pytest

from openshift_sandbox import scenario as scenarios
from openshift_sandbox.catalogue import images, packages
from openshift_sandbox.programs import registry
from openshift_sandbox.scenario import Scenario
from openshift_sandbox.seed import cluster as seed_cluster
from openshift_sandbox.seed.image_mirrors import mirror_of
from openshift_sandbox.stand_ins.image_registry import server
from openshift_sandbox.stand_ins.image_registry.server import Request, Troubles

DRIVER: t.Final = "nvcr.io/nvidia/driver:595.91.07-rhel9"
SAMPLE: t.Final = "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubi8"
PLACE: t.Final = "nvcr/nvidia/driver"
TAG: t.Final = "595.91.07-rhel9"


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return scenarios.load("disconnected")


@pytest.fixture(scope="module")
def held(scenario: Scenario) -> list[registry.Held]:
    return registry.held(scenario)


def answer(held: list[registry.Held], scenario: Scenario, asked: Request, **trouble: t.Any) -> t.Any:
    changed = Scenario("x", scenario.cluster, {}, [trouble])
    return Troubles(held).answer(asked, changed)


def test_digests_are_those_of_the_content_and_the_same_each_time() -> None:
    made = images.image(DRIVER)
    assert {f"sha256:{hashlib.sha256(body).hexdigest()}" for body in made.content.values()} == set(
        made.content
    )
    images.image.cache_clear()
    assert images.image(DRIVER) == made
    assert images.image(SAMPLE).digest != made.digest


def test_an_index_names_a_manifest_for_each_architecture() -> None:
    made = images.image(DRIVER)
    index = json.loads(made.content[made.digest])
    assert {one["platform"]["architecture"]: one["digest"] for one in index["manifests"]} == made.manifests
    assert set(made.manifests) == {"amd64", "arm64"}
    manifest = json.loads(made.content[made.manifests["arm64"]])
    assert json.loads(made.content[manifest["config"]["digest"]])["architecture"] == "arm64"
    assert set(images.image("quay.io/openshift-release-dev/a@sha256:1").manifests) == {"amd64"}


@pytest.mark.parametrize(
    ("reference", "parts"),
    [
        ("a.b:5000/c/d:1", ("a.b:5000/c/d", "1", "")),
        ("a.b:5000/c/d@sha256:1", ("a.b:5000/c/d", "", "sha256:1")),
        ("a.b/c:1@sha256:2", ("a.b/c", "1", "sha256:2")),
        ("a.b:5000/c", ("a.b:5000/c", "latest", "")),
    ],
)
def test_a_reference_has_three_parts(reference: str, parts: tuple[str, str, str]) -> None:
    assert images.split(reference) == parts


def test_a_push_leaves_links_to_manifests_and_layers(tmp_path: Path) -> None:
    made = images.image(DRIVER)
    images.lay_out(tmp_path, PLACE, TAG, made)
    place = tmp_path / "docker/registry/v2/repositories" / PLACE
    assert (place / "_manifests/tags" / TAG / "current/link").read_text() == made.digest
    assert len(list((place / "_manifests/revisions/sha256").iterdir())) == 3
    assert len(list((place / "_layers/sha256").iterdir())) == 3


def test_the_registry_holds_what_catalogues_and_release_name(
    scenario: Scenario, held: list[registry.Held]
) -> None:
    there = {(one.repository, one.image.digest) for one in held}
    mirrors, host = scenario.cluster["image_mirrors"], scenario.cluster["registry"]["host"]
    wanted = [
        one["image"]
        for package in packages.load(lambda _package: [], scenario)
        for version in package.versions
        for one in package.csv(version)["spec"]["relatedImages"]
    ]
    for stream in (
        seed_cluster.driver_toolkit(scenario.cluster),
        seed_cluster.command_line(scenario.cluster),
    ):
        wanted += [one["from"]["name"] for one in stream["spec"]["tags"]]
    by_digest = [images.split(one) for one in wanted if "@" in one]
    assert len(by_digest) > 50
    for repository, _tag, digest in by_digest:
        mirror = mirror_of(repository, mirrors)
        assert (mirror.removeprefix(f"{host}/"), digest) in there
    assert DRIVER in {one.source for one in held}


def test_a_scenario_without_registry_keeps_the_vendors_digests() -> None:
    plain = packages.load(lambda _package: [], Scenario("x"))
    [operator] = [one for one in plain if one.name == "gpu-operator-certified"]
    assert operator.data["images"]["driver-image"][1].startswith("sha256:e243d778")


@pytest.mark.parametrize(
    ("trouble", "refusal"),
    [
        ({"type": "rate_limited"}, (429, "TOOMANYREQUESTS")),
        ({"type": "forbidden", "image": "nvcr.io/nvidia/driver"}, (403, "DENIED")),
        ({"type": "forbidden", "image": SAMPLE}, None),
        ({"type": "image_missing", "image": DRIVER}, (404, "MANIFEST_UNKNOWN")),
        ({"type": "registry_image_missing", "image": "nvcr.io/nvidia/driver"}, (404, "MANIFEST_UNKNOWN")),
        ({"type": "image_missing", "image": "nvcr.io/nvidia/driver:1"}, None),
        ({"type": "image_missing"}, None),
        ({"type": "architecture_missing", "image": DRIVER}, None),
        ({"type": "no_blob", "image": DRIVER}, None),
    ],
)
def test_a_trouble_refuses_the_manifest_of_its_image(
    scenario: Scenario, held: list[registry.Held], trouble: dict[str, t.Any], refusal: t.Any
) -> None:
    assert answer(held, scenario, Request(PLACE, "manifests", TAG), **trouble) == refusal


def test_a_lost_architecture_is_gone_by_digest_and_from_the_index(
    scenario: Scenario, held: list[registry.Held]
) -> None:
    made, lost = images.image(DRIVER), {"type": "architecture_missing", "image": DRIVER}
    gone = [
        answer(held, scenario, Request(PLACE, "manifests", made.manifests[name]), **lost)
        for name in ("amd64", "arm64")
    ]
    assert gone == [None, (404, "MANIFEST_UNKNOWN")]
    left = json.loads(server.without(made.content[made.digest], {"arm64"}))["manifests"]
    assert [one["platform"]["architecture"] for one in left] == ["amd64"]


def test_lost_layers_leave_manifests_and_configurations(
    scenario: Scenario, held: list[registry.Held]
) -> None:
    made, lost = images.image(DRIVER), {"type": "no_blob", "image": DRIVER}
    manifest = json.loads(made.content[made.manifests["amd64"]])
    asked = [Request(PLACE, "blobs", digest) for digest in (made.layer, manifest["config"]["digest"])]
    assert [answer(held, scenario, one, **lost) for one in asked] == [(404, "BLOB_UNKNOWN"), None]
