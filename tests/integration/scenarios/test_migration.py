# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A GPU stack that others made: docs/migration.md, step by step, on objects as other tools write them."""

from __future__ import annotations

import time
import typing as t

import pytest
from integration.scenarios.place import Data, Place

from openshift_sandbox.client import Client

SCENARIO: t.Final = "aws"
POOLS: t.Final = "one-t4-pool.yml"
pytestmark = [
    pytest.mark.long("the whole chain: unit/core/test_adoption has the differences"),
    pytest.mark.story("others made the stack; plan, report, take, remove"),
]
PACKAGES: t.Final = {
    "nvidia-gpu-operator": ("gpu-operator-certified", "certified-operators", "v26.7"),
    "openshift-nfd": ("nfd", "redhat-operators", "stable"),
}
# As the role and the catalogue that the page names write it, without what is a default.
POLICY: t.Final[Data] = {
    "operator": {"defaultRuntime": "crio", "use_ocp_driver_toolkit": True, "initContainer": {}},
    "daemonsets": {"updateStrategy": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "1"}},
    "driver": {"enabled": True, "licensingConfig": {"nlsEnabled": False, "configMapName": ""}},
    "dcgm": {"enabled": True},
    "dcgmExporter": {"enabled": True, "config": {"name": ""}},
    "devicePlugin": {"enabled": True},
    "gfd": {"enabled": True},
    "mig": {"strategy": "single"},
    "migManager": {"enabled": True},
    "nodeStatusExporter": {"enabled": True},
    "toolkit": {"enabled": True},
    "validator": {"plugin": {"env": [{"name": "WITH_WORKLOAD", "value": "true"}]}},
}
FEATURES: t.Final = (
    'sources:\n  pci:\n    deviceClassWhitelist: ["0200", "03"]\n    deviceLabelFields: ["vendor"]\n'
)
OLM: t.Final = "operators.coreos.com"


def operators() -> t.Iterator[Data]:
    for namespace, (package, source, channel) in PACKAGES.items():
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        place = {"name": package, "namespace": namespace}
        groups: Data = {"targetNamespaces": [namespace]}
        yield {"apiVersion": f"{OLM}/v1", "kind": "OperatorGroup", "metadata": place, "spec": groups}
        spec = {"name": package, "channel": channel, "installPlanApproval": "Automatic"}
        spec |= {"source": source, "sourceNamespace": "openshift-marketplace"}
        yield {"apiVersion": f"{OLM}/v1alpha1", "kind": "Subscription", "metadata": place, "spec": spec}


def resources() -> list[Data]:
    place = {"name": "nfd-instance", "namespace": "openshift-nfd"}
    config = {"workerConfig": {"configData": FEATURES}, "operand": {"servicePort": 12000}}
    policy = {"name": "gpu-cluster-policy"}
    return [
        {
            "apiVersion": "nfd.openshift.io/v1",
            "kind": "NodeFeatureDiscovery",
            "metadata": place,
            "spec": config,
        },
        {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": policy, "spec": POLICY},
    ]


@pytest.fixture(scope="module")
def theirs(place: Place) -> Place:
    """A cluster on which somebody has installed both operators and their objects by hand."""
    somebody = Client(place.cluster.kubeconfig, "kubectl-client-side-apply")
    for obj in operators():
        somebody.apply(obj)
    ends = time.monotonic() + 120
    while {one.get("status", {}).get("phase") for one in versions(place)} != {"Succeeded"}:
        assert time.monotonic() < ends, versions(place)
        time.sleep(1)
    for obj in resources():
        somebody.apply(obj)
    return place


def versions(place: Place) -> list[Data]:
    found: list[Data] = place.client.list(f"{OLM}/v1alpha1", "clusterserviceversions")
    return found if len(found) == len(PACKAGES) else [{}]


def policy(place: Place) -> Data:
    (found,) = place.client.list("nvidia.com/v1", "clusterpolicies")
    return dict(found)


def test_the_plan_names_what_others_made_and_what_differs(theirs: Place) -> None:
    run = theirs.done("plan", file=POOLS)
    assert theirs.writes(run) == []
    assert "Subscription nfd was not created by this collection and was not changed" in run.output
    by = "was created by another client (field manager kubectl-client-side-apply) and was not changed"
    assert f"ClusterPolicy gpu-cluster-policy {by}" in run.output
    assert "These fields differ from the task: spec.daemonsets.tolerations." in run.output


def test_a_run_validates_the_stack_and_leaves_its_objects(theirs: Place) -> None:
    before = policy(theirs)["spec"]
    run = theirs.done("enable_gpus", file=POOLS)
    assert "1 of 1 node of 1 pool offers and validated 1 GPU" in run.output
    assert policy(theirs)["spec"] == before


def test_take_sets_only_what_differs_and_removal_leaves_it_to_them(theirs: Place) -> None:
    before = policy(theirs)["spec"]
    taking = {"gpu_operator_adopt": "take", "node_feature_discovery_adopt": "take"}
    theirs.done("enable_gpus", file=POOLS, **taking)
    after = policy(theirs)["spec"]
    assert after.pop("daemonsets")["tolerations"]
    assert after == {key: value for key, value in before.items() if key != "daemonsets"}
    again = theirs.done("enable_gpus", file=POOLS, **taking)
    assert (again.changed, theirs.writes(again)) == (0, [])
    theirs.done("remove_gpus", file=POOLS)
    assert policy(theirs)["spec"]["mig"] == before["mig"]
    assert [one["status"]["phase"] for one in versions(theirs)] == ["Succeeded", "Succeeded"]
