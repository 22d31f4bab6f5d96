# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A zone whose first worker set by name makes Windows machines: the pool copies the Linux set."""

from __future__ import annotations

import typing as t

import pytest
from cluster import must_get
from integration.platforms.pools import API, NAMESPACE, Pools

SCENARIO: t.Final = "windows-workers"
WINDOWS: t.Final = "demo-x7k2p-windows-worker-us-east-2a"
pytestmark = pytest.mark.long("few clusters have Windows workers, and unit tests hold the choice of the set")


def test_a_set_of_windows_machines_is_not_copied(pools: Pools) -> None:
    mine = {
        "name": "t4",
        "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
        "replicas": 1,
    }
    done = pools.ensure(mine)
    (warning,) = done.result["warnings"]
    assert f"Not taken: {WINDOWS} makes Windows machines" in warning
    made = must_get(pools.client, API, "machinesets", "demo-x7k2p-t4-us-east-2a", NAMESPACE)
    value = made["spec"]["template"]["spec"]["providerSpec"]["value"]
    assert value["userDataSecret"] == {"name": "worker-user-data"}
    assert pools.unchanged(mine)
