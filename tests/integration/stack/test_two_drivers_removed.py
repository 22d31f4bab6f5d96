# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""examples/two-drivers.yml comes and goes: the removal does not wait for operands of a live ClusterPolicy."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from cluster import Cluster
from integration.playbook import ROOT, Playbook
from integration.wire import Audit

SCENARIO: t.Final = "aws"
pytestmark = pytest.mark.long("the whole chain: the unit tests of the backend dra have the decision")

EXAMPLE: t.Final = yaml.safe_load((ROOT / "examples/two-drivers.yml").read_text())
DRIVERS: t.Final = ("nvidia.com/v1alpha1", "nvidiadrivers")
POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies")


def test_two_drivers_are_enabled_and_removed(cluster: Cluster, playbook: Playbook, audit: Audit) -> None:
    cluster.needs_sandbox()
    made = playbook.playbook("enable_gpus", "--skip-tags gpu_validation", **EXAMPLE)
    assert made.rc == 0, made.output[-3000:]
    assert len(cluster.client.list(*DRIVERS)) == 2
    # A removal that waits for the operands of the ClusterPolicy ends with this timeout.
    timeouts = {"gpu_operator_wait_timeout": 120}
    removed = playbook.playbook("remove_gpus", **EXAMPLE, **timeouts)
    assert removed.rc == 0, removed.output[-3000:]
    assert cluster.client.list(*DRIVERS) == cluster.client.list(*POLICIES) == []
    assert cluster.client.get("v1", "namespaces", "nvidia-gpu-operator") is None
    again = playbook.playbook("remove_gpus", **EXAMPLE)
    assert (again.rc, audit.writes(*again.tasks)) == (0, [])
