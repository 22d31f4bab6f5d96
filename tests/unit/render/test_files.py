# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An object of an apply becomes a file that Argo CD applies in its turn, or a line of the README."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core import ownership
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import NO_RUN
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.session import Applied
from ansible_collections.accelerators.openshift.plugins.module_utils._render.files import (
    HEADER,
    readme,
    rendered,
)
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _render

Data = dict[str, t.Any]
QUOTA: t.Final[Data] = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "gpu-quota", "namespace": "team-a", "labels": dict(ownership.MANAGED_BY)},
    "spec": {"hard": {"requests.nvidia.com/gpu": "2"}},
}
POLICY: t.Final[Data] = {
    "apiVersion": "nvidia.com/v1",
    "kind": "ClusterPolicy",
    "metadata": {"name": "gpu-cluster-policy", "annotations": {"kept": "yes"}},
    "spec": {"driver": {"enabled": True}},
}


def test_a_file_has_the_object_with_its_wave_and_its_mark() -> None:
    made = rendered(QUOTA, "")
    assert (made.file, made.wave, made.why) == ("20-resource-quota-team-a-gpu-quota.yaml", 20, "")
    assert made.manifest["metadata"]["annotations"] == {
        "accelerators.openshift/rendered": "team-a/gpu-quota",
        "argocd.argoproj.io/sync-wave": "20",
    }
    assert made.manifest["spec"] == QUOTA["spec"]
    assert "annotations" not in QUOTA["metadata"]


def test_a_kind_that_an_operator_brings_is_not_tried_before_it_is_there() -> None:
    annotations = rendered(POLICY, "").manifest["metadata"]["annotations"]
    assert annotations["argocd.argoproj.io/sync-options"] == "SkipDryRunOnMissingResource=true"
    assert annotations["kept"] == "yes"


def test_operators_come_before_what_they_serve_and_namespaces_before_all() -> None:
    kinds = (
        "Namespace",
        "OperatorGroup",
        "Subscription",
        "MachineSet",
        "NodeFeatureDiscovery",
        "ClusterPolicy",
    )
    waves = [rendered({**POLICY, "kind": kind}, "").wave for kind in kinds]
    assert waves == sorted(set(waves))


def test_functions_come_after_the_driver_of_their_card_and_networks_after_them() -> None:
    kinds = ("SriovOperatorConfig", "NicClusterPolicy", "IPPool", "SriovNetworkNodePolicy", "SriovNetwork")
    waves = [rendered({**POLICY, "kind": kind}, "").wave for kind in (*kinds, "ClusterPolicy")]
    assert waves == sorted(set(waves))


def test_a_secret_and_a_node_have_no_file_and_the_readme_says_why() -> None:
    objects = [rendered({**QUOTA, "kind": kind}, "") for kind in ("Secret", "Node", "HyperConverged")]
    assert [(one.file, one.manifest) for one in objects] == [("", {})] * 3
    text = readme(objects, ["change MachineConfigPool worker"])
    assert "- Secret team-a/gpu-quota is secret: let your secret manager write it.\n" in text
    assert "- change MachineConfigPool worker\n" in text
    assert "](" not in text


def test_the_readme_lists_files_by_wave_and_who_keeps_an_object() -> None:
    text = readme([rendered(POLICY, "Argo CD (gitops)"), rendered(QUOTA, "")], [])
    assert text.index("| 20 | ResourceQuota team-a/gpu-quota |") < text.index("| 60 | ClusterPolicy")
    assert "- ClusterPolicy gpu-cluster-policy: Argo CD (gitops)\n" in text


def test_a_rendered_object_is_ours_whoever_applies_it_and_a_copy_is_not() -> None:
    manifest = rendered(QUOTA, "").manifest
    fields: Data = {"f:metadata": {"f:labels": {"f:app.kubernetes.io/managed-by": {}}}}
    entry = {"manager": "argocd-controller", "operation": "Apply", "fieldsV1": fields}
    live = {**manifest, "metadata": {**manifest["metadata"], "managedFields": [entry]}}
    assert ownership.owned(live)
    assert not ownership.owned({**live, "metadata": {**live["metadata"], "name": "copy"}})
    del live["metadata"]["annotations"]["accelerators.openshift/rendered"]
    assert not ownership.owned(live)


def test_node_pools_of_another_cluster_are_in_a_folder_of_their_own(tmp_path: Path) -> None:
    """A failed task writes them too: without them there are no nodes, and so no plan."""
    node_pool = {
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "NodePool",
        "metadata": {"name": "a"},
    }
    pools = [{"pool": "t4", "manifests": [node_pool]}, {"pool": "classic", "manifests": []}]
    for result in ({"failed": True, "machine_pools": pools}, {"plan": {"machine_pools": pools}}):
        folder = tmp_path / str(len(result))
        assert _render.write(str(folder), {}, NO_RUN, [], result) == result
        assert [file.name for file in (folder / "hub").iterdir()] == ["node-pool-t4.yaml"]
        text = (folder / "hub/node-pool-t4.yaml").read_text()
        assert text.startswith(HEADER)
        assert yaml.safe_load(text) == node_pool
        assert (folder / "README.md").exists() == ("failed" not in result)


def test_a_file_that_no_render_made_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Our clusters\n")
    refused = _render.write(str(tmp_path), {}, NO_RUN, [Applied(QUOTA, "")], {})
    assert (refused["failed"], refused["code"]) == (True, "INPUT-RENDER")
    assert f"no render has made the file that is there: {tmp_path}/README.md" in refused["message"]
    assert [file.name for file in tmp_path.iterdir()] == ["README.md"]
    other = tmp_path / "git"
    other.mkdir()
    file = other / rendered(QUOTA, "").file
    file.write_text("kind: ResourceQuota\n")
    assert _render.write(str(other), {}, NO_RUN, [Applied(QUOTA, "")], {})["code"] == "INPUT-RENDER"
    assert file.read_text() == "kind: ResourceQuota\n"


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "git").write_text("")
    refused = _render.write(str(tmp_path / "git"), {}, NO_RUN, [Applied(QUOTA, "")], {})
    assert not (tmp_path / "git").read_text()
    assert (refused["code"], "File exists" in refused["message"]) == ("INPUT-RENDER", True)


def test_a_second_render_gives_the_same_files(tmp_path: Path) -> None:
    """The state of a run that was killed, or of another run, counts for nothing."""
    _render.write(str(tmp_path), {}, NO_RUN, [Applied(POLICY, "")], {})
    first = {file.name: file.read_bytes() for file in tmp_path.glob("[!.]*")}
    for left in ("{", json.dumps({"run": "another", "objects": {"Pod a": ["Pod a"]}})):
        (tmp_path / _render.STATE).write_text(left)
        assert _render.write(str(tmp_path), {}, NO_RUN, [Applied(POLICY, "")], {}) == {}
        assert {file.name: file.read_bytes() for file in tmp_path.glob("[!.]*")} == first


def test_a_folder_may_be_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _render.write(t.cast("str", 5), {}, NO_RUN, [Applied(QUOTA, "")], {})
    assert (tmp_path / "5/README.md").is_file()
