# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks with hardware profiles: what users of OpenShift AI see of pools and queues, and when it goes."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook, Run
from integration.wire import Audit

SCENARIO: t.Final = "openshift-ai"
pytestmark = [
    pytest.mark.story("OpenShift AI comes, sees pools and a queue, loses both, and gets older"),
    pytest.mark.long("few clusters have OpenShift AI; the unit tests of _hardware_profiles hold each step"),
]

Data = dict[str, t.Any]
GPU: t.Final = "nvidia.com/gpu"
SPACE: t.Final = "opendatahub"
NEW: t.Final = "infrastructure.opendatahub.io/v1"
INFERENCE: t.Final[Data] = {
    "name": "inference",
    "existing": {"node_selector": {"accelerators.openshift/pool": "inference"}, "expected": {GPU: 1}},
    "taints": [{"key": GPU, "effect": "NoSchedule"}],
}
TRAINING: t.Final[Data] = {
    "name": "training",
    "existing": {"node_selector": {"accelerators.openshift/pool": "training"}, "expected": {GPU: 8}},
}
QUEUE: t.Final[Data] = {
    "name": "research",
    "pools": [{"name": "training", "gpus": 8}],
    "namespaces": ["it-research"],
}
VARIABLES: t.Final[Data] = {
    "gpu_pools": [INFERENCE, TRAINING],
    "gpu_queues": [QUEUE],
    "gpu_hardware_profiles": True,
}


def run(playbook: Playbook, name: str, **more: t.Any) -> Run:
    found = playbook.playbook(name, "--tags", "gpu_policy", **{**VARIABLES, **more})
    assert found.rc == 0, found.output
    return found


def seen(cluster: Cluster) -> dict[str, Data]:
    """Return the profiles that OpenShift AI sees, by name."""
    found = cluster.client.list(NEW, "hardwareprofiles", SPACE)
    return {str(obj["metadata"]["name"]): obj for obj in found}


def test_a_run_before_openshift_ai_is_refused_before_the_first_write(
    playbook: Playbook, audit: Audit
) -> None:
    refused = playbook.playbook("enable_gpus", "--tags", "gpu_policy", **VARIABLES)
    assert refused.failure["code"] == "POLICY-PROFILE-NAMESPACE"
    assert audit.writes(*refused.tasks) == []


def test_users_see_the_pools_and_the_queue(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    version = {"apiVersion": "dscinitialization.opendatahub.io/v1", "kind": "DSCInitialization"}
    cluster.client.apply({**version, "metadata": {"name": "dsci"}, "spec": {"applicationsNamespace": SPACE}})
    planned = run(playbook, "plan")
    assert audit.writes(*planned.tasks) == []
    assert f"make    HardwareProfile {SPACE}/research" in planned.output
    run(playbook, "enable_gpus")
    found = seen(cluster)
    assert {name: obj["spec"]["scheduling"] for name, obj in found.items()} == {
        "inference": {
            "type": "Node",
            "node": {
                "nodeSelector": {"accelerators.openshift/pool": "inference"},
                "tolerations": [{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}],
            },
        },
        "research": {"type": "Queue", "kueue": {"localQueueName": "research"}},
    }
    assert found["research"]["spec"]["identifiers"][2]["maxCount"] == 8
    again = run(playbook, "enable_gpus")
    assert (again.changed, audit.writes(*again.tasks)) == (0, [])


def test_drift_names_a_profile_that_is_gone(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    run(playbook, "drift")
    cluster.client.delete(NEW, "hardwareprofiles", "inference", SPACE)
    drifted = playbook.playbook("drift", "--tags", "gpu_policy", **VARIABLES)
    assert "DRIFT-FOUND" in drifted.output
    assert f"HardwareProfile {SPACE}/inference" in drifted.output
    assert audit.writes(*drifted.tasks) == []


def test_a_render_has_the_profiles(playbook: Playbook, tmp_path: Path) -> None:
    run(playbook, "render", gpu_render_dir=str(tmp_path))
    (file,) = tmp_path.glob(f"*-hardware-profile-{SPACE}-research.yaml")
    assert yaml.safe_load(file.read_text())["spec"]["scheduling"]["type"] == "Queue"


def test_a_pool_that_leaves_the_list_is_no_longer_offered(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    run(playbook, "enable_gpus", gpu_pools=[INFERENCE], gpu_queues=[])
    assert list(seen(cluster)) == ["inference"]


def test_what_is_no_longer_offered_is_taken_back(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    off = {"gpu_pools": [INFERENCE], "gpu_queues": [], "gpu_hardware_profiles": False}
    planned = run(playbook, "plan", **off)
    assert audit.writes(*planned.tasks) == []
    assert f"remove  HardwareProfile {SPACE}/inference" in planned.output
    run(playbook, "enable_gpus", **off)
    assert seen(cluster) == {}
    again = run(playbook, "enable_gpus", **off)
    assert (again.changed, audit.writes(*again.tasks)) == (0, [])
    run(playbook, "enable_gpus", gpu_pools=[INFERENCE], gpu_queues=[])


def test_a_removal_of_the_pool_takes_its_profile(cluster: Cluster, playbook: Playbook) -> None:
    gone = playbook.playbook("remove_pool", "--tags", "gpu_policy", gpu_pool="inference")
    assert gone.rc == 0, gone.output
    assert seen(cluster) == {}


def test_a_removal_of_all_takes_all(cluster: Cluster, playbook: Playbook) -> None:
    run(playbook, "enable_gpus")
    assert set(seen(cluster)) == {"inference", "research"}
    run(playbook, "remove_gpus")
    assert seen(cluster) == {}


@pytest.mark.parametrize(
    ("newer", "version", "plural"),
    [
        ("hardwareprofiles.infrastructure.opendatahub.io", "v1alpha1", "hardwareprofiles"),
        ("hardwareprofiles.dashboard.opendatahub.io", "v1", "acceleratorprofiles"),
    ],
)
def test_an_older_release_has_an_older_kind(
    cluster: Cluster, playbook: Playbook, newer: str, version: str, plural: str
) -> None:
    """Each case takes a newer kind away, which the release does not have."""
    cluster.client.delete("apiextensions.k8s.io/v1", "customresourcedefinitions", newer)
    until(
        lambda: cluster.client.get("apiextensions.k8s.io/v1", "customresourcedefinitions", newer) is None,
        f"{newer} is gone",
    )
    run(playbook, "enable_gpus", gpu_queues=[])
    found = cluster.client.list(f"dashboard.opendatahub.io/{version}", plural, SPACE)
    assert {obj["metadata"]["name"] for obj in found} == {"inference", "training"}
    assert all(obj["spec"]["enabled"] for obj in found)
