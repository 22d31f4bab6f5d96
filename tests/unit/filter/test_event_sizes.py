"""The tables of the playbooks fit into an event of AWX, on a cluster of 500 nodes that all lack something."""

from __future__ import annotations

import json
import typing as t

from unit.pools.builders import Data, planned

from ansible_collections.accelerators.openshift.plugins.filter.gpu_table import table
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.report import report

NODES: t.Final = 500
EVENT: t.Final = 100 * 1024


def size(lines: t.Any) -> int:
    return len(json.dumps(lines))


def test_the_last_table_of_a_run() -> None:
    names = [f"ip-10-0-{number // 250}-{number % 250}.us-east-2.compute.internal" for number in range(NODES)]
    pools = [{"name": "training", "candidates": [{"instance_type": "p4d.24xlarge"}], "expected": {"g": 8}}]
    seen = [
        {
            "name": name,
            "pool": "training",
            "expected": {"g": 8},
            "allocatable": {"g": 7},
            "driver_version": "5",
        }
        for name in names
    ]
    quotas = [
        {"namespace": f"team-{number}", "name": "gpu-quota", "resources": {"g": {"used": "8", "hard": "8"}}}
        for number in range(NODES)
    ]
    lines = table(pools, {}, {"special_resource": {"nodes": seen}}, {}, {}, {"quotas": quotas})
    assert len(lines) > 2 * NODES
    assert size(lines) < EVENT


def test_the_table_of_a_plan_that_drains_every_node() -> None:
    removed: list[Data] = [
        {
            "machine": f"demo-x7k2p-training-us-east-2a-{number:05}",
            "machine_set": "demo-x7k2p-training-us-east-2a",
            "node": f"ip-10-0-{number // 250}-{number % 250}.us-east-2.compute.internal",
        }
        for number in range(NODES)
    ]
    foreseen = [
        {"action": "delete", "object": f"Machine x/{one['machine']}", "fields": []} for one in removed
    ]
    plan = planned()
    (pool, *_more) = plan["pools"]
    empty: Data = {"machine_sets": [], "machines": [], "nodes": []}
    nodes = {**empty, "pool": pool, "removed": removed, "foreseen": foreseen}
    told = report(plan, {"nodes": {"results": [nodes]}})
    assert len(told["drained"]) == NODES
    assert size(told["table"]) < EVENT
