# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machine sets that mirror a set of Cluster API: the module copies from them and never writes to them."""

from __future__ import annotations

import functools
import typing as t

import pytest
from cluster import must_get
from integration.patience import until
from integration.platforms.pools import API, NAMESPACE, Data, Pools

pytestmark = pytest.mark.long("few clusters mirror machine sets; unit tests hold who writes which")

SCENARIO: t.Final = "mirrored-machine-set"
MIRROR: t.Final = "demo-x7k2p-worker-us-east-2b"


def pool(name: str, zone: str) -> Data:
    return {"name": name, "candidates": [{"instance_type": "g4dn.xlarge", "zones": [zone]}], "replicas": 1}


def test_a_mirror_is_not_written(pools: Pools) -> None:
    refused = pools.attempt(pool("t4", "us-east-2a"))
    assert (refused["code"], pools.audit.writes(refused)) == ("MACH-MIRRORED", [])


def test_a_mirror_is_copied_from(pools: Pools) -> None:
    mirror = must_get(pools.client, API, "machinesets", MIRROR, NAMESPACE)
    assert mirror["spec"]["authoritativeAPI"] == "ClusterAPI"
    mine = pool("other", "us-east-2b")
    pools.ensure(mine)
    made = must_get(pools.client, API, "machinesets", "demo-x7k2p-other-us-east-2b", NAMESPACE)
    assert made["spec"]["authoritativeAPI"] == "MachineAPI"
    assert pools.sets(mine)["us-east-2b"]["subnet"] == pools.worker("us-east-2b")["subnet"]
    assert pools.unchanged(mine)
    pools.remove(mine)


def test_a_machine_that_is_a_mirror_is_not_written_either(pools: Pools) -> None:
    """Migrate one Machine of a pool: only a task that must write to that Machine fails."""
    mine = pool("own", "us-east-2c")
    (machine,) = [pools.ensure(mine)["machines"][0]["name"]]
    migrate(pools, machine, "ClusterAPI")
    try:
        assert pools.unchanged(mine)
        for change, more in (
            (({"labels": {"team": "ml"}}), {}),
            ({"replicas": 0}, {}),
            ({"disk": {"size_gib": 200}}, {"on_change": "replace"}),
        ):
            refused = pools.attempt({**mine, **change}, **more)
            assert (refused["code"], pools.audit.writes(refused)) == ("MACH-MIRRORED", []), refused.result
            assert machine in refused["msg"]
        replaced = pools.playbook.module("gpu_node", name=machine, state="replaced")
        assert (replaced["code"], pools.audit.writes(replaced)) == ("MACH-MIRRORED", [])
    finally:
        migrate(pools, machine, "MachineAPI")
    pools.remove(mine)


def migrate(pools: Pools, machine: str, to: str) -> None:
    """Migrate a Machine and write its status, since the sandbox has no migration controller."""
    pools.client.patch(API, "machines", machine, NAMESPACE, {"spec": {"authoritativeAPI": to}})
    for state in ("Migrating", to):
        pools.client.patch(
            API, "machines", machine, NAMESPACE, {"status": {"authoritativeAPI": state}}, "status"
        )
        until(functools.partial(is_seen, pools, machine, state), f"a controller that has seen {state}")


def is_seen(pools: Pools, machine: str, state: str) -> bool:
    status = (pools.client.get(API, "machines", machine, NAMESPACE) or {})["status"]
    return status["authoritativeAPI"] == state and any(
        f"'{state}'" in one.get("message", "") for one in status["conditions"] if one["type"] == "Paused"
    )
