# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples with tuned pools: enabled once, once more without a write, and taken away without a trace."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.patience import until
from integration.playbook import ROOT, Playbook, Run
from integration.troubles.demo import PATIENT
from integration.wire import Audit

from openshift_sandbox.client import ApiError

pytestmark = [
    pytest.mark.story("each example comes and goes"),
    pytest.mark.long("the whole chain twice: tuning/test_profiles.py tunes existing nodes in every run"),
]

Data = dict[str, t.Any]
SCENARIO: t.Final = "aws"
GROUP: t.Final = "machineconfiguration.openshift.io/v1"
MACHINES: t.Final = "openshift-machine-api"
POOL: t.Final = "accelerators.openshift/pool"
# Version, plural and namespace of what a run makes; of the first ones the specs are compared too.
TUNING: t.Final = (
    ("tuned.openshift.io/v1", "tuneds", None),
    (GROUP, "machineconfigpools", None),
    (GROUP, "machineconfigs", None),
    (GROUP, "kubeletconfigs", None),
    ("performance.openshift.io/v2", "performanceprofiles", None),
)
OTHERS: t.Final = (
    ("v1", "nodes", None),
    ("v1", "secrets", MACHINES),
    ("machine.openshift.io/v1beta1", "machinesets", MACHINES),
    ("operators.coreos.com/v1alpha1", "subscriptions", None),
    ("nvidia.com/v1", "clusterpolicies", None),
    ("nfd.openshift.io/v1", "nodefeaturediscoveries", None),
)


def objects(cluster: Cluster) -> dict[str, dict[str, Data]]:
    """Return all objects that a run could leave, by plural and name; the tuning's with their specs.

    Rendered configurations are the operator's.
    """
    found: dict[str, dict[str, Data]] = {}
    for version, plural, namespace in TUNING + OTHERS:
        try:
            live = cluster.client.list(version, plural, namespace)
        except ApiError:
            live = []
        is_tuning = (version, plural, namespace) in TUNING
        specs = {one["metadata"]["name"]: one.get("spec", {}) if is_tuning else {} for one in live}
        found[plural] = {name: one for name, one in specs.items() if not name.startswith("rendered-")}
    return found


@pytest.fixture(scope="module")
def before(cluster: Cluster) -> dict[str, dict[str, Data]]:
    def is_complete() -> bool:
        return len(cluster.client.list("v1", "nodes")) == 6

    until(is_complete, "the nodes of the installer")
    return objects(cluster)


def play(playbook: Playbook, name: str, example: str, **more: t.Any) -> Run:
    run = playbook.playbook(name, f"-e @{ROOT}/examples/{example}.yml", **PATIENT, **more)
    assert run.rc == 0, run.output[-4000:]
    return run


@pytest.fixture(scope="module", params=["training-tuned", "inference-isolated"])
def example(request: pytest.FixtureRequest) -> str:
    """Return the name of a file below examples/. All tests of one come before those of the next."""
    return str(request.param)


def test_the_nodes_are_tuned_and_have_their_gpus(
    cluster: Cluster, playbook: Playbook, before: dict[str, dict[str, Data]], example: str
) -> None:
    play(playbook, "enable_gpus", example, node_tuning_wait_timeout=300)
    pool = example.partition("-")[0]
    nodes = cluster.client.list("v1", "nodes", labels=f"{POOL}={pool}")
    profiles = cluster.client.list("tuned.openshift.io/v1", "profiles")
    active = {one["metadata"]["name"]: one["status"]["tunedProfile"] for one in profiles}
    assert [active[one["metadata"]["name"]] for one in nodes] == [f"gpu-{pool}"] * 2
    assert all(int(one["status"]["allocatable"]["nvidia.com/gpu"]) for one in nodes)
    assert not any(one["spec"].get("unschedulable") for one in nodes)
    is_isolated = example == "inference-isolated"
    assert (f"gpu-{pool}" in objects(cluster)["machineconfigpools"]) is is_isolated
    pages = {one["status"]["allocatable"].get("hugepages-1Gi") for one in nodes}
    assert pages == ({"16Gi"} if is_isolated else {None})


def test_a_second_run_writes_nothing(playbook: Playbook, audit: Audit, example: str) -> None:
    since = audit.position()
    again = play(playbook, "enable_gpus", example)
    assert again.changed == 0
    audit.flush()
    assert audit.written(since) == []


def test_a_removal_leaves_nothing(
    cluster: Cluster, playbook: Playbook, before: dict[str, dict[str, Data]], example: str
) -> None:
    play(playbook, "remove_gpus", example, node_tuning_wait_timeout=300)
    assert objects(cluster) == before
