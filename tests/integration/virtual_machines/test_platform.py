# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs for virtual machines without the GPU operator: OpenShift Virtualization offers them itself."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook
from integration.virtual_machines.builders import (
    QAT,
    SPACE,
    done,
    machine,
    node,
    permitted,
    play,
    pool,
    refused,
    runs,
    spec,
)
from integration.wire import Audit

pytestmark = [
    pytest.mark.story("KubeVirt's own device plugin gets the GPUs of some nodes, and gives them back"),
    pytest.mark.long("few clusters do this; the unit tests of special_resource hold its rules"),
]

SCENARIO: t.Final = "virtual-machines"
NAME: t.Final = "nvidia.com/T4"
PLATFORM: t.Final = {"provider": "platform", "device": "10de:1eb8", "resource": NAME}
POOLS: t.Final = [pool("passthrough", 8, workload="vm_passthrough", virtual_machines=PLATFORM)]


def test_the_platform_offers_devices_that_vfio_took_at_the_boot(cluster: Cluster, playbook: Playbook) -> None:
    done(play(playbook, "enable_gpus", POOLS))
    assert permitted(cluster) == {"8086:37C8": "intel.com/qat", "10DE:1EB8": NAME}
    assert node(cluster, "pass-0")["status"]["allocatable"][NAME] == "8"
    assert "nvidia.com/gpu.deploy.vfio-manager" not in node(cluster, "pass-0")["metadata"]["labels"]
    subscriptions = cluster.client.list("operators.coreos.com/v1alpha1", "subscriptions", SPACE)
    assert subscriptions == [], "nothing of the GPU operator would run on these nodes"
    machine(cluster, "trainer", NAME)
    runs(cluster, "trainer")


def test_a_second_run_writes_nothing(playbook: Playbook, audit: Audit) -> None:
    since = audit.position()
    done(play(playbook, "enable_gpus", POOLS))
    audit.flush()
    assert audit.written(since) == []


def test_a_removal_gives_everything_back(cluster: Cluster, playbook: Playbook) -> None:
    refused(play(playbook, "remove_gpus", POOLS), "REBOOT-BUSY")
    cluster.client.delete("kubevirt.io/v1", "virtualmachines", "trainer", "people")
    done(play(playbook, "remove_gpus", POOLS, gpu_on_busy="wait"))
    assert spec(cluster)["permittedHostDevices"] == {"pciHostDevices": [QAT]}
    assert "nvidia.com/gpu.deploy.operands" not in node(cluster, "pass-0")["metadata"]["labels"]
