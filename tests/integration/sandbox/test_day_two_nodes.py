# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controllers that work on nodes in the background: drains, spot notices, worker pool, boot images."""

from __future__ import annotations

import typing as t

import pytest
from cluster import must_get
from integration.patience import until
from integration.sandbox.machine_sets import API, MACHINES, Data, in_phase, machines
from integration.sandbox.pods import events, pod, running

from openshift_sandbox.client import Client
from openshift_sandbox.stand_ins.core.conditions import holds

SCENARIO = "aws"
pytestmark = pytest.mark.long(
    "the sandbox itself: every other test uses its parts, these test them one by one"
)
WORKER_POOL = ("machineconfiguration.openshift.io/v1", "machineconfigpools", "worker")


def test_a_drain_waits_for_a_disruption_budget(client: Client, machine_set: t.Callable[..., str]) -> None:
    name = machine_set("drained")
    [machine] = until(lambda: in_phase(client, name, "Running"), "the Machine Running")
    pod(
        client,
        "guarded",
        nodeName=machine["status"]["nodeRef"]["name"],
        volumes=[{"name": "scratch", "emptyDir": {}}],
    )
    until(lambda: running(client, "guarded"), "the pod Running")
    budget = {"minAvailable": 1, "selector": {"matchLabels": {"app": "guarded"}}}
    client.create(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "guarded", "namespace": "default"},
            "spec": budget,
        }
    )
    until(lambda: _disruptions(client) == 0, "a budget that allows nothing")
    client.delete(API, "machines", machine["metadata"]["name"], MACHINES)
    [text] = until(
        lambda: events(client, MACHINES, machine["metadata"]["name"], "DrainRequeued"), "the event"
    )
    assert (
        text
        == 'Node drain requeued: error when evicting pods/"guarded" -n "default": global timeout reached: 20s'
    )
    assert running(client, "guarded")
    other = machine_set("undisturbed")
    until(lambda: in_phase(client, other, "Running"), "another Machine Running meanwhile")
    assert running(client, "guarded"), "a refused eviction holds up nobody else"
    assert machine["metadata"]["name"] in {one["metadata"]["name"] for one in machines(client, name)}
    client.delete("policy/v1", "poddisruptionbudgets", "guarded", "default")
    assert until(
        lambda: (
            machine["metadata"]["name"] not in {one["metadata"]["name"] for one in machines(client, name)}
        ),
        "the Machine gone",
    )


def _disruptions(client: Client) -> int | None:
    found = must_get(client, "policy/v1", "poddisruptionbudgets", "guarded", "default")
    return t.cast(
        "int | None",
        found.get("status", {}).get("disruptionsAllowed")
        if found.get("status", {}).get("expectedPods")
        else None,
    )


def test_a_pod_is_ready_again_after_the_node_controller_said_that_it_is_not(client: Client) -> None:
    """Controllers whose view of the API is old miss the node's lease. A kubelet corrects them."""

    pod(client, "judged")
    until(lambda: running(client, "judged"), "the pod Running")
    metadata = {"name": "judged", "namespace": "default"}
    told = {"conditions": [{"type": "Ready", "status": "False"}]}
    judged = client.apply_status({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": told})
    assert [one["status"] for one in judged["status"]["conditions"] if one["type"] == "Ready"] == ["False"]
    assert until(
        lambda: holds(must_get(client, "v1", "pods", "judged", "default"), "Ready"), "the pod ready again"
    )
    client.delete("v1", "pods", "judged", "default")


def test_a_spot_instance_gets_notice_and_goes(
    client: Client, trouble: t.Callable[..., None], machine_set: t.Callable[..., str]
) -> None:
    name = machine_set("spot", spotMarketOptions={})
    [machine] = until(lambda: in_phase(client, name, "Running"), "the Machine Running")
    trouble("spot_reclaimed", count=1)
    node = machine["status"]["nodeRef"]["name"]
    until(lambda: client.get("v1", "nodes", node) is None, "the Node gone")
    [other] = until(lambda: in_phase(client, name, "Running"), "a Machine Running in its place")
    assert other["metadata"]["name"] != machine["metadata"]["name"], (
        "the cluster's own health check has replaced it"
    )


def test_the_worker_pool_counts_new_nodes_and_a_new_boot_image_reaches_the_sets(
    client: Client, trouble: t.Callable[..., None], machine_set: t.Callable[..., str]
) -> None:
    assert (
        until(lambda: (_pool(client).get("machineCount") == 3) and _pool(client), "three workers")[
            "readyMachineCount"
        ]
        == 3
    )
    name = machine_set("counted")
    until(lambda: in_phase(client, name, "Running"), "the Machine Running")
    status = until(lambda: (_pool(client)["readyMachineCount"] == 4) and _pool(client), "four workers")
    assert {
        one["type"]: one["status"] for one in status["conditions"] if one["type"] in {"Updated", "Updating"}
    } == {"Updated": "True", "Updating": "False"}
    trouble("boot_image_update", image="ami-0aaaabbbbccccdddd")
    assert until(
        lambda: {_ami(one) for one in client.list(API, "machinesets", MACHINES)} == {"ami-0aaaabbbbccccdddd"},
        "the image in every set",
    )


def _pool(client: Client) -> Data:
    return t.cast(Data, t.cast(Data, client.get(*WORKER_POOL)).get("status") or {})


def _ami(machine_set: Data) -> str:
    return str(machine_set["spec"]["template"]["spec"]["providerSpec"]["value"]["ami"]["id"])


def test_stand_ins_rest_when_nothing_happens(rest: t.Callable[[], bool]) -> None:
    assert until(rest, "three seconds without a write")
