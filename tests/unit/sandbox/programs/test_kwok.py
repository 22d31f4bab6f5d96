# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages that the sandbox adds to KWOK's own."""

from __future__ import annotations

import re

import pytest
import yaml

from openshift_sandbox.programs import kwok

STAGES = {one["metadata"]["name"]: one["spec"] for one in yaml.safe_load(kwok.OWN.read_text())}


@pytest.mark.parametrize("name", ["pod-init-crash", "pod-image-pull", "pod-invalid-image-name"])
def test_no_container_fails_before_upstream_has_created_it(name: str) -> None:
    """KWOK's pod-create, which comes while a pod has no address, writes that nothing has restarted yet."""
    wanted = {".status.podIP", '.status.conditions.[] | select( .type == "Initialized" ) | .status'}
    assert wanted & {one["key"] for one in STAGES[name]["selector"]["matchExpressions"]}


@pytest.mark.parametrize(
    ("image", "is_valid"),
    [
        *(("pause", True), ("registry.k8s.io/pause:3.10", True), ("localhost:5000/a/b__c@sha256:1", True)),
        *(("https://r.io/x:1", False), ("r.io/driver:595:595", False), ("/driver:570", False)),
        *(("r.io/Foo:1", False), ("foo bar", False), ("r.io/x:v 1", False), (":570", False)),
    ],
)
def test_a_kubelet_starts_no_container_whose_image_it_cannot_parse(image: str, *, is_valid: bool) -> None:
    pattern = "".join(re.findall(r'"([^"]+)"', kwok.INVALID_IMAGE))
    assert bool(re.fullmatch(pattern, image)) is is_valid


def test_a_name_that_is_not_valid_goes_before_ready_and_before_a_pull() -> None:
    def on(one: list[dict[str, str]]) -> list[str]:
        return [part["operator"] for part in one if part["key"].strip() == kwok.INVALID_IMAGE]

    assert on(STAGES["pod-invalid-image-name"]["selector"]["matchExpressions"]) == ["Exists"]
    assert on(STAGES["pod-image-pull"]["selector"]["matchExpressions"]) == ["DoesNotExist"]
    assert on(kwok.EXTRA["pod-ready"]) == ["DoesNotExist"]
    said = STAGES["pod-invalid-image-name"]["next"]["statusTemplate"]
    assert "couldn't parse image reference" in said
    assert "reason: InvalidImageName" in said
