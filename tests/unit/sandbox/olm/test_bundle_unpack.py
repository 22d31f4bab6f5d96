# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods that unpack bundles: an image that exists is extracted once; without it the pod waits."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from unit.sandbox.fake_api import World

from openshift_sandbox.catalogue import bundles
from openshift_sandbox.processes import Processes
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.stand_ins.olm.bundle_unpack import PULLED, REF, BundleUnpack

IMAGE: t.Final = "registry.example.com/bundles/nfd@sha256:ab"
INIT: t.Final = [{"name": "util", "image": "u"}, {"name": "pull", "image": IMAGE}]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the commands that the stand-in would have started."""
    found: list[list[str]] = []
    monkeypatch.setattr(Sandbox, "binary", lambda _self, _family, name: Path(name))
    monkeypatch.setattr(
        Processes,
        "start",
        lambda _self, _name, argv, env: found.append([str(word) for word in argv] + [env["CONTAINER_IMAGE"]]),
    )
    return found


def world(tmp_path: Path, phase: str) -> World:
    made = World(BundleUnpack(), directory=tmp_path)
    body = {"spec": {"nodeName": "n", "initContainers": INIT, "containers": []}, "status": {"phase": phase}}
    made.api.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "market", "labels": {REF: "9c4ec728e3"}},
        }
        | body
    )
    return made


@pytest.mark.parametrize("phase", ["Pending", "Running", "Succeeded"])
def test_an_image_that_is_there_is_extracted_once(
    phase: str, tmp_path: Path, started: list[list[str]]
) -> None:
    bundles.folder(tmp_path / "run", IMAGE).mkdir(parents=True)
    world(tmp_path, phase).settle(3)
    (command,) = started
    assert command[:4] == ["opm", "alpha", "bundle", "extract"]
    assert command[command.index("-c") + 1] == "9c4ec728e3"
    assert command[-1] == IMAGE


def test_an_image_that_is_not_there_keeps_the_pod_waiting(tmp_path: Path, started: list[list[str]]) -> None:
    made = world(tmp_path, "Pending")
    made.settle(3)
    pod = made.api.get("Pod", "p", "market")
    assert (pod["metadata"].get("annotations"), started) == (None, [])
    waiting = pod["status"]["initContainerStatuses"][1]["state"]["waiting"]
    assert waiting["reason"] == "ImagePullBackOff"
    assert waiting["message"].endswith(
        "reading manifest sha256:ab in registry.example.com/bundles/nfd: manifest unknown"
    )
    bundles.folder(tmp_path / "run", IMAGE).mkdir(parents=True)
    made.settle(3)
    assert len(started) == 1
    assert made.api.get("Pod", "p", "market")["metadata"]["annotations"] == {PULLED: "true"}
