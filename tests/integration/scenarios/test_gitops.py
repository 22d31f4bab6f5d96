# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""render.yml writes files for Git, Argo CD applies them, and a run brings the rest and changes none.

The test stands in for Argo CD: it applies each file with its field manager, in the order of the waves.
"""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml
from integration.playbook import ROOT
from integration.scenarios.place import Place

from openshift_sandbox.client import ApiError, Client

SCENARIO: t.Final = "aws"
POOLS: t.Final = "two-pools.yml"
pytestmark = [
    pytest.mark.long("the whole chain: unit/render has the files"),
    pytest.mark.story("a render, Argo CD, a run, a render again"),
]
QUOTAS: t.Final = ("v1", "resourcequotas", "team-a")


def render(place: Place, folder: Path, *options: str, **variables: t.Any) -> dict[str, str]:
    """Run render.yml, which must have written nothing to the cluster. Return its files."""
    run = place.done("render", *options, gpu_render_dir=str(folder), **variables)
    assert place.writes(run) == []
    return {path.name: path.read_text() for path in sorted(folder.glob("*.yaml"))}


def sync(place: Place, files: t.Mapping[str, str]) -> list[str]:
    """Apply the files as Argo CD does. Return those whose kind is not there yet."""
    argo_cd, waiting = Client(place.cluster.kubeconfig, "argocd-controller"), []
    for name, text in sorted(files.items()):
        try:
            argo_cd.apply(yaml.safe_load(text), force=False)
        except (ApiError, LookupError):
            waiting.append(name)
    return waiting


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("git")


def test_an_empty_cluster_gives_every_object_and_a_run_changes_none(place: Place, folder: Path) -> None:
    (folder / "mine.yaml").write_text("kind: ConfigMap\n")
    (folder / "60-old.yaml").write_text("# Rendered by accelerators.openshift from gpu_pools. An old one.\n")
    files = render(place, folder, file=POOLS)
    assert (files.pop("mine.yaml"), files.pop("60-old.yaml", None)) == ("kind: ConfigMap\n", None)
    kinds = {yaml.safe_load(text)["kind"] for text in files.values()}
    assert {"Namespace", "Subscription", "MachineSet", "ResourceQuota", "ClusterPolicy"} <= kinds
    assert "| 60 | ClusterPolicy gpu-cluster-policy |" in (folder / "README.md").read_text()

    waiting = sync(place, files)
    assert {name[:2] for name in waiting} == {"35", "60"}
    place.done("enable_gpus", file=POOLS)
    assert sync(place, files) == []
    again = place.done("enable_gpus", file=POOLS)
    assert (again.changed, place.writes(again)) == (0, [])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert {**render(place, folder, file=POOLS), "mine.yaml": ""} == {**files, "mine.yaml": ""}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert set(render(place, folder, "--tags", "gpu_policy", file=POOLS)) == {*files, "mine.yaml"}


def test_a_run_warns_where_git_takes_its_change_back(place: Place) -> None:
    pools = yaml.safe_load((ROOT / "examples" / POOLS).read_text())["gpu_pools"]
    pools[0]["replicas"] = 3
    run = place.run("enable_gpus", "--check", gpu_pools=pools)
    assert "comes from Git: Argo CD takes this change back." in run.output
    pools[0].update(replicas=2, quota=[{"namespace": "team-a", "gpus": 3}])
    run = place.done("enable_gpus", gpu_pools=pools)
    assert "stays 2 (asked: 3, set by argocd-controller)" in run.output
    quota = place.client.get(*QUOTAS[:2], "gpu-quota", QUOTAS[2])
    assert quota is not None
    assert quota["spec"]["hard"]["requests.nvidia.com/gpu"] == "2"


def test_a_folder_that_cannot_be_written_is_refused_before_the_cluster_is_asked(place: Place) -> None:
    run = place.run("render", file=POOLS, gpu_render_dir="/proc/gpus")
    assert run.failure["code"] == "INPUT-RENDER"
    assert "/proc/gpus" in run.failure["message"]
