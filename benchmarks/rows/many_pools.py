# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Row 11: enable_gpus.yml with forty pools and forty quotas, on a cluster that needs no change."""

from __future__ import annotations

import contextlib
import typing as t
from pathlib import Path

import bench_cluster
import measure
import yaml
from bench_cluster import BenchCluster
from measure import Report, Row, Sample

from playbooks import CHECKOUT, FEW_ROUNDS, Reruns, Surroundings, reruns

POOLS: t.Final = 40
SMALL: t.Final = 4
# A quota is read and proven by one dry run; what the steps ask once for all pools may be this many more.
OTHERS: t.Final = 60
LABEL: t.Final = "accelerators.openshift/pool"
ZONES: t.Final = ("us-east-2a", "us-east-2b", "us-east-2c")
Data = dict[str, t.Any]


def cluster(directory: Path) -> contextlib.AbstractContextManager[BenchCluster]:
    """Return the whole sandbox with a GPU node for each pool, which no machine set made."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    file = directory.with_name(f"{directory.name}-scenario.yml")
    file.write_text(yaml.safe_dump(scenario()))
    return bench_cluster.of_scenario(str(file))(directory)


def scenario() -> Data:
    nodes = [
        {
            "name": f"gpu-{number:02d}",
            "zone": ZONES[number % len(ZONES)],
            "instance_type": "g4dn.xlarge",
            "labels": {LABEL: _name(number)},
        }
        for number in range(POOLS)
    ]
    return {"extends": "aws", "description": f"{POOLS} nodes of as many pools", "cluster": {"nodes": nodes}}


def pools(count: int) -> list[Data]:
    """Return so many pools of one node each, and the quota of a team with each."""
    return [
        {
            "name": _name(number),
            "existing": {"node_selector": {LABEL: _name(number)}, "expected": {"nvidia.com/gpu": 1}},
            "quota": [{"namespace": f"team-{number:02d}", "gpus": 1}],
        }
        for number in range(count)
    ]


def _name(number: int) -> str:
    return f"pool-{number:02d}"


def rows(where: Surroundings, report: Report, rounds: int) -> None:
    running, count = where.cluster, SMALL if where.small else POOLS
    assert running
    playbook, file = CHECKOUT / "playbooks/enable_gpus.yml", where.directory / "pools.yml"
    file.write_text(yaml.safe_dump({"gpu_pools": pools(count)}))
    arguments = ("-e", f"@{file}")
    first = where.play(playbook, *arguments)
    report.rows += judged(count, first, reruns(where, running, min(rounds, FEW_ROUNDS), *arguments))


def judged(count: int, first: Sample, found: Reruns) -> list[Row]:
    """Return the rows; only the seconds depend on what else the machine does. first: the run before."""
    text, limit = f"{count} pools and {count} quotas, re-run of enable_gpus.yml", 2 * count + OTHERS
    ours = found.ours
    writes, requests = ([float(one.writes) for one in ours], [float(one.requests) for one in ours])
    changed = [one for one in ours if "changed=0 " not in one.output]
    note = f"the first run took {first.seconds:.0f} s; {found.above}"
    return [
        _row(f"{text}: writes", "requests", writes, "0, and changed=0", not any(writes) and not changed),
        _row(f"{text}: requests", "requests", requests, f"<= {limit}", max(requests) <= limit, found.asked),
        _row(f"{text}: whole", "s", measure.seconds(ours), "", None, note),
    ]


def _row(name: str, unit: str, numbers: list[float], target: str, met: bool | None, note: str = "") -> Row:
    return Row("11", name, unit, len(numbers), measure.values(numbers), {}, target, met, note=note)
