# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The privileged pod and its guard, hosts that can be rebooted, and the judge of a reboot."""

from __future__ import annotations

import subprocess
import typing as t
from pathlib import Path

import pytest
from unit.engine import FakeClock
from unit.repair.node_in_memory import PLUGIN, host, node, pod

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain
from ansible_collections.accelerators.openshift.plugins.module_utils._repair import reboot

BACK: t.Final = {"nodeInfo": {"bootID": "boot-2"}}


def script(tmp_path: Path, boot: str) -> list[str]:
    """Run the pod's script for a node with this boot id; return the commands that it would give the host."""
    made = node()
    made["metadata"]["uid"] = "u"
    text = str(reboot.pod(made, "i")["spec"]["containers"][0]["command"][2])
    (tmp_path / "boot_id").write_text(f"{boot}\n")
    said = text.replace("/proc/sys/kernel/random/boot_id", str(tmp_path / "boot_id"))
    said = said.replace("exec chroot", "echo chroot")
    done = subprocess.run(["/bin/sh", "-c", said], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_the_pod_reboots_the_boot_that_it_was_made_for_and_no_other(tmp_path: Path) -> None:
    assert script(tmp_path, "boot-1") == ["chroot /host systemctl reboot"]
    assert script(tmp_path, "boot-2") == []


def test_a_drain_takes_the_pod_for_one_with_a_controller() -> None:
    made = node()
    made["metadata"]["uid"] = "u"
    found = reboot.pod(made, "i")
    assert drain.controller(found) is not None
    assert not drain.uses_devices(found)


@pytest.mark.parametrize(
    ("found", "can"),
    [(None, False), (host(), True), (host("externally provisioned"), True), (host("available"), False)],
)
def test_a_provisioned_host_can_be_rebooted(found: KubeObject | None, can: bool) -> None:
    assert reboot.is_rebootable(found) is can


def test_a_detached_host_cannot() -> None:
    found = host()
    found["status"]["operationalStatus"] = "detached"
    assert not reboot.is_rebootable(found)


def test_the_image_is_that_of_the_nodes_machine_config_daemon() -> None:
    daemon = pod("machine-config-daemon-x")
    daemon["metadata"] |= {
        "namespace": reboot.DAEMON_NAMESPACE,
        "labels": {"k8s-app": "machine-config-daemon"},
    }
    assert reboot.daemon_image([pod("train-0"), daemon]) == "i"
    assert reboot.daemon_image([pod("train-0")]) == ""


@pytest.mark.parametrize(
    ("nodes", "pods", "code"),
    [
        ([], [], "REPAIR-BOOT"),
        ([node()], [], "REPAIR-BOOT"),
        ([node(**BACK, conditions=[])], [], "REPAIR-BOOT"),
        ([node(**BACK)], [], "REPAIR-STACK"),
        ([node(**BACK)], [pod(PLUGIN)], "REPAIR-STAYS"),
        ([node(**BACK, allocatable={"nvidia.com/gpu": "8"})], [pod(PLUGIN)], ""),
    ],
)
def test_each_state_of_a_reboot_has_its_code(
    nodes: list[KubeObject], pods: list[KubeObject], code: str
) -> None:
    clock = FakeClock()
    judge = reboot.Back("gpu-0", "boot-1", {"nvidia.com/gpu": 8}, False, Grace(clock, 60, (reboot.STAYS,)))
    first = judge({"nodes": nodes, "pods": pods})
    assert (first.code, first.is_ready, first.is_failed) == (code, code == "", False)
    clock.seconds += 60
    assert judge({"nodes": nodes, "pods": pods}).is_failed is (code == "REPAIR-STAYS")
