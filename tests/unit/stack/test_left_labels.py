# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels that the GPU operator leaves: they go on request, and labels of users stay."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.stack.builders import some_params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import left_labels, upgrade
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import node_driver

Data = dict[str, t.Any]
SPACE: t.Final = "nvidia-gpu-operator"
MONITORING: t.Final = "openshift.io/cluster-monitoring"
NODE: t.Final[Data] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "name": "n-1",
        "labels": {
            "nvidia.com/gpu.present": "true",
            "nvidia.com/gpu.deploy.driver": "true",
            "nvidia.com/gpu.deploy.mig-manager": "paused-for-driver-upgrade",
            "nvidia.com/gpu.deploy.operands": "false",
            "nvidia.com/gpu-operator.driver.owner": "training",
            "nvidia.com/gpu-driver-upgrade-state": "upgrade-done",
            "nvidia.com/mig.config": "all-1g.5gb",
            "team": "ml",
        },
    },
}


def namespace(*managers: str) -> Data:
    fields: Data = {"f:metadata": {"f:labels": {f"f:{MONITORING}": {}}}}
    entries = [{"manager": one, "operation": "Update", "fieldsV1": fields} for one in managers]
    marks = {MONITORING: "true", "team": "ml"}
    metadata = {"name": SPACE, "labels": marks, "managedFields": entries}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def test_labels_of_the_operator_on_a_node() -> None:
    assert left_labels.of_node(NODE) == [
        "nvidia.com/gpu-driver-upgrade-state",
        "nvidia.com/gpu-operator.driver.owner",
        "nvidia.com/gpu.deploy.driver",
        "nvidia.com/gpu.deploy.mig-manager",
        "nvidia.com/gpu.present",
    ]


@pytest.mark.parametrize(
    ("managers", "found"),
    [(["gpu-operator"], [MONITORING]), (["gpu-operator", "kubectl-label"], []), ([], [])],
)
def test_labels_of_the_operator_on_its_namespace(managers: list[str], found: list[str]) -> None:
    assert left_labels.of_namespace(namespace(*managers)) == found


def removed(remove_labels: bool, *objects: Data) -> tuple[FakeServer, list[str]]:
    """Return the server and the warnings after the removal of the stack."""
    server = FakeServer("Namespace", "Node", "Pod", "DaemonSet", "ClusterPolicy", "GPUCluster")
    for one in (NODE, namespace("gpu-operator"), *objects):
        server.put(one)
    api = api_on(server)
    steps.absent(api, some_params(namespace=SPACE, remove_labels=remove_labels))
    return server, list(api.warnings)


def test_they_are_taken_away_only_on_request() -> None:
    assert removed(False)[0].writes() == []
    server, _warnings = removed(True)
    assert server.writes() == [("PATCH", "/api/v1/nodes/n-1"), ("PATCH", f"/api/v1/namespaces/{SPACE}")]
    assert server.objects["v1", "nodes", "", "n-1"]["metadata"]["labels"] == {
        "nvidia.com/gpu.deploy.operands": "false",
        "nvidia.com/mig.config": "all-1g.5gb",
        "team": "ml",
    }
    assert server.objects["v1", "namespaces", "", SPACE]["metadata"]["labels"] == {"team": "ml"}


def test_they_stay_while_a_foreign_stack_uses_them() -> None:
    theirs = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "theirs"}}
    server, warnings = removed(True, theirs)
    assert server.writes() == []
    assert "ClusterPolicy theirs" in warnings[0]


def held_node() -> Data:
    held = node_driver.hold(Run("jo", "bastion", "m", 4711, "1"))["metadata"]
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "held", **held}}


def test_the_label_of_an_interrupted_upgrade_of_ours_goes_with_the_stack() -> None:
    skipped = {"name": "theirs", "labels": {upgrade.SKIP: "true"}}
    server, _warnings = removed(False, held_node(), {"apiVersion": "v1", "kind": "Node", "metadata": skipped})
    assert server.writes() == [("PATCH", "/api/v1/nodes/held")]
    metadata = server.objects["v1", "nodes", "", "held"]["metadata"]
    assert (metadata["labels"], metadata["annotations"]) == ({}, {})


def test_the_label_of_an_interrupted_upgrade_is_named_where_a_foreign_stack_would_end_pods() -> None:
    theirs = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "theirs"}}
    server, warnings = removed(False, held_node(), theirs)
    assert server.writes() == []
    assert "jo@bastion (pid 4711) since 20" in warnings[0]
    assert upgrade.RESUME in warnings[0]
