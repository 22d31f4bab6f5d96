# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the MIG manager makes of a label."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.builders import (
    NAMESPACE,
    add_job_pod,
    add_operand,
    labels,
    make,
    pod_annotations,
)

from openshift_sandbox.stand_ins.core.boots import restart
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Reconciler
from openshift_sandbox.stand_ins.gpu_operator.logs import GpuLogs
from openshift_sandbox.stand_ins.gpu_operator.mig import PROBLEM, MigManager
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import CRASH
from openshift_sandbox.stand_ins.gpu_operator.sharing.geometry import LAYOUT

MANAGER = "nvidia-mig-manager"
CLIENTS = ("device-plugin", "gpu-feature-discovery", "dcgm-exporter", "dcgm")
SMALL = [{"1g.5gb": 7}] * 8
OURS = """
mig-configs:
  ours: [{devices: [0], mig-enabled: true, mig-devices: {7g.40gb: 1}}]
  wrong: [{devices: all, mig-enabled: true, mig-devices: {1g.5gb: 8}}]
"""


def world_of(config: str = "all-1g.5gb", directory: Path | None = None, **scenario: t.Any) -> World:
    stand_ins = (MigManager(), *([GpuLogs()] if directory else []))
    world = make(*stand_ins, directory=directory or Path("/nonexistent"), **scenario)
    prepare(world, config)
    return world


def prepare(world: World, config: str) -> None:
    body = {"status": {"nodeInfo": {"bootID": "one", "machineID": "machine"}}}
    world.api.patch("v1", "nodes", "gpu-0", None, body, "status")
    label(world, config, **{"node.kubernetes.io/instance-type": "p4d.24xlarge"})


def label(world: World, config: str, **more: str) -> None:
    wanted = {"nvidia.com/mig.config": config} | more
    world.api.patch("v1", "nodes", "gpu-0", None, {"metadata": {"labels": wanted}})


def start(world: World, custom: str = "", **env: str) -> None:
    add_operand(world, MANAGER, hold=None, ready=True)
    container = {"name": MANAGER, "image": "mig", "env": [{"name": k, "value": v} for k, v in env.items()]}
    name = custom or "default-mig-parted-config"
    volumes = [{"name": "mig-parted-config", "configMap": {"name": name}}]
    body = {"spec": {"containers": [container], "volumes": volumes}}
    world.api.patch("v1", "pods", MANAGER, NAMESPACE, body)
    world.settle(2)


def again(world: World, custom: str = "", **env: str) -> None:
    """Let the manager's pod start again."""
    if ("Pod", NAMESPACE, MANAGER) in world.api.objects:
        world.api.delete("v1", "pods", MANAGER, NAMESPACE)
    world.api.delete("apps/v1", "daemonsets", MANAGER, NAMESPACE)
    world.settle()
    start(world, custom, **env)


def state(world: World) -> str | None:
    return labels(world).get("nvidia.com/mig.config.state")


def layout(world: World) -> list[dict[str, int] | None] | None:
    text = (world.api.get("Node", "gpu-0")["metadata"].get("annotations") or {}).get(LAYOUT)
    return t.cast("list[dict[str, int] | None]", json.loads(text)) if text else None


def clients(world: World) -> set[str | None]:
    return {labels(world).get(f"nvidia.com/gpu.deploy.{one}") for one in CLIENTS}


@pytest.mark.parametrize(
    ("trouble", "found", "made"),
    [("", "success", SMALL), ("mig_fails", "failed", None), ("mig_stuck", "pending", None)],
)
def test_a_label_becomes_a_layout_and_a_state(trouble: str, found: str, made: object) -> None:
    world = world_of(troubles=[{"type": trouble}] if trouble else [])
    start(world)
    assert state(world) == found
    assert layout(world) == made


@pytest.mark.parametrize(("trouble", "found"), [("mig_fails", "failed"), ("mig_stuck", "pending")])
def test_a_trouble_that_comes_later_goes_with_its_end(trouble: str, found: str) -> None:
    world = world_of()
    start(world)
    world.scenario.now.troubles.append({"type": trouble, "node": "gpu-0"})
    world.settle(2)
    assert (state(world), layout(world)) == (found, SMALL)
    world.scenario.now.troubles.clear()
    world.settle(2)
    assert (state(world), layout(world)) == ("success", SMALL)


@pytest.mark.parametrize("trouble", ["mig_fails", "mig_stuck"])
def test_a_trouble_that_ends_lets_the_manager_cut(trouble: str) -> None:
    world = world_of(troubles=[{"type": trouble}])
    start(world)
    world.scenario.now.troubles.clear()
    world.settle(2)
    assert (state(world), layout(world), clients(world)) == ("success", SMALL, {"true"})


def test_a_trouble_of_one_profile_leaves_other_layouts_alone() -> None:
    world = world_of("all-3g.20gb", troubles=[{"type": "mig_fails", "profile": "1g.5gb"}])
    halves = [{"3g.20gb": 2}] * 8
    start(world)
    assert (state(world), layout(world)) == ("success", halves)
    label(world, "all-1g.5gb")
    world.settle(2)
    assert (state(world), layout(world), clients(world)) == ("failed", halves, {"true"})
    label(world, "all-3g.20gb")
    world.settle(2)
    assert (state(world), layout(world)) == ("success", halves)


def test_it_stops_the_clients_of_the_gpus_and_starts_them_again() -> None:
    world = world_of()
    label(world, "all-1g.5gb", **{"nvidia.com/gpu.deploy.dcgm": "false"})
    add_operand(world, "nvidia-device-plugin-daemonset", hold=None, ready=True)
    add_operand(world, "nvidia-operator-validator", hold=None, ready=True)
    start(world)
    assert (state(world), layout(world)) == ("pending", None)
    assert clients(world) == {"paused-for-mig-change", "false"}
    world.api.delete("v1", "pods", "nvidia-device-plugin-daemonset", NAMESPACE)
    world.settle(1)
    assert (state(world), layout(world)) == ("success", SMALL)
    assert clients(world) == {"true", "false"}
    assert ("delete", "Pod", "nvidia-operator-validator") in world.api.writes


def test_clients_that_stay_leave_the_node_pending() -> None:
    world = world_of(delays={"mig_clients": 10})
    add_operand(world, "nvidia-dcgm", hold=None, ready=True)
    start(world)
    world.settle(12)
    world.api.delete("v1", "pods", "nvidia-dcgm", NAMESPACE)
    world.settle(2)
    assert state(world) == "pending", "the real manager gives up and waits for another label"
    again(world)
    assert state(world) == "success"


def test_a_pod_with_a_gpu_makes_it_fail_until_another_label_comes(tmp_path: Path) -> None:
    world = world_of(directory=tmp_path)
    add_job_pod(world, "job", "team")
    start(world)
    assert (state(world), clients(world)) == ("failed", {"true"})
    assert "In use by another client" in (tmp_path / f"pod-logs/{NAMESPACE}_{MANAGER}.log").read_text()
    world.api.delete("v1", "pods", "job", "team")
    world.settle(5)
    assert state(world) == "failed", "the manager reads the label when it changes, or when its pod starts"
    label(world, "all-3g.20gb")
    world.settle(2)
    assert (state(world), layout(world)) == ("success", [{"3g.20gb": 2}] * 8)
    assert PROBLEM not in pod_annotations(world, MANAGER)


class Reader(Reconciler):
    """Somebody who reads the log of the manager as soon as its state says that it failed."""

    kinds = ("Node",)

    def __init__(self, log: Path) -> None:
        self.log, self.read = log, ""

    def reconcile(self, cluster: Cluster, now: float) -> None:
        node = cluster.find("Node", "gpu-0") or {}
        if node["metadata"]["labels"].get("nvidia.com/mig.config.state") == "failed" and not self.read:
            self.read = self.log.read_text() if self.log.exists() else "no log"


def test_the_log_says_why_before_the_state_says_failed(tmp_path: Path) -> None:
    reader = Reader(tmp_path / f"pod-logs/{NAMESPACE}_{MANAGER}.log")
    world = make(MigManager(), reader, GpuLogs(), directory=tmp_path, troubles=[{"type": "mig_fails"}])
    prepare(world, "all-1g.5gb")
    start(world)
    assert "Insufficient Resources" in reader.read


def test_a_layout_that_is_there_already_stops_nothing() -> None:
    world = world_of("all-disabled")
    add_job_pod(world, "job", "team")
    start(world)
    assert (state(world), layout(world)) == ("success", None)


@pytest.mark.parametrize(("config", "problem"), [("all-1g.99gb", "not present"), ("all-1g.10gb", "")])
def test_a_name_that_the_hardware_does_not_have(config: str, problem: str) -> None:
    world = world_of(config)
    start(world)
    assert state(world) == ("failed" if problem else "success")
    assert problem in str(pod_annotations(world, MANAGER).get(PROBLEM, ""))
    shown = world.api.get("ConfigMap", "gpu-0-mig-config", NAMESPACE)
    assert "all-balanced" in shown["data"]["config.yaml"]
    assert shown["metadata"]["ownerReferences"][0]["kind"] == "Pod"


def test_a_config_map_of_the_user() -> None:
    world = world_of("ours")
    start(world, "parted")
    assert state(world) is None
    assert [one["reason"] for one in world.api.all("Event")] == ["FailedMount"]
    write(world, other="x")
    world.settle(1)
    assert pod_annotations(world, MANAGER) == {CRASH: MANAGER}
    write(world, **{"config.yaml": OURS})
    world.settle(2)
    assert (state(world), layout(world)) == ("success", [{"7g.40gb": 1}, *[None] * 7])
    label(world, "wrong")
    world.settle(2)
    assert (state(world), layout(world)) == ("failed", [{"7g.40gb": 1}, *[None] * 7])
    assert "do not fit" in pod_annotations(world, MANAGER)[PROBLEM]


def write(world: World, **data: str) -> None:
    metadata = {"name": "parted", "namespace": NAMESPACE}
    world.api.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


def test_a_mode_that_changes_with_the_next_boot() -> None:
    world = world_of(troubles=[{"type": "mig_mode_pending", "node": "gpu-0"}])
    start(world)
    assert (state(world), layout(world)) == ("failed", None)
    assert pod_annotations(world, MANAGER)[PROBLEM] == "At least one mode change pending"
    restart(world.cluster, world.api.get("Node", "gpu-0"))
    again(world)
    assert (state(world), layout(world)) == ("success", SMALL)
    label(world, "all-3g.20gb")
    world.settle(2)
    assert state(world) == "success", "a change of the layout does not change the mode"


def test_a_manager_that_may_reboot_does() -> None:
    world = world_of(troubles=[{"type": "mig_mode_pending"}])
    start(world, WITH_REBOOT="true")
    assert state(world) == "rebooting"
    assert world.api.get("Node", "gpu-0")["status"]["nodeInfo"]["bootID"] != "one"
    again(world, WITH_REBOOT="true")
    assert (state(world), layout(world), clients(world)) == ("success", SMALL, {"true"})
