# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A MIG mode that changes only with a reboot: rolled back, and changed where the user lets nodes reboot."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.playbook import Playbook, Run
from integration.sharing.mig_pool import HALVES, node, offers, play, pool
from integration.wire import Audit

pytestmark = [
    pytest.mark.story("whole GPUs, then partitions after a reboot"),
    pytest.mark.long("the chain four times: the unit tests of gpu_repartition hold each of its steps"),
]

Data = dict[str, t.Any]
SCENARIO: t.Final = "mig-mode-pending"
NODE: t.Final = "a100-0"
CONFIG: t.Final = "nvidia.com/mig.config"


def pools(train: Data | None = None) -> list[Data]:
    return [pool("train", "training", 8, train), pool("infer", "inference", 1)]


def done(run: Run) -> None:
    assert run.rc == 0, run.output[-4000:]


def boot(cluster: Cluster) -> str:
    return str(node(cluster, NODE)["status"]["nodeInfo"]["bootID"])


def test_the_nodes_have_whole_gpus(cluster: Cluster, playbook: Playbook) -> None:
    done(play(playbook, "enable_gpus", pools()))
    assert offers(cluster, NODE) == {"nvidia.com/gpu": "8"}


def test_a_mode_that_waits_for_a_reboot_is_rolled_back(cluster: Cluster, playbook: Playbook) -> None:
    before = boot(cluster)
    run = play(playbook, "repartition", pools(HALVES))
    assert run.failure["code"] == "GPU-MIG-REBOOT", run.output[-3000:]
    assert "gpu_mig_reboot: true" in run.failure["remedy"]
    live = node(cluster, NODE)
    assert (boot(cluster), offers(cluster, NODE)) == (before, {"nvidia.com/gpu": "8"})
    assert not live["spec"].get("unschedulable")
    assert CONFIG not in live["metadata"]["labels"]


def test_the_way_that_is_chosen_reboots_the_empty_node(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    before = boot(cluster)
    done(play(playbook, "repartition", pools(HALVES), gpu_mig_reboot=True))
    assert boot(cluster) != before
    assert offers(cluster, NODE) == {"nvidia.com/mig-3g.20gb": "16"}
    assert not node(cluster, NODE)["spec"].get("unschedulable")
    since = audit.position()
    assert play(playbook, "repartition", pools(HALVES), gpu_mig_reboot=True).changed == 0
    audit.flush()
    assert audit.written(since) == []
