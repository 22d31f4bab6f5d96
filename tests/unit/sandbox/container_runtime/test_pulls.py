"""Nodes that cannot reach a registry, and mirrors that help them."""

from __future__ import annotations

import base64
import json
import typing as t
from pathlib import Path

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.webhooks import registered, served

from openshift_sandbox.programs.foreign_webhooks import IMAGE_PULLS
from openshift_sandbox.scenario import Scenario
from openshift_sandbox.stand_ins.container_runtime import pulls

Object = dict[str, t.Any]
CUT_OFF = Scenario("s", troubles=[{"type": "registry_unreachable", "host": "r.io"}])
SETS: dict[str, Object] = {
    "imagedigestmirrorsets": {"imageDigestMirrors": [{"source": "r.io/a", "mirrors": ["m.io/a"]}]},
    "imagetagmirrorsets": {"imageTagMirrors": [{"source": "r.io/b/c", "mirrors": ["m.io/c"]}]},
}


class MirrorsApi:
    def list(self, _api_version: str, plural: str) -> list[Object]:
        return [{"spec": SETS[plural]}]


def known() -> pulls.Mirrors:
    return pulls.mirrors(t.cast(t.Any, MirrorsApi()))


@pytest.mark.parametrize("image", ["other.io/x:1", "r.io/a/x@sha256:1", "r.io/a@sha256:1", "r.io/b/c:1"])
def test_these_images_can_be_pulled(image: str) -> None:
    assert pulls.unreachable(image, CUT_OFF, known()) == ""


@pytest.mark.parametrize("image", ["r.io/x:1", "r.io/a/x:1", "r.io/ab@sha256:1", "r.io/b/c@sha256:1"])
def test_these_cannot(image: str) -> None:
    assert "dial tcp: lookup r.io: no such host" in pulls.unreachable(image, CUT_OFF, known())


def test_a_pod_is_marked_and_keeps_its_annotations() -> None:
    metadata = {"annotations": {"a": "b"}}
    pod: Object = {"metadata": metadata, "spec": {"containers": [{"image": "r.io/x:1"}]}}
    patch = pulls.review({"object": pod}, CUT_OFF, t.cast(t.Any, MirrorsApi()))
    assert patch is not None
    (operation,) = json.loads(base64.b64decode(patch.response()["patch"]))
    assert operation["path"] == "/metadata/annotations"
    assert operation["value"].keys() == {"a", pulls.UNPULLED}
    pod["spec"]["containers"] = [{"image": "other.io/x:1"}]
    assert pulls.review({"object": pod}, CUT_OFF, t.cast(t.Any, MirrorsApi())) is None


def test_pods_are_judged_while_a_registry_is_out_of_reach(tmp_path: Path) -> None:
    world = World(pulls.ImagePulls(), directory=served(tmp_path), troubles=CUT_OFF.troubles)
    world.settle(1)
    webhook = registered(world, IMAGE_PULLS, "MutatingWebhookConfiguration")
    assert webhook["rules"][0]["resources"] == ["pods"]
    world.scenario.now.troubles.clear()
    world.settle(1)
    assert world.api.all("MutatingWebhookConfiguration") == []
