# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Row 2 too: the first run of enable_gpus.yml against what the cluster itself needs, on an empty cluster.

The scenario has delays in the proportions of a real cluster. What it dictates is computed from them alone.
"""

from __future__ import annotations

import re
import typing as t

import measure
import yaml
from measure import Report, Row

from openshift_sandbox import scenario
from openshift_sandbox.scenario import Scenario
from playbooks import CHECKOUT, Surroundings

Data = dict[str, t.Any]

SCENARIO: t.Final = "real-proportions"
POOLS: t.Final = CHECKOUT / "benchmarks/first-gpu.yml"
LIMIT: t.Final = 1.1
# Seconds of the same run while the playbook did one step after the other, measured once at a load of 12.
BEFORE: t.Final = 299.9


def rows(where: Surroundings, report: Report, _rounds: int) -> None:
    """Add the row. It has one round: each needs a cluster that has never had a GPU."""
    sample = where.play(CHECKOUT / "playbooks/enable_gpus.yml", "-e", f"@{POOLS}")
    pools = yaml.safe_load(POOLS.read_text())["gpu_pools"]
    dictated = critical_path(scenario.load(SCENARIO), pools)
    ratio = sample.seconds / dictated
    told = re.findall(r"seconds - ([^\n\"']+)", sample.output)
    report.rows.append(
        Row(
            metric="2",
            name="first run of enable_gpus.yml, machines of two pools after 40 and 80 s",
            unit="s",
            runs=1,
            ours=measure.values([sample.seconds]),
            peers={
                "the cluster's critical path": measure.values([dictated]),
                "one step after the other, as before": measure.values([BEFORE]),
            },
            target=f"<= {LIMIT} x the critical path",
            met=ratio <= LIMIT,
            ratio=ratio,
            note=f"{'; '.join(told)}; processor time of the run {sample.cpu:.1f} s",
        )
    )


def critical_path(found: Scenario, pools: t.Iterable[Data]) -> float:
    """Return the seconds that the scenario dictates from the request to the last validated GPU.

    Machines and operators come at the same time. A node's driver, its device plugin and its validation then
    follow one after the other. The start of pods, and what happens without a delay, counts as nothing.
    """
    machines = max(_machine(found, candidate) for pool in pools for candidate in pool["candidates"])
    stack = sum(found.delay(step) for step in ("gpu_driver", "device_plugin", "workload"))
    return max(machines, found.delay("operator_start")) + stack


def _machine(found: Scenario, candidate: Data) -> float:
    """Return the seconds from the request for a machine of this type to its node."""
    slow = found.trouble("slow_machines", instance_type=candidate["instance_type"]) or {}
    steps = [found.delay(step) for step in ("machine_provisioning", "node_joins")]
    return sum(step + float(slow.get("seconds", 0)) for step in steps)
