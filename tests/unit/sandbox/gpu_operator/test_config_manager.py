# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which configuration the programs of a node have, and what the node offers with it."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.gpu_operator.builders import (
    NAMESPACE,
    Object,
    add_driver,
    add_job_pod,
    add_operand,
    daemon_set,
    make,
    pod_annotations,
    set_ready,
)

from openshift_sandbox.stand_ins.gpu_operator import workloads
from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import HOLD
from openshift_sandbox.stand_ins.gpu_operator.feature_discovery import GpuFeatureDiscovery
from openshift_sandbox.stand_ins.gpu_operator.node import GpuNode
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import CRASH, INIT_CRASH, OperandPods
from openshift_sandbox.stand_ins.gpu_operator.sharing import config, process
from openshift_sandbox.stand_ins.gpu_operator.sharing.config_manager import ConfigManagers
from openshift_sandbox.stand_ins.gpu_operator.sharing.geometry import LAYOUT
from openshift_sandbox.stand_ins.gpu_operator.workloads import DEVICES, GpuWorkloads

PLUGIN, DISCOVERY = "nvidia-device-plugin-daemonset", "gpu-feature-discovery"
DAEMON = "nvidia-device-plugin-mps-control-daemon"
TOOLKIT = "nvidia-container-toolkit-daemonset"
POLICY: Object = {"devicePlugin": {"config": {"name": "sharing", "default": "four"}}}
ONE_EACH = ", failRequestsGreaterThanOne: true"


def sliced(replicas: int, more: str = "", strategy: str = "timeSlicing") -> str:
    resources = f"resources: [{{name: nvidia.com/gpu, replicas: {replicas}}}]"
    return f"{{version: v1, sharing: {{{strategy}: {{{resources}{more}}}}}}}"


CONTENT = {"four": sliced(4), "two": sliced(2, ", renameByDefault: true"), "bad": sliced(1)}


def write(world: World, **content: str) -> None:
    metadata = {"name": "sharing", "namespace": NAMESPACE}
    world.api.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": content})


def label(world: World, value: str | None) -> None:
    body = {"metadata": {"labels": {"nvidia.com/device-plugin.config": value}}}
    world.api.patch("v1", "nodes", "gpu-0", None, body)


def start(world: World, *apps: str, **spec: t.Any) -> None:
    """Create pods of DaemonSets as the policy makes them; they are Ready once nothing holds them."""
    for app in apps:
        add_operand(world, app)
        template = daemon_set(app, **POLICY | spec)["spec"]["template"]["spec"]
        world.api.patch("v1", "pods", app, NAMESPACE, {"spec": template | {"nodeName": "gpu-0"}})
    world.settle(1)
    for app in apps:
        annotations = pod_annotations(world, app)
        set_ready(world, app, not annotations.keys() & {HOLD, CRASH, INIT_CRASH})
    world.settle(1)


def restart(world: World, *apps: str) -> None:
    for app in apps:
        world.api.delete("v1", "pods", app, NAMESPACE)
        world.api.delete("apps/v1", "daemonsets", app, NAMESPACE)
    start(world, *apps)


def world_of(directory: Path = Path("/nonexistent"), **scenario: t.Any) -> World:
    world = make(
        *(ConfigManagers(), OperandPods(), GpuFeatureDiscovery(), GpuNode()),
        *([GpuWorkloads()] if directory.exists() else []),
        directory=directory,
        **scenario,
    )
    add_driver(world, ready=True)
    add_operand(world, TOOLKIT, hold=None, ready=True)
    return world


def offered(world: World) -> dict[str, tuple[str, str]]:
    """Return capacity and allocatable of each resource."""
    status = world.api.get("Node", "gpu-0")["status"]
    return {name: (status["capacity"].get(name), two) for name, two in status.get("allocatable", {}).items()}


def described(world: World) -> dict[str, str]:
    found = world.api.get("NodeFeature", "nvidia-features-for-gpu-0", NAMESPACE)["spec"]["labels"]
    return {key.removeprefix("nvidia.com/"): value for key, value in found.items()}


@pytest.mark.parametrize(
    ("key", "resources", "product", "replicas", "strategy"),
    [
        (None, {"nvidia.com/gpu": ("16", "16")}, "Tesla-T4-SHARED", "4", "time-slicing"),
        ("two", {"nvidia.com/gpu.shared": ("8", "8")}, "Tesla-T4", "2", "time-slicing"),
    ],
)
def test_the_label_of_the_node_chooses(
    key: str | None, resources: dict[str, tuple[str, str]], product: str, replicas: str, strategy: str
) -> None:
    world = world_of()
    write(world, **CONTENT)
    label(world, key)
    start(world, PLUGIN, DISCOVERY)
    assert offered(world) == resources
    labels = described(world)
    assert (labels["gpu.product"], labels["gpu.count"]) == (product, "4")
    assert (labels["gpu.replicas"], labels["gpu.sharing-strategy"]) == (replicas, strategy)
    assert labels["mps.capable"] == "false"


def test_another_label_changes_the_running_programs_and_another_content_does_not() -> None:
    world = world_of()
    write(world, **CONTENT)
    start(world, PLUGIN, DISCOVERY)
    label(world, "two")
    world.settle(1)
    assert offered(world) == {"nvidia.com/gpu": ("0", "0"), "nvidia.com/gpu.shared": ("8", "8")}
    assert described(world)["gpu.replicas"] == "2"
    write(world, **CONTENT | {"two": sliced(3, ", renameByDefault: true")})
    world.settle(5)
    assert offered(world)["nvidia.com/gpu.shared"] == ("8", "8")
    restart(world, PLUGIN)
    assert offered(world)["nvidia.com/gpu.shared"] == ("12", "12")
    assert described(world)["gpu.replicas"] == "2", "GPU feature discovery has read the content before"
    restart(world, DISCOVERY)
    assert described(world)["gpu.replicas"] == "3"


def test_a_content_is_mounted_a_while_later() -> None:
    world = world_of(delays={"config_map_mount": 60})
    write(world, **CONTENT)
    start(world, PLUGIN)
    write(world, **CONTENT | {"five": sliced(5)})
    label(world, "five")
    world.settle(30)
    assert pod_annotations(world, PLUGIN)[CRASH] == "config-manager"
    assert offered(world) == {"nvidia.com/gpu": ("16", "16")}, "the plugin goes on beside it"
    world.settle(31)
    assert CRASH not in pod_annotations(world, PLUGIN)
    assert offered(world) == {"nvidia.com/gpu": ("20", "20")}


def test_a_program_that_is_told_nothing_keeps_its_configuration() -> None:
    world = world_of(troubles=[{"type": "plugin_keeps_config", "node": "gpu-0"}])
    write(world, **CONTENT)
    start(world, PLUGIN)
    label(world, "two")
    world.settle(5)
    assert offered(world) == {"nvidia.com/gpu": ("16", "16")}
    restart(world, PLUGIN)
    assert offered(world)["nvidia.com/gpu.shared"] == ("8", "8")


def test_a_pod_waits_for_its_config_map_and_its_key() -> None:
    world = world_of()
    label(world, "other")
    start(world, PLUGIN)
    assert pod_annotations(world, PLUGIN) == {HOLD: "init"}
    (event,) = world.api.all("Event")
    assert event["reason"] == "FailedMount"
    assert 'configmap "sharing" not found' in event["message"]
    write(world, **CONTENT)
    world.settle(1)
    assert pod_annotations(world, PLUGIN) == {HOLD: "init", INIT_CRASH: "true"}
    label(world, "four")
    world.settle(1)
    assert pod_annotations(world, PLUGIN) == {process.KEY: "four", process.TEXT: CONTENT["four"]}


def test_a_configuration_that_cannot_be_read() -> None:
    world = world_of()
    write(world, **CONTENT)
    start(world, PLUGIN)
    label(world, "bad")
    world.settle(1)
    assert pod_annotations(world, PLUGIN)[CRASH] == "nvidia-device-plugin"
    assert offered(world) == {"nvidia.com/gpu": ("16", "0")}
    write(world, **CONTENT | {"bad": sliced(2)})
    world.settle(1)
    assert CRASH not in pod_annotations(world, PLUGIN)
    assert offered(world) == {"nvidia.com/gpu": ("8", "8")}


def test_mps_serves_once_its_daemon_runs() -> None:
    world = world_of()
    write(world, four=sliced(4, strategy="mps"))
    start(world, PLUGIN, DISCOVERY)
    assert described(world)["mps.capable"] == "true"
    assert described(world)["gpu.sharing-strategy"] == "mps"
    assert offered(world) == {}
    start(world, DAEMON)
    assert offered(world) == {"nvidia.com/gpu": ("16", "16")}


def test_mps_has_limits() -> None:
    world = world_of()
    write(world, four=sliced(49, strategy="mps"))
    start(world, PLUGIN, DAEMON, mig={"strategy": "mixed"})
    assert pod_annotations(world, PLUGIN)[CRASH] == "nvidia-device-plugin"
    assert pod_annotations(world, DAEMON)[CRASH] == "mps-control-daemon-ctr"


def test_pods_share_devices(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    write(world, **CONTENT)
    start(world, PLUGIN)
    for number in range(8):
        add_job_pod(world, f"pod-{number}", "default")
    add_job_pod(world, "two", "default", 2)
    world.settle(1)
    given = [pod_annotations(world, f"pod-{number}", "default")[DEVICES] for number in range(8)]
    assert sorted(given) == sorted("01230123")
    assert len(pod_annotations(world, "two", "default")[DEVICES].split(",")) == 2


def test_a_plugin_that_gives_one_shared_device_refuses_two(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    write(world, four=sliced(4, ONE_EACH))
    start(world, PLUGIN)
    add_job_pod(world, "one", "default")
    add_job_pod(world, "two", "default", 2)
    world.settle(1)
    assert DEVICES in pod_annotations(world, "one", "default")
    status = world.api.get("Pod", "two", "default")["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "UnexpectedAdmissionError")
    assert "maximum request size for shared resources is 1; found 2" in status["message"]


@pytest.mark.parametrize(
    ("image", "refused"),
    [
        ("nvcr.io/nvidia/k8s-device-plugin:v0.19.3@sha256:25cc", True),
        ("nvcr.io/nvidia/k8s-device-plugin:v0.20.0@sha256:a61b", False),
        ("nvcr.io/nvidia/k8s-device-plugin@sha256:a61b", False),
    ],
)
def test_only_newer_plugins_let_a_pod_have_two_parts_of_mps(image: str, refused: bool) -> None:
    text = (
        "version: v1\nsharing: {mps: {failRequestsGreaterThanOne: false, "
        "resources: [{name: nvidia.com/gpu, replicas: 4}]}}\n"
    )
    plugin = {"spec": {"containers": [{"image": image}]}}
    pod = {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "2"}}}]}}
    assert bool(workloads.refused_by(config.read(text), pod, plugin)) is refused


def test_parts_of_a_gpu_are_devices_too(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    cuts = [{"1g.5gb": 2}, {"1g.5gb": 2, "2g.10gb": 1}, None, None]
    body = {"metadata": {"annotations": {LAYOUT: json.dumps(cuts)}}}
    world.api.patch("v1", "nodes", "gpu-0", None, body)
    write(world, four=sliced(2).replace("nvidia.com/gpu", "nvidia.com/mig-1g.5gb"))
    start(world, PLUGIN, mig={"strategy": "mixed"})
    assert {name: there for name, (_all, there) in offered(world).items()} == {
        "nvidia.com/gpu": "2",
        "nvidia.com/mig-1g.5gb": "8",
        "nvidia.com/mig-2g.10gb": "1",
    }
    for number in range(8):
        add_job_pod(world, f"pod-{number}", "default", resource="nvidia.com/mig-1g.5gb")
    add_job_pod(world, "whole", "default")
    world.settle(1)
    given = [pod_annotations(world, f"pod-{number}", "default")[DEVICES] for number in range(8)]
    assert sorted(given) == sorted(["0:1g.5gb:0", "0:1g.5gb:1", "1:1g.5gb:0", "1:1g.5gb:1"] * 2)
    assert pod_annotations(world, "whole", "default")[DEVICES] in ("2", "3")
    log = (tmp_path / "pod-logs" / "default_pod-0.log").read_text()
    assert "  MIG 1g.5gb      Device  0: (UUID: MIG-" in log


@pytest.mark.parametrize(("strategy", "mps"), [("single", False), ("none", True)])
def test_parts_that_a_plugin_cannot_serve(strategy: str, mps: bool) -> None:
    world = world_of()
    body = {"metadata": {"annotations": {LAYOUT: json.dumps([{"1g.5gb": 7}])}}}
    world.api.patch("v1", "nodes", "gpu-0", None, body)
    write(world, four=sliced(2, strategy="mps") if mps else sliced(2))
    start(world, PLUGIN, mig={"strategy": strategy})
    assert pod_annotations(world, PLUGIN)[CRASH] == "nvidia-device-plugin"
