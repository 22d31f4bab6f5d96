# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An identity with too few rights: a 403 names the missing verb and resource, and nothing changes."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook

MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}
CASES = [
    ("gpu_quota", {"namespace": "it-team", "gpus": 1}, "resourcequotas"),
    ("manifests", {"objects": [MAP]}, "configmaps"),
]


@pytest.mark.parametrize(("module", "options", "resource"), CASES, ids=[case[0] for case in CASES])
def test_forbidden_names_verb_and_resource(
    cluster: Cluster, playbook: Playbook, team: str, module: str, options: dict[str, t.Any], resource: str
) -> None:
    space = team if options.get("namespace") == team else "default"
    restricted = cluster.needs_sandbox().directory / "kubeconfig-restricted"
    run = playbook.tasks({f"accelerators.openshift.{module}": options}, kubeconfig=restricted)
    assert run.failure["code"] == "API-FORBIDDEN"
    assert f"may not patch {resource} in namespace {space}" in run.failure["message"]
    assert f"the verbs patch and create on {resource} in namespace {space}" in run.failure["remedy"]
    assert f"oc auth can-i patch {resource} -n {space} --as " in run.failure["remedy"]
    assert run.failure["changed"] is False
