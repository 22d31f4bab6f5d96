# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A sandbox for each platform: what its installer leaves, and a MachineSet that becomes a node with GPUs."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
from cluster import must_get, own
from integration.patience import until
from integration.sandbox.machine_sets import API, MACHINES, PREFIX, Data, copied, in_phase, machines, worker

from openshift_sandbox.client import ApiError, Client
from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.core.conditions import holds

STARTS_CLUSTERS: t.Final = True

pytestmark = pytest.mark.long(
    "the sandbox itself: every other test uses its parts, these test them one by one"
)


@pytest.fixture
def started() -> t.Iterator[t.Callable[[str], Client]]:
    with contextlib.ExitStack() as clusters:
        yield lambda scenario: clusters.enter_context(own(scenario)).client


def gpu_set(client: Client, changes: dict[str, t.Any]) -> str:
    """Create a machine set with one machine from the worker set; return its name."""
    client.create(copied(worker(client), "demo-x7k2p-gpu-0", labels={"pool": "gpu"}, **changes))
    return "demo-x7k2p-gpu-0"


def ready_node(client: Client, name: str) -> Data | None:
    node = client.get("v1", "nodes", name)
    return node if node and holds(node, "Ready") else None


@pytest.mark.parametrize(
    ("scenario", "changes", "gpus", "told"),
    [
        ("baremetal", {"hostSelector": {"matchLabels": {"gpu": "h100"}}}, 8, {}),
        (
            "vsphere",
            {"template": "rhcos-9.8-2xL40S", "numCPUs": 16, "memoryMiB": 65536},
            2,
            {"vCPU": "16", "memoryMb": "65536"},
        ),
        ("openstack", {"flavor": "g1.t4.2"}, 2, {"vCPU": "16", "memoryMb": "65536"}),
        ("nutanix", {"gpus": [{"type": "Name", "name": "Ampere 40"}]}, 1, {"vCPU": "8", "memoryMb": "32768"}),
        ("ibmcloud", {"profile": "gx3-16x80x1l4"}, 1, {"vCPU": "16", "memoryMb": "81920"}),
    ],
)
def test_a_set_scaled_up_becomes_a_node_with_gpus_and_goes_again(
    started: t.Callable[[str], Client],
    scenario: str,
    changes: dict[str, t.Any],
    gpus: int,
    told: dict[str, str],
) -> None:
    client = started(scenario)
    name = gpu_set(client, changes)
    [machine] = until(lambda: in_phase(client, name, "Running"), "the Machine Running")
    node = until(lambda: ready_node(client, machine["status"]["nodeRef"]["name"]), "the Node Ready")
    made_of = instance_types.of_node(node)
    assert made_of is not None
    assert (made_of.gpus, made_of.has_nvidia_gpus, node["metadata"]["labels"]["pool"]) == (gpus, True, "gpu")
    assert node["spec"]["providerID"] == machine["spec"]["providerID"]
    annotations = worker_like(client, name)["metadata"].get("annotations") or {}
    assert {key: value for key, value in annotations.items() if key.startswith(PREFIX)} == {
        f"{PREFIX}{key}": value for key, value in told.items()
    }
    client.delete(API, "machinesets", name, MACHINES)
    until(
        lambda: not machines(client, name) and not client.get("v1", "nodes", node["metadata"]["name"]),
        "Machine and Node gone",
    )
    if scenario == "baremetal":
        hosts = {
            one["metadata"]["name"]: one
            for one in client.list("metal3.io/v1alpha1", "baremetalhosts", MACHINES)
        }
        assert [hosts[one]["status"]["provisioning"]["state"] for one in ("gpu-0", "gpu-1")] == [
            "available",
            "available",
        ]


def worker_like(client: Client, name: str) -> Data:
    return must_get(client, API, "machinesets", name, MACHINES)


@pytest.mark.parametrize(
    ("scenario", "platform", "control_plane"),
    [
        ("hosted", "AWS", "External"),
        ("single-node", "None", "SingleReplica"),
        ("oci-external", "External", "HighlyAvailable"),
    ],
)
def test_a_cluster_that_nobody_makes_machines_for_has_gpu_nodes(
    started: t.Callable[[str], Client], scenario: str, platform: str, control_plane: str
) -> None:
    client = started(scenario)
    status = must_get(client, "config.openshift.io/v1", "infrastructures", "cluster")["status"]
    assert (status["platformStatus"]["type"], status["controlPlaneTopology"]) == (platform, control_plane)
    assert client.request("GET", f"/apis/{API}/machinesets")[0] == 404
    assert [
        node
        for node in client.list("v1", "nodes")
        if (made_of := instance_types.of_node(node)) and made_of.has_nvidia_gpus
    ]


def test_a_mirrored_set_is_nobodys_to_write(started: t.Callable[[str], Client]) -> None:
    client = started("mirrored-machine-set")
    name = "demo-x7k2p-t4-us-east-2a"
    mirrored = until(lambda: paused(client, name), "the set paused")
    assert (mirrored["spec"]["authoritativeAPI"], mirrored["status"]["authoritativeAPI"]) == (
        "ClusterAPI",
        "ClusterAPI",
    )
    changes: dict[str, t.Any] = {"You may only modify spec.authoritativeAPI.": {"spec": {"replicas": 2}}}
    changes |= {
        "machine.openshift.io/*": {
            "metadata": {"annotations": {f"{PREFIX}GPU": "9"}, "labels": {f"{PREFIX}x": "y"}}
        }
    }
    for text, change in changes.items():
        with pytest.raises(ApiError, match="denied request") as refused:
            client.patch(API, "machinesets", name, MACHINES, change)
        assert refused.value.status == 422
        assert text in refused.value.message
    client.patch(
        API,
        "machinesets",
        name,
        MACHINES,
        {"metadata": {"labels": {"team": "ml"}}, "spec": {"authoritativeAPI": "MachineAPI"}},
    )
    assert machines(client, name) == []
    own = gpu_set(client, {"instanceType": "g4dn.xlarge"})
    until(lambda: in_phase(client, own, "Running"), "a Machine of another set Running")
    assert worker_like(client, own)["status"]["authoritativeAPI"] == "MachineAPI"


def paused(client: Client, name: str) -> Data | None:
    found = worker_like(client, name)
    return (
        found
        if any(
            one["type"] == "Paused" and one["status"] == "True"
            for one in found["status"].get("conditions", [])
        )
        else None
    )
