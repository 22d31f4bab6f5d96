# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts of bare metal: which match, and which of them are free."""

from __future__ import annotations

import pytest
from unit.machines.builders import Data

from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import hosts


class TestHosts:
    def test_who_is_free(self) -> None:
        there = [
            self.host("free"),
            self.host("taken", spec={"consumerRef": {"name": "m-1"}}),
            self.host("outside", spec={"externallyProvisioned": True}),
            self.host(
                "broken",
                status={
                    "errorType": "inspection error",
                    "errorMessage": "time\nout",
                    "provisioning": {"state": "inspecting"},
                },
            ),
            self.host("soon", status={"provisioning": {"state": "deprovisioning"}}),
            self.host("new", status={}),
            self.host("other", labels={"gpu": "t4"}),
        ]
        supply = hosts.supply_of(there, {"matchLabels": {"gpu": "h100"}})
        assert (supply.matching, supply.free, supply.coming) == (6, 1, 2)
        assert (
            supply.summary({"matchLabels": {"gpu": "h100"}})
            == "1 of 6 hosts that match gpu=h100 are free, 2 soon"
        )
        assert supply.lines == (
            "host broken: inspection error: time out",
            "host new: registering",
            "host outside: provisioned outside this cluster",
            "host soon: deprovisioning",
            "host taken: taken by m-1",
        )

    @pytest.mark.parametrize(
        ("expression", "matches"),
        [
            ({"key": "gpu", "operator": "in", "values": ["h100", "h200"]}, True),
            ({"key": "gpu", "operator": "notin", "values": ["h100"]}, False),
            ({"key": "gpu", "operator": "exists"}, True),
            ({"key": "gpu", "operator": "!"}, False),
            ({"key": "rack", "operator": "!"}, True),
        ],
    )
    def test_expressions(self, expression: Data, matches: bool) -> None:
        assert hosts.selects({"matchExpressions": [expression]}, self.host("a")) is matches

    @staticmethod
    def host(
        name: str, labels: Data | None = None, spec: Data | None = None, status: Data | None = None
    ) -> Data:
        state = {"provisioning": {"state": "available"}} if status is None else status
        return {
            "metadata": {"name": name, "labels": labels or {"gpu": "h100"}},
            "spec": spec or {},
            "status": state,
        }
