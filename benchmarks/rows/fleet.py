# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of drift.yml over two hundred clusters, which one process simulates."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import typing as t
from pathlib import Path

from measure import Report, RunError

from playbooks import CHECKOUT, HERE, Surroundings

CLUSTERS: t.Final = 200
FEW: t.Final = 5
FORKS: t.Final = (10, 50)
# Machines and quotas: the simulated clusters have no catalogue of operators.
TAGS: t.Final = "gpu_node_pool,gpu_policy"


def fleet(where: Surroundings, report: Report, _rounds: int) -> None:
    """Measure one run at each number of forks."""
    count = FEW if where.small else CLUSTERS
    arguments = ("--tags", TAGS, "-e", f"@{CHECKOUT / 'examples/demo.yml'}", "-e", "gpu_clusters=all")
    playbook, samples = CHECKOUT / "playbooks/drift.yml", {}
    with simulated(where.directory, count) as ports:
        hosts = {f"cluster-{port}": _connection(port) for port in ports}
        where.inventory(*hosts, variables=hosts)
        for forks in FORKS:
            one = where.play(playbook, *arguments, "-e", "gpu_drift_fail=false", "--forks", str(forks))
            samples[forks] = one
            said = (
                f"fleet: {count} clusters, {forks} forks: {one.seconds:.0f} s, {one.cpu:.0f} s of processor"
            )
            print(said, file=sys.stderr, flush=True)
    for one in samples.values():
        if one.output.count("failed=0") != count or "rescued=1" in one.output:
            raise RunError(f"a cluster was not compared:\n{one.output[-3000:]}")
    requests = json.loads((where.directory / "requests").read_text())
    report.growth.append(
        {
            "name": "Two hundred simulated clusters in one run",
            "note": f"drift.yml --tags {TAGS}, one run at each number of forks; one process answers for all "
            "clusters from memory, on the same machine. MiB: the largest process of the run, which is "
            "ansible-playbook itself.",
            "points": [
                {
                    "forks": forks,
                    "clusters": count,
                    "seconds": round(one.seconds),
                    "seconds a cluster": round(one.seconds / count, 2),
                    "processor seconds a cluster": round(one.cpu / count, 2),
                    "MiB": round(one.rss),
                    "requests a cluster": round(sum(requests) / count / len(FORKS)),
                }
                for forks, one in samples.items()
            ],
        }
    )


def _connection(port: int) -> dict[str, t.Any]:
    return {"gpu_cluster_connection": {"host": f"http://127.0.0.1:{port}", "api_key": "x"}}


@contextlib.contextmanager
def simulated(folder: Path, count: int) -> t.Iterator[list[int]]:
    """Run that many API servers, and yield their ports."""
    path = os.pathsep.join(str(CHECKOUT / part) for part in ("tests", ".collections", "sandbox"))
    with subprocess.Popen(
        [sys.executable, HERE / "simulated.py", folder, str(count)],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stdout
        if not process.stdout.readline():
            raise RunError("the simulated clusters did not start")
        yield list(map(int, (folder / "ports").read_text().split()))
        process.stdin.close()
