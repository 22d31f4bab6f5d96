# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Row 10: forty quotas on 5,000 nodes: what a run that changes nothing asks, takes and prints."""

from __future__ import annotations

import contextlib
import threading
import typing as t
from pathlib import Path

import fleet
import measure
import objects
import yaml
from bench_cluster import BenchCluster
from measure import Report, Row, Sample

from playbooks import CHECKOUT, FEW_ROUNDS, Reruns, Surroundings, reruns

NODES: t.Final = 5000
# The installer has nodes of lower numbers.
FIRST: t.Final = 500
SMALL: t.Final = 200
QUOTAS: t.Final = 40
# A quota is read and proven by one dry run; all quotas together may need this many requests more.
OTHERS: t.Final = 10
COUNTED_EVERY: t.Final = 0.2
Data = dict[str, t.Any]


def rows(where: Surroundings, report: Report, rounds: int) -> None:
    cluster = where.cluster
    assert cluster
    nodes = SMALL if where.small else NODES
    fleet.create(cluster, range(FIRST, FIRST + nodes))
    playbook, pools = CHECKOUT / "playbooks/enable_gpus.yml", _pools(where.directory / "pools.yml")
    arguments = ("-e", f"@{pools}", "--tags", "gpu_policy")
    with counted(cluster):
        where.play(playbook, *arguments)
    found = reruns(where, cluster, min(rounds, FEW_ROUNDS), *arguments)
    report.rows += judged(f"{QUOTAS} quotas on {nodes:,} nodes, re-run", found)


def judged(text: str, found: Reruns) -> list[Row]:
    """Return the rows; requests and lines do not depend on what else the machine does."""
    limit, ours = 2 * QUOTAS + OTHERS, found.ours
    requests, lines = ([float(one.requests) for one in ours], [float(_lines(one)) for one in ours])
    return [
        _row(f"{text}: requests", "requests", requests, f"<= {limit}", max(requests) <= limit, found.asked),
        _row(f"{text}: lines printed", "lines", lines, f"<= {limit}", max(lines) <= limit),
        _row(f"{text}: whole", "s", measure.seconds(ours), "", None, found.above),
    ]


def _row(name: str, unit: str, numbers: list[float], target: str, met: bool | None, note: str = "") -> Row:
    return Row("10", name, unit, len(numbers), measure.values(numbers), {}, target, met, note=note)


def _lines(one: Sample) -> int:
    return sum(1 for line in one.output.splitlines() if line.strip())


def _pools(path: Path) -> Path:
    """Write a file with one pool of the nodes with GPUs, and the quotas of forty teams."""
    quotas = [{"namespace": f"team-{number:02d}", "gpus": 4} for number in range(QUOTAS)]
    existing = {"node_selector": {objects.GPU_LABEL: "true"}, "expected": {"nvidia.com/gpu": 1}}
    path.write_text(yaml.safe_dump({"gpu_pools": [{"name": "t4", "existing": existing, "quota": quotas}]}))
    return path


@contextlib.contextmanager
def counted(cluster: BenchCluster) -> t.Iterator[None]:
    """Do what controllers would do meanwhile: count the quotas, and give namespaces their account."""
    ended = threading.Event()

    def work() -> None:
        client = cluster.sandbox.client("benchmark-controllers")
        while not ended.wait(COUNTED_EVERY):
            for quota in client.list("v1", "resourcequotas"):
                if not (quota.get("status") or {}).get("hard"):
                    _count(client, quota)
            have = {one["metadata"]["namespace"] for one in client.list("v1", "serviceaccounts")}
            for space in client.list("v1", "namespaces"):
                if (name := space["metadata"]["name"]).startswith("team-") and name not in have:
                    metadata = {"name": "default", "namespace": name}
                    client.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _count(client: t.Any, quota: Data) -> None:
    hard, metadata = quota["spec"]["hard"], quota["metadata"]
    status = {"hard": hard, "used": dict.fromkeys(hard, "0")}
    place = ("v1", "resourcequotas", metadata["name"], metadata["namespace"])
    client.patch(*place, {"status": status}, "status")
