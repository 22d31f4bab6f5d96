# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taints that a colleague puts on nodes."""

from __future__ import annotations

from unit.sandbox.gpu_operator.builders import make

from openshift_sandbox.stand_ins.people.taints import ForeignTaints


class TestForeignTaints:
    def test_a_taint_is_added_once(self) -> None:
        world = make(ForeignTaints(), troubles=[{"type": "node_taint", "key": "team", "value": "ml"}])
        world.settle(2)
        assert world.api.get("Node", "gpu-0")["spec"]["taints"] == [
            {"key": "team", "value": "ml", "effect": "NoSchedule"}
        ]
        assert world.api.writes.count(("patch", "Node", "gpu-0")) == 1
