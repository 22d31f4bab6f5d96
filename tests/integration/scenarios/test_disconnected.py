# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A disconnected cluster: mirrored catalogues have other names, and registries are behind mirror sets."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml
from integration.scenarios.place import Data, Place, existing, mirrored, said, setting
from integration.shell import Shell, follow, shell as shell_of
from integration.stack.driver_gaps import NAMESPACE as GPU
from integration.stack.operators.updates import trouble
from integration.troubles.demo import verdict

SCENARIO: t.Final = "disconnected"
pytestmark = [
    pytest.mark.long("the whole chain: the unit tests of catalogues and registries have its parts"),
    pytest.mark.story("a user follows the remedies until the GPUs work"),
]
POOLS: t.Final = [
    one
    | {"quota": [{"namespace": f"team-{one['name']}", "gpus": one["existing"]["expected"]["nvidia.com/gpu"]}]}
    for one in existing(inference=1, training=8)
]
REDHAT: t.Final = {"node_feature_discovery_source": "cs-redhat-operator-index-v4-22"}
CERTIFIED: t.Final = {"gpu_operator_source": "cs-certified-operator-index-v4-22"}


@pytest.mark.parametrize(("given", "told"), [({}, REDHAT), (REDHAT, CERTIFIED)])
def test_the_remedy_names_the_variable_and_the_mirror_before_the_first_write(
    place: Place, given: Data, told: Data
) -> None:
    run = place.run("enable_gpus", gpu_pools=POOLS, **given)
    found = verdict(run, "OLM-CATALOG", "olm")
    assert setting(found["remedy"]) == told
    assert place.writes(run) == []


MISSING: t.Final = "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubi8"
SOURCES: t.Final = REDHAT | CERTIFIED


def test_every_image_is_listed_with_its_mirror_and_the_file_for_oc_mirror(
    place: Place, tmp_path: Path
) -> None:
    file = tmp_path / "image-set.yml"
    run = place.done("mirror", gpu_pools=POOLS, gpu_mirror_file=str(file), **SOURCES)
    images = said(run, "Show the images")
    assert any(line.startswith(MISSING) and "inference, training" in line for line in images)
    assert {line.split()[1] for line in images[1:]} == {"there"}
    mirror = yaml.safe_load(file.read_text())["mirror"]
    packages = {one["name"]: by["catalog"] for by in mirror["operators"] for one in by["packages"]}
    assert packages == {
        "nfd": "registry.redhat.io/redhat/redhat-operator-index:v4.22",
        "gpu-operator-certified": "registry.redhat.io/redhat/certified-operator-index:v4.22",
    }
    assert MISSING in [one["name"] for one in mirror["additionalImages"]]
    assert place.writes(run) == []


@pytest.mark.parametrize(
    ("lost", "code", "words"),
    [("image_missing", "MIRROR-MISSING", "404"), ("forbidden", "MIRROR-DENIED", "refused")],
)
def test_an_image_that_nodes_cannot_pull_fails_the_list(
    place: Place, lost: str, code: str, words: str
) -> None:
    with trouble(place.cluster, lost, image=MISSING):
        run = place.run("mirror", gpu_pools=POOLS, **SOURCES)
    found = verdict(run, code, "registry")
    for part in (MISSING, "inference", words):
        assert part in found["message"]
    assert any("blocking" in line for line in said(run, "Show the checks"))
    assert place.writes(run) == []


OLDER: t.Final = SOURCES | {"gpu_operator_channel": "v26.3"}
NEWER: t.Final = [{"name": "gpu", "channel": "v26.7"}]
TRIPLE: t.Final = {"repository": "nvcr.io/nvidia", "image": "driver", "version": "580.173.02"}
BY_TAG: t.Final = [{**pool, "driver": TRIPLE} for pool in POOLS]
NEW: t.Final = {f"gpu_driver_{key}": value for key, value in TRIPLE.items()}
NEW["gpu_driver_version"] = "610.57.04"
# A healthy stack shows a trouble for longer than 3 s on a busy machine.
CALM: t.Final = {"gpu_operator_grace": 60, "gpu_wait_timeout": 300}


@pytest.fixture(scope="module")
def shell(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return shell_of(place.demo, place.cluster, tmp_path_factory.mktemp("bin"))


def test_with_these_variables_the_whole_chain_runs(place: Place) -> None:
    wanted = {"gpu_pools": BY_TAG, **OLDER, **CALM}
    run = place.done("enable_gpus", **wanted)
    made = place.client.list("operators.coreos.com/v1alpha1", "subscriptions")
    assert {one["spec"]["source"] for one in made} == {*REDHAT.values(), *CERTIFIED.values()}
    shown = next(task for task in run.tasks if task.name == "Show the pools")["msg"]
    rows = [line.split() for line in shown if line.startswith(("inference ", "training "))]
    assert [(row[0], row[3]) for row in rows] == [
        ("inference", "1/1/1"),
        ("inference", "1/1/1"),
        ("training", "8/8/8"),
    ]
    assert drivers(place) == {"nvcr.io/nvidia/driver:580.173.02-rhel9.8"}
    again = place.done("enable_gpus", **wanted)
    assert (again.changed, place.writes(again)) == (0, [])


def drivers(place: Place) -> set[str]:
    """Return the images of the drivers that run."""
    pods = place.client.list("v1", "pods", GPU, labels="app.kubernetes.io/component=nvidia-driver")
    live = [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]
    return {pod["spec"]["containers"][0]["image"] for pod in live}


@pytest.mark.parametrize(
    ("playbook", "given", "image"),
    [
        ("upgrade_operators", {"gpu_upgrade_operators": NEWER}, "nvcr.io/nvidia/driver:580.173.02-rhel9"),
        ("upgrade_driver", {**NEW, "gpu_pools": BY_TAG}, "nvcr.io/nvidia/driver:610.57.04-rhel9"),
    ],
    ids=["operators", "driver"],
)
def test_an_upgrade_wants_the_tag_of_its_release_before_the_first_write(
    place: Place, shell: Shell, tmp_path: Path, playbook: str, given: Data, image: str
) -> None:
    run = place.run(playbook, **given, **CALM)
    found = verdict(run, "MIRROR-OS-TAG", "registry")
    assert (f"takes the driver image {image}," in found["message"], place.writes(run)) == (True, [])
    follow(found["remedy"], shell, tmp_path, {"FILE": mirrored(image)})
    run = place.done(playbook, **given, **CALM)
    assert run.changed
    assert drivers(place) == {image}
    again = place.done(playbook, **given, **CALM)
    assert (again.changed, place.writes(again)) == (0, [])


def test_the_removal_needs_no_catalogue(place: Place) -> None:
    place.done("remove_gpus", gpu_pools=POOLS)
    assert place.client.list("operators.coreos.com/v1alpha1", "subscriptions") == []
