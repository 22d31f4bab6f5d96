# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The BareMetalHost of a broken node is restarted; a node that stays broken gets another host."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
import yaml
from cluster import must_get
from integration.killed import kill_playbook
from integration.patience import until
from integration.playbook import ROOT, Run
from integration.scenarios.place import Data, Place, warnings

from openshift_sandbox import faults

SCENARIO: t.Final = "baremetal"
pytestmark = [
    pytest.mark.long("a whole stack and four reboots: the unit tests of _repair have a host in memory"),
    pytest.mark.story("a pool on bare metal, a repair that helps, one that is killed, one that replaces"),
]
POOLS: t.Final[list[Data]] = yaml.safe_load((ROOT / "examples/baremetal.yml").read_text())["gpu_pools"][:1]
PLACE: t.Final = "openshift-machine-api"
HOSTS: t.Final = ("metal3.io/v1alpha1", "baremetalhosts")
REBOOT: t.Final = "patch baremetalhosts.metal3.io"
RECORD: t.Final = "accelerators.openshift/repair"
GPU: t.Final = "nvidia.com/gpu"


def node(place: Place, name: str = "gpu-0") -> Data:
    return must_get(place.client, "v1", "nodes", name)


def boot(place: Place) -> str:
    return str(node(place)["status"]["nodeInfo"]["bootID"])


def gpus(place: Place, name: str = "gpu-0") -> int:
    """Return the number of allocatable GPUs; 0 without the node."""
    found = place.client.get("v1", "nodes", name) or {}
    return int((found.get("status") or {}).get("allocatable", {}).get(GPU, 0))


def restarts(place: Place, run: Run) -> int:
    """Return how often the run asked for a restart of the host."""
    return sum(one.startswith(REBOOT) for one in place.writes(run))


def repaired(run: Run) -> Data:
    """Return the result of the module gpu_node_repair."""
    return next(one.result for one in run.tasks if one.name == "Repair the node")


@contextlib.contextmanager
def trouble(place: Place, kind: str, **fields: t.Any) -> t.Iterator[None]:
    """Stage a trouble, of the node gpu-0 unless fields name another one."""
    sandbox, found = place.cluster.needs_sandbox(), {"node": "gpu-0", **fields}
    faults.add(sandbox, kind, found)
    try:
        yield
    finally:
        faults.clear(sandbox, kind, found)


@contextlib.contextmanager
def lost_gpu(place: Place, name: str = "gpu-0", **fields: t.Any) -> t.Iterator[None]:
    """Let a node lose a GPU to Xid 79."""
    with trouble(place, "gpu_lost", node=name, count=1, xid=79, **fields):
        until(lambda: gpus(place, name) == 7, "a GPU that is out of service")
        yield


def test_a_pool_takes_a_host(place: Place) -> None:
    place.done("enable_gpus", gpu_pools=POOLS)
    assert gpus(place) == 8


def test_the_host_is_restarted_and_the_second_run_writes_nothing(place: Place) -> None:
    before = boot(place)
    with lost_gpu(place, until="reboot"):
        run = place.done("repair_node", gpu_node="gpu-0")
        again = place.done("repair_node", gpu_node="gpu-0")
    found = repaired(run)
    assert (found["action"], found["rebooted_with"], found["cordoned"]) == (
        "rebooted",
        "bare_metal_host",
        False,
    )
    assert found["faults"] == [f"7 of 8 {GPU} are allocatable"]
    assert found["workload"]["nodes"][0]["validated"] == 8
    assert boot(place) != before
    host = must_get(place.client, *HOSTS, "gpu-0", PLACE)
    assert "reboot.metal3.io" not in (host["metadata"].get("annotations") or {})
    vendor = host["status"]["hardware"]["systemVendor"]
    assert found["form"]["server"]["serial"] == vendor["serialNumber"]
    assert found["form"]["gpus"][0]["xid"] == 79
    assert restarts(place, run) == 1
    assert (repaired(again)["action"], place.writes(again)) == ("nothing", [])


def test_a_run_that_is_killed_while_the_host_restarts_is_resumed(place: Place) -> None:
    before, start = boot(place), place.audit.position()
    with lost_gpu(place):
        with trouble(place, "no_reboot"):
            kill_playbook(
                place.demo, lambda: REBOOT in place.audit.written(start), "repair_node", gpu_node="gpu-0"
            )
        until(lambda: boot(place) != before, "a node that has started again")
    after = boot(place)
    assert RECORD in node(place)["metadata"]["annotations"]
    run = place.done("repair_node", gpu_node="gpu-0")
    found = repaired(run)
    assert (found["action"], found["rebooted_with"], found["cordoned"]) == ("resumed", "", False)
    assert (boot(place), restarts(place, run)) == (after, 0)
    assert RECORD not in node(place)["metadata"]["annotations"]


def test_a_host_that_does_not_start_is_named_and_not_asked_twice(place: Place) -> None:
    before = boot(place)
    with lost_gpu(place), trouble(place, "no_reboot"):
        first = place.run("repair_node", gpu_node="gpu-0", gpu_wait_timeout=20)
        second = place.run("repair_node", gpu_node="gpu-0", gpu_wait_timeout=5)
    for run in (first, second):
        assert (run.rc != 0, repaired(run)["code"]) == (True, "REPAIR-BOOT")
        assert f"it still has boot id {before}" in repaired(run)["msg"]
    assert (restarts(place, first), restarts(place, second)) == (1, 0)
    assert node(place)["spec"]["unschedulable"] is True
    until(lambda: boot(place) != before, "a node that has started again")
    assert repaired(place.done("repair_node", gpu_node="gpu-0"))["action"] == "resumed"
    assert "unschedulable" not in node(place)["spec"]


def test_a_node_that_stays_broken_gets_another_host(place: Place) -> None:
    before, uid = boot(place), node(place)["metadata"]["uid"]
    with lost_gpu(place):
        run = place.done(
            "repair_node", gpu_node="gpu-0", gpu_repair_replace=True, gpu_repair_grace=5, gpu_wait_timeout=120
        )
    found = repaired(run)
    assert found["action"] == "replaced"
    command = f"oc label baremetalhost -n {PLACE} gpu-0 gpu-"
    assert [text for text in warnings(run) if command in text], warnings(run)
    (machine,) = found["new_machines"]
    host = must_get(place.client, *HOSTS, "gpu-1", PLACE)
    assert host["spec"]["consumerRef"]["name"] == machine
    assert found["form"]["boot_id"] not in ("", before)
    live = place.client.get("v1", "nodes", "gpu-0")
    assert live is None or live["metadata"]["uid"] != uid
    until(lambda: gpus(place, "gpu-1") == 8, "a node with all its GPUs")
    again = place.done("repair_node", gpu_node="gpu-1")
    assert (repaired(again)["action"], place.writes(again)) == ("nothing", [])


def test_without_another_host_the_machine_stays(place: Place) -> None:
    place.client.patch(*HOSTS, "gpu-0", PLACE, {"metadata": {"labels": {"gpu": None}}})
    with lost_gpu(place, "gpu-1"):
        run = place.run("repair_node", gpu_node="gpu-1", gpu_repair="replace")
    found = repaired(run)
    assert (run.rc != 0, found["code"], place.writes(run)) == (True, "MACH-HOST", [])
    assert "0 of 1 hosts that match gpu=h100 are free" in found["msg"]
