# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look-ups of images by the mirrors of a cluster, in openshift-apiserver's words."""

from __future__ import annotations

import json
import typing as t

import pytest

from openshift_sandbox.catalogue import images
from openshift_sandbox.stand_ins.api_server import registry_lookups
from openshift_sandbox.stand_ins.api_server.registry_lookups import Failure, Rules

Object = dict[str, t.Any]
HOST: t.Final = "127.0.0.1:20000"
IMAGE: t.Final = "nvcr.io/nvidia/driver:1-rhel9"
MIRROR: t.Final = f"{HOST}/nvcr"
BOTH: t.Final[Rules] = {"nvcr.io": [(MIRROR, "@"), (MIRROR, ":")]}
NO_HOST: t.Final = 'Get "https://nvcr.io/v2/": dial tcp: lookup nvcr.io: no such host'


class Registry(registry_lookups.Registry):
    """It has the tiny images of these places; a text instead of one is the code of a refusal."""

    def __init__(self, places: t.Mapping[str, images.Image | str]) -> None:
        super().__init__(HOST, "", lambda _image: "")
        self.places = places
        self.asked: list[str] = []

    def get(self, image: str, kind: str, reference: str) -> tuple[bytes, str]:
        self.asked.append(f"{kind} {reference}")
        if not image.startswith(f"{HOST}/"):
            return super().get(image, kind, reference)
        found = self.places.get(images.split(image)[0], "MANIFEST_UNKNOWN")
        if isinstance(found, str):
            body = json.dumps({"errors": [{"code": found, "message": "no"}]}).encode()
            raise registry_lookups.refused(image, body, 400)
        digest = reference if reference.startswith("sha256:") else found.digest
        return found.content[digest], digest


def look_up(
    registry: Registry, image: str = IMAGE, known: Rules = BOTH, blocked: t.Sequence[str] = ()
) -> Object:
    spec = {"images": [{"from": {"name": image}}]}
    [found] = registry_lookups.look_up(spec, known, blocked, registry)["images"]
    return t.cast(Object, found)


@pytest.mark.parametrize(
    ("image", "known", "tried"),
    [
        ("a.io/b:1", {}, ["a.io/b:1"]),
        ("a.io/b:1", {"a.io": [("m", "@")]}, ["a.io/b:1"]),
        ("a.io/b:1", {"a.io": [("m", "@"), ("n/x", ":")]}, ["n/x/b:1", "a.io/b:1"]),
        ("a.io/b:1@sha256:2", {"a.io": [("m", "@"), ("n", ":")]}, ["m/b@sha256:2", "a.io/b@sha256:2"]),
        ("a.io/b/c:1", {"a.io": [("m", ":")], "a.io/b": [("n", "@")]}, ["a.io/b/c:1"]),
        ("a.io/bc:1", {"a.io/b": [("n", ":")]}, ["a.io/bc:1"]),
        ("a.io/b:1", {"a.io/b": [("m", ":"), ("n", ":")]}, ["m:1", "n:1", "a.io/b:1"]),
    ],
)
def test_mirrors_of_the_longest_source_come_before_it(image: str, known: Rules, tried: list[str]) -> None:
    assert registry_lookups.pull_sources(image, known) == tried


def test_an_image_in_the_mirror_is_found_under_its_own_name_with_each_architecture() -> None:
    made = images.image("driver")
    registry = Registry({f"{MIRROR}/nvidia/driver": made})
    found = look_up(registry)
    assert made.layer not in str(registry.asked)
    assert found["status"]["status"] == "Success"
    assert found["image"]["dockerImageReference"] == f"nvcr.io/nvidia/driver@{made.digest}"
    listed = {one["architecture"]: one["digest"] for one in found["image"]["dockerImageManifests"]}
    assert listed == made.manifests
    read = [one["dockerImageMetadata"]["Architecture"] for one in found["manifests"]]
    assert read == ["amd64", "arm64"]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("MANIFEST_UNKNOWN", 'dockerimage.image.openshift.io "{}" not found'),
        ("UNAUTHORIZED", 'you may not have access to the container image "{}"'),
        ("DENIED", "{}: denied: no"),
        ("TOOMANYREQUESTS", "{}: toomanyrequests: no"),
    ],
)
def test_a_mirror_and_a_source_that_refuse_are_one_internal_error(code: str, text: str) -> None:
    name = f"{MIRROR}/nvidia/driver:1-rhel9"
    status = look_up(Registry({f"{MIRROR}/nvidia/driver": code}))["status"]
    told = f"[{text.format(name)}, {IMAGE}: {NO_HOST}]"
    assert (status["reason"], status["code"]) == ("InternalError", 500)
    assert status["message"] == f"Internal error occurred: {told}"


@pytest.mark.parametrize(
    ("code", "reason", "number"),
    [("MANIFEST_UNKNOWN", "NotFound", 404), ("UNAUTHORIZED", "Unauthorized", 401)],
)
def test_a_single_registry_keeps_its_reason(code: str, reason: str, number: int) -> None:
    status = look_up(Registry({f"{HOST}/a": code}), f"{HOST}/a:1", {})["status"]
    assert (status["reason"], status["code"]) == (reason, number)


def test_an_index_whose_manifest_is_gone_fails() -> None:
    made = images.image("driver")
    content = {key: body for key, body in made.content.items() if key != made.manifests["arm64"]}

    class Sparse(Registry):
        def get(self, image: str, kind: str, reference: str) -> tuple[bytes, str]:
            if reference == made.manifests["arm64"]:
                raise Failure(f'dockerimage.image.openshift.io "{image}" not found', "NotFound", image)
            return super().get(image, kind, reference)

    sparse = images.Image(made.digest, made.manifests, made.layer, content)
    status = look_up(Sparse({f"{MIRROR}/nvidia/driver": sparse}))["status"]
    assert f'{MIRROR}/nvidia/driver@{made.manifests["arm64"]}" not found' in status["message"]


def test_a_blocked_registry_is_forbidden_unless_it_has_mirrors() -> None:
    registry = Registry({f"{MIRROR}/nvidia/driver": images.image("driver")})
    status = look_up(registry, known={}, blocked=["nvcr.io"])["status"]
    assert (status["reason"], status["message"]) == ("Forbidden", "forbidden: registry nvcr.io blocked")
    assert look_up(registry, blocked=["nvcr.io"])["status"]["status"] == "Success"


class Cluster:
    """It has one set of each kind, all of the same source."""

    def list(self, _version: str, plural: str) -> list[Object]:
        fields = {name: field for _version, name, field, _mark in registry_lookups.SETS}
        return [{"spec": {fields[plural]: [{"source": "a.io", "mirrors": [f"m.io/{plural[5]}"]}]}}]


def test_all_three_kinds_of_sets_count() -> None:
    found = registry_lookups.rules(t.cast(t.Any, Cluster()))
    assert [mark for _mirror, mark in found["a.io"]] == ["@", "@", ":"]
