# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machine sets that mirror one of Cluster API: copied from, never written."""

from __future__ import annotations

import typing as t

from integration.platforms.pools import API, NAMESPACE, Data, Pools

SCENARIO: t.Final = "mirrored-machine-set"
MIRROR: t.Final = "demo-x7k2p-worker-us-east-2b"


def pool(name: str, zone: str) -> Data:
    return {"name": name, "candidates": [{"instance_type": "g4dn.xlarge", "zones": [zone]}], "replicas": 1}


def test_a_mirror_is_not_written(pools: Pools) -> None:
    refused = pools.attempt(pool("t4", "us-east-2a"))
    assert (refused["code"], pools.audit.writes(refused)) == ("MACH-MIRRORED", [])


def test_a_mirror_is_copied_from(pools: Pools) -> None:
    mirror = pools.client.get(API, "machinesets", MIRROR, NAMESPACE)
    assert mirror["spec"]["authoritativeAPI"] == "ClusterAPI"
    mine = pool("other", "us-east-2b")
    pools.ensure(mine)
    made = pools.client.get(API, "machinesets", "demo-x7k2p-other-us-east-2b", NAMESPACE)
    assert made["spec"]["authoritativeAPI"] == "MachineAPI"
    assert pools.sets(mine)["us-east-2b"]["subnet"] == pools.worker("us-east-2b")["subnet"]
    assert pools.unchanged(mine)
    pools.remove(mine)
