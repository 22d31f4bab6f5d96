"""How KMM finds, builds and signs a Module's image."""

from __future__ import annotations

import base64
import typing as t
from pathlib import Path

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.kmm.builders import READY, SPACE, advance, world

from openshift_sandbox.stand_ins.kmm import builds
from openshift_sandbox.stand_ins.kmm.images import REGISTRY


def test_an_image_that_is_missing_stays_in_back_off_until_it_is_there(tmp_path: Path) -> None:
    made = world(tmp_path, {"type": "kmm_image_missing"})
    made.settle(1.0)
    (pod,) = made.api.all("Pod")
    assert pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"] == "ImagePullBackOff"
    made.scenario.now.troubles.clear()
    made.settle(1.0)
    (pod,) = made.api.all("Pod")
    assert "containerStatuses" not in (pod.get("status") or {})


def built_and_signed(directory: Path) -> World:
    """Return a world with a Module whose image must be built and signed, on a node with Secure Boot."""
    sign = {"keySecret": {"name": "k"}, "certSecret": {"name": "c"}, "filesToSign": ["/opt/a.ko"]}
    mapping = {
        "regexp": "^5",
        "containerImage": "card:1",
        "build": {"dockerfileConfigMap": {"name": "d"}},
        "sign": sign,
    }
    made = world(
        directory,
        {"type": "kmm_secure_boot"},
        moduleLoader={"container": {"modprobe": {"moduleName": "card"}, "kernelMappings": [mapping]}},
    )
    for name, data in {"k": {"key": b"PRIVATE KEY"}, "c": {"cert": b"\x30"}}.items():
        encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
        made.api.create(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": name, "namespace": SPACE},
                "data": encoded,
            }
        )
    return made


def test_an_image_is_looked_for_then_built_then_signed(tmp_path: Path) -> None:
    REGISTRY.clear()
    made = built_and_signed(tmp_path)
    earlier = {
        "apiVersion": builds.API,
        "kind": "Build",
        "name": "card-build-5-14-0-570-12-1-el9-6-x86-64",
        "uid": "earlier",
    }
    left: dict[str, t.Any] = {
        "name": f"{earlier['name']}-build",
        "namespace": SPACE,
        "ownerReferences": [earlier],
    }
    made.api.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": left,
            "spec": {"containers": []},
            "status": {"phase": "Failed"},
        }
    )
    made.settle(2.0)
    made.cluster.delete("Pod", left["name"], SPACE)
    made.settle(1.0)
    assert [one["metadata"]["labels"][builds.TYPE] for one in made.api.all("Build")] == ["BuildImage"]
    advance(made)
    assert [one["metadata"]["name"] for one in made.api.all("Build")] == [
        "card-sign-5-14-0-570-12-1-el9-6-x86-64"
    ]
    advance(made)
    assert ({"card:1": "c"}, made.api.all("Build")) == (REGISTRY, [])
    assert "kmm-worker-n1-card" in advance(made)
    assert READY in made.api.get("Node", "n1")["metadata"]["labels"]


@pytest.mark.parametrize(
    ("secrets", "text"),
    [
        ((b"x", b"\x30"), "/run/secrets/key/key"),
        ((b"PRIVATE KEY", b"x"), "/run/secrets/cert/cert"),
        ((b"PRIVATE KEY", b"BEGIN CERTIFICATE"), ""),
        ((), ""),
    ],
)
def test_what_signs_nothing(secrets: tuple[bytes, ...], text: str) -> None:
    assert builds.unusable(secrets).endswith(text)
    assert bool(builds.unusable(secrets)) == bool(text)
