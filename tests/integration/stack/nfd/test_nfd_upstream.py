# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nfd_labels with NFD from the upstream Helm chart: the module uses it and removes only its own rules."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from cluster import Cluster, running
from integration.playbook import Playbook, Run
from integration.wire import Audit

STARTS_CLUSTERS: t.Final = True

pytestmark = pytest.mark.long("Node Feature Discovery by a chart and not by OpenShift's operator")

PCI: t.Final = "feature.node.kubernetes.io/pci-10de.present"
POOL: t.Final = {"accelerators.openshift/pool": "it-chart"}
RULE: t.Final = ("nfd.k8s-sigs.io/v1alpha1", "nodefeaturerules")
MATCH: t.Final = [{"feature": "pci.device", "matchExpressions": {"vendor": {"op": "In", "value": ["10de"]}}}]
OPTIONS: t.Final[dict[str, t.Any]] = {
    "rules": [
        {
            "name": "it-gpus",
            "rules": [{"name": "gpus", "labels": {"example.com/gpu": True}, "matchFeatures": MATCH}],
        }
    ],
    "expect": [
        {
            "node_selector": POOL,
            "labels": {
                PCI: True,
                "example.com/gpu": True,
                "feature.node.kubernetes.io/system-os_release.OSTREE_VERSION": None,
            },
        }
    ],
}


@pytest.fixture(scope="module")
def chart() -> t.Iterator[Cluster]:
    with running("upstream-nfd") as cluster:
        cluster.needs_sandbox()
        yield cluster


def labelled(playbook: Playbook) -> Run:
    """Run nfd_labels three times on a GPU node: in check mode, for real, and again."""
    labels = {"accelerators.openshift.nfd_labels": OPTIONS}
    return playbook.tasks(
        {
            "accelerators.openshift.gpu_machineset": {
                "name": "it-chart",
                "instance_type": "g4dn.xlarge",
                "zones": ["us-east-2b"],
                "replicas": 1,
            }
        },
        {**labels, "check_mode": True},
        {**labels, "register": "made"},
        labels,
        {"ansible.builtin.debug": {"msg": "{{ made }}"}},
    )


def test_an_nfd_of_somebody_else_s_chart(
    chart: Cluster, tmp_path_factory: pytest.TempPathFactory, program: Path
) -> None:
    assert chart.sandbox
    playbook, audit = (
        Playbook(tmp_path_factory.mktemp("chart"), chart.kubeconfig, program),
        Audit(chart.sandbox.directory / "audit.log", chart.client),
    )
    run = labelled(playbook)
    assert run.rc == 0, run.output[-3000:]
    _pool, foretold, made, again, told = run.tasks
    assert (foretold.changed, made.changed, again.changed) == (True, True, False)
    assert audit.writes(foretold) == audit.writes(again) == []
    facts = made["nfd"]
    assert (facts["name"], facts["namespace"], facts["manager"], facts["available"]) == (
        "",
        "node-feature-discovery",
        "Helm (nfd)",
        True,
    )
    (warning,) = told["msg"]["warnings"]
    assert "Namespace node-feature-discovery already has NFD (Helm (nfd))" in warning
    assert "uninstall the chart with its CRDs and install the operator nfd" in warning
    assert "namespace" not in chart.client.list(*RULE)[0]["metadata"]

    removed = playbook.module("nfd_labels", state="absent")
    assert removed["nfd"]["removed"]["rules"] == ["it-gpus"]
    (node,) = chart.client.list("v1", "nodes", labels="accelerators.openshift/pool=it-chart")
    assert "example.com/gpu" not in node["metadata"]["labels"]
    assert node["metadata"]["labels"][PCI] == "true"
