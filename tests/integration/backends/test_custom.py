# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource, backend custom: an FPGA operator's custom resource, its false status, other owners."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook
from integration.twelve_steps import task
from integration.wire import Audit

from openshift_sandbox import faults

pytestmark = pytest.mark.long("few clusters have an operator of their own; unit tests judge the same")

Data = dict[str, t.Any]

API: t.Final = "fpga.example.com/v1"
SPACE: t.Final = "fpga-operator"
LABEL: t.Final = "example.com/fpga-card"


def definition(name: str = "it-fpga", devices: int = 2, **spec: t.Any) -> Data:
    wanted = {
        "image": "registry.example.com/fpga/device-plugin:v1.2.0",
        "resourceName": "example.com/fpga",
        "devicesPerNode": devices,
    }
    return {
        "apiVersion": API,
        "kind": "FpgaStack",
        "metadata": {"name": name, "namespace": SPACE},
        "spec": wanted | {"nodeSelector": {LABEL: "true"}} | spec,
    }


def options(devices: int = 2, name: str = "it-fpga", **more: t.Any) -> Data:
    custom = {
        "definition": definition(name, devices),
        "ready": "status.conditions[?type=='Available'].status | [0] == 'True'",
        "failed": "status.conditions[?type=='Degraded'].status | [0] == 'True'",
        "says": "status.conditions[?type=='Degraded'].message | [0]",
        "expected": {"example.com/fpga": devices},
    }
    base = {"backend": "custom", "custom": custom | more.pop("custom", {}), "grace": 2, "wait_timeout": 90}
    return base | {"pools": [{"name": "fpga", "node_selector": {LABEL: "true"}, "replicas": 2}]} | more


@contextlib.contextmanager
def trouble(cluster: Cluster, name: str, **fields: t.Any) -> t.Iterator[None]:
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, name, fields)
    try:
        yield
    finally:
        faults.clear(sandbox, name, fields)


@pytest.fixture(scope="module")
def fpga(cluster: Cluster, playbook: Playbook) -> t.Iterator[list[str]]:
    """Install the FPGA operator, label two workers as nodes with cards, and yield their names."""
    cluster.needs_sandbox()
    nodes = [
        node["metadata"]["name"]
        for node in cluster.client.list("v1", "nodes", labels="node-role.kubernetes.io/worker")
    ][:2]
    early = playbook.module("special_resource", **options())
    assert early["code"] == "API-KIND-NOT-SERVED", early.result
    planned = playbook.module("special_resource", check=True, **options())
    assert (planned.failed, planned.changed) == (False, True), planned.result
    run = playbook.tasks(task("olm_operator", name="fpga-operator", namespace=SPACE))
    assert run.rc == 0, run.output[-3000:]
    for name in nodes:
        cluster.client.patch("v1", "nodes", name, None, {"metadata": {"labels": {LABEL: "true"}}})
    yield nodes
    for name in nodes:
        cluster.client.patch("v1", "nodes", name, None, {"metadata": {"labels": {LABEL: None}}})
    assert playbook.tasks(task("olm_operator", name="fpga-operator", namespace=SPACE, state="absent")).rc == 0


def test_the_truth_is_on_the_nodes(cluster: Cluster, playbook: Playbook, fpga: list[str]) -> None:
    """Lose a card while the custom resource says ready; then let the resource report a failure."""
    done = playbook.module("special_resource", **options())
    assert not done.failed, done.result
    found = done["special_resource"]
    assert (found["state"], found["reason"], [one["name"] for one in found["nodes"]]) == (
        "ready",
        "Ready",
        sorted(fpga),
    )
    with trouble(cluster, "devices_lost", node=fpga[0]):
        lost = playbook.module("special_resource", **options(settle=3))
    assert lost["code"] == "GPU-ALLOC"
    assert {one["name"]: one["verdict"] for one in lost["special_resource"]["stages"]} == {
        "crd": "ready",
        "nodes": "ready",
        "allocatable": "failed",
    }
    assert f"Node {fpga[0]}: offers example.com/fpga 1 of 2" in lost["msg"]
    assert lost["special_resource"]["nodes"][0]["allocatable"] == {"example.com/fpga": 1}
    with trouble(cluster, "fpga_degraded", text="firmware 7 is too old"):
        broken = playbook.module("special_resource", **options(settle=3))
    assert (broken["code"], broken["special_resource"]["state"]) == ("GPU-CR-FAILED", "failed")
    assert "firmware 7 is too old" in broken["msg"]
    healed = playbook.module("special_resource", **options())
    assert not healed.failed, healed.result
    gone = playbook.module("special_resource", **options(state="absent"))
    assert gone.changed
    sets = cluster.client.list("apps/v1", "daemonsets", SPACE)
    assert [one["metadata"]["name"] for one in sets] == []


def test_the_example_runs_and_runs_again(
    cluster: Cluster, playbook: Playbook, audit: Audit, fpga: list[str]
) -> None:
    run = playbook.playbook("../examples/fpga")
    assert run.rc == 0, run.output[-3000:]
    assert [one["allocatable"] for one in run.tasks[-1]["special_resource"]["nodes"]] == [
        {"example.com/fpga": 2}
    ] * 2
    again = playbook.playbook("../examples/fpga")
    assert (again.rc, audit.writes(*again.tasks)) == (0, [])
    gone = playbook.module("special_resource", **options(name="fpga", state="absent"))
    assert gone.changed
