# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The oldest supported OpenShift, 4.18, from nothing to GPUs; then NFD follows to the release of 4.19."""

from __future__ import annotations

import typing as t

import pytest
from cluster import must_get
from integration.scenarios.place import Data, Place

SCENARIO: t.Final = "older-nfd"
pytestmark = [
    pytest.mark.long("the whole chain: unit/nfd/test_groups and unit/olm/test_support have what differs"),
    pytest.mark.story("a cluster gets GPUs, and its next release of NFD"),
]
POOLS: t.Final = "one-t4-pool.yml"
OLDER, NEWER = "nfd.v4.18.0-202601131107", "nfd.v4.19.0-202602101242"
NAMESPACE: t.Final = "openshift-nfd"
RULE: t.Final[Data] = {
    "name": "gpus",
    "rules": [
        {
            "name": "nvidia",
            "labels": {"example.com/nvidia": True},
            "matchFeatures": [
                {"feature": "pci.device", "matchExpressions": {"vendor": {"op": "In", "value": ["10de"]}}}
            ],
        }
    ],
}


def labelled(place: Place) -> list[str]:
    """Return the number of GPUs of each node that has the label of the rule."""
    nodes = place.client.list("v1", "nodes", labels="example.com/nvidia=true")
    return [node["status"]["allocatable"]["nvidia.com/gpu"] for node in nodes]


@pytest.fixture(scope="module")
def older(place: Place) -> Place:
    """A cluster with the operator of its own release: the catalogue's newest is the one of 4.19."""
    operator: Data = {"name": "nfd", "namespace": NAMESPACE, "channel": "stable", "csv": OLDER}
    installed = place.demo.module("olm_operator", **operator)
    assert not installed.failed, installed.result
    return place


def test_a_run_ends_with_validated_gpus_and_rules_in_the_older_group(older: Place) -> None:
    run = older.done("enable_gpus", file=POOLS, node_feature_discovery_rules=[RULE])
    assert "1 of 1 node of 1 pool offers and validated 1 GPU" in run.output
    assert labelled(older) == ["1"]
    must_get(older.client, "nfd.openshift.io/v1alpha1", "nodefeaturerules", "gpus", NAMESPACE)
    again = older.done("enable_gpus", file=POOLS, node_feature_discovery_rules=[RULE])
    assert (again.changed, older.writes(again)) == (0, [])


def test_the_driver_has_the_name_of_its_operating_system(older: Place) -> None:
    """Up to 4.18 the images of the driver are named by RHCOS, from 4.19 on by RHEL."""
    pods = older.client.list(
        "v1", "pods", "nvidia-gpu-operator", labels="app.kubernetes.io/component=nvidia-driver"
    )
    images = {container["image"] for pod in pods for container in pod["spec"]["containers"]}
    assert images
    assert all("rhcos4.18" in image for image in images if "/driver:" in image)


def test_the_next_release_of_nfd_keeps_the_labels_and_moves_the_rules(older: Place) -> None:
    variables: Data = {"node_feature_discovery_rules": [RULE], "node_feature_discovery_approve": "upgrade"}
    run = older.done("enable_gpus", file=POOLS, **variables)
    assert run.changed
    subscription = must_get(older.client, "operators.coreos.com/v1alpha1", "subscriptions", "nfd", NAMESPACE)
    assert subscription["status"]["installedCSV"] == NEWER
    must_get(older.client, "nfd.k8s-sigs.io/v1alpha1", "nodefeaturerules", "gpus", NAMESPACE)
    assert labelled(older) == ["1"]
    again = older.done("enable_gpus", file=POOLS, **variables)
    assert (again.changed, older.writes(again)) == (0, [])
