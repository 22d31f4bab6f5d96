# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node takes the longest source, and sets for digests serve no tags."""

from __future__ import annotations

import typing as t

import pytest
from unit.mirrors.builders import DIGEST, MIRROR, mirror_set

from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors import rules

BY_DIGEST, BY_TAG = f"nvcr.io/nvidia/driver@{DIGEST}", "nvcr.io/nvidia/driver:580-rhel9"
Data = dict[str, t.Any]


@pytest.mark.parametrize("kind", ["ImageDigestMirrorSet", "ImageContentSourcePolicy"])
def test_a_set_for_digests_serves_no_tags(kind: str) -> None:
    sets = [mirror_set(kind, nvcr_dot_io=f"{MIRROR}/nvcr")]
    digest, tag = (rules.route(image, sets) for image in (BY_DIGEST, BY_TAG))
    assert digest.asked == (f"{MIRROR}/nvcr/nvidia/driver@{DIGEST}", BY_DIGEST)
    assert (digest.sets, digest.lacks_tags) == ((f"{kind} {sets[0]['metadata']['name']}",), False)
    assert (tag.asked, tag.lacks_tags, tag.others) == ((BY_TAG,), True, digest.sets)


def test_a_set_for_tags_serves_no_digests_and_lacks_none() -> None:
    sets = [mirror_set("ImageTagMirrorSet", nvcr_dot_io=f"{MIRROR}/nvcr")]
    assert rules.route(BY_TAG, sets).asked == (f"{MIRROR}/nvcr/nvidia/driver:580-rhel9", BY_TAG)
    found = rules.route(BY_DIGEST, sets)
    assert (found.asked, found.sets, found.lacks_tags) == ((BY_DIGEST,), (), False)


def test_a_tag_with_a_digest_is_pulled_by_the_digest() -> None:
    sets = [mirror_set(nvcr_dot_io=f"{MIRROR}/nvcr")]
    image = f"nvcr.io/nvidia/k8s-device-plugin:v0.20.0@{DIGEST}"
    assert rules.route(image, sets).asked[0] == f"{MIRROR}/nvcr/nvidia/k8s-device-plugin@{DIGEST}"


def test_the_longest_source_decides_even_without_a_mirror_for_tags() -> None:
    sets = [
        mirror_set("ImageTagMirrorSet", nvcr_dot_io=f"{MIRROR}/all"),
        mirror_set(nvcr_dot_io_in_nvidia=f"{MIRROR}/nvidia"),
    ]
    assert rules.route(BY_DIGEST, sets).asked[0] == f"{MIRROR}/nvidia/driver@{DIGEST}"
    found = rules.route(BY_TAG, sets)
    assert (found.source, found.asked, found.lacks_tags) == ("nvcr.io/nvidia", (BY_TAG,), True)


def test_a_source_that_nobody_may_contact_is_not_asked() -> None:
    sets = [mirror_set(never=True, nvcr_dot_io=f"{MIRROR}/nvcr")]
    assert rules.route(BY_DIGEST, sets).asked == (f"{MIRROR}/nvcr/nvidia/driver@{DIGEST}",)
    assert rules.route(BY_TAG, sets).asked == ()


def test_a_wildcard_stands_for_a_host() -> None:
    sets = [mirror_set(any_dot_nvidia_dot_com=MIRROR)]
    assert rules.route(f"eu.nvidia.com/driver@{DIGEST}", sets).asked[0] == f"{MIRROR}/driver@{DIGEST}"
    assert rules.route(f"nvidia.com/driver@{DIGEST}", sets).sets == ()


@pytest.mark.parametrize("image", ["quay.io/a/b:1", "nvcr.io.example.com/a:1", f"nvcr.iox/a@{DIGEST}"])
def test_other_registries_have_no_mirror(image: str) -> None:
    found = rules.route(image, [mirror_set(nvcr_dot_io=f"{MIRROR}/nvcr")])
    assert (found.asked, found.source) == ((image,), "")


def test_the_set_for_tags_has_the_mirrors_of_the_set_for_digests() -> None:
    sets = [mirror_set(never=True, nvcr_dot_io=f"{MIRROR}/nvcr", quay_dot_io=f"{MIRROR}/quay")]
    routes = [rules.route(image, sets) for image in (BY_TAG, BY_DIGEST, "docker.io/vllm:1")]
    found = rules.tag_set(routes, sets)
    assert found is not None
    assert found["spec"]["imageTagMirrors"] == sets[0]["spec"]["imageDigestMirrors"][:1]
    assert rules.route(BY_TAG, [*sets, found]).asked == (f"{MIRROR}/nvcr/nvidia/driver:580-rhel9",)
    assert rules.tag_set(routes[1:], sets) is None


def test_an_apply_of_the_set_keeps_what_it_had() -> None:
    before = mirror_set("ImageTagMirrorSet", quay_dot_io=f"{MIRROR}/quay")
    before["metadata"]["name"] = "gpu-tags"
    sets = [mirror_set(nvcr_dot_io=f"{MIRROR}/nvcr"), before]
    found = rules.tag_set([rules.route(BY_TAG, sets)], sets)
    assert found is not None
    assert [entry["source"] for entry in found["spec"]["imageTagMirrors"]] == ["nvcr.io", "quay.io"]


def test_a_port_is_no_tag() -> None:
    assert rules.split("localhost:5000/a/b") == ("localhost:5000/a/b", "")
    assert rules.split("localhost:5000/a/b:1") == ("localhost:5000/a/b", ":1")
