# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make bench`: measures this collection and its peers in turns, in one run, on one machine.

`--quick` ends within a minute.

Writes the tables of README.md; the numbers of each part stay in .build/bench.json.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import typing as t

import bench_cluster
import report
from bench_cluster import Cluster
from measure import Report
from rows import enable, first_gpu, playbook, requests, scale, task

from openshift_sandbox import build
from playbooks import CHECKOUT, Surroundings

FOLDER: t.Final = CHECKOUT / ".sandbox-bench" / str(os.getpid())
ROUNDS: t.Final = 9
Rows = t.Callable[[Surroundings, Report, int], None]
# What is measured, and the cluster that it needs.
PARTS: t.Final[dict[str, tuple[Rows, Cluster]]] = {
    "requests": (requests.rows, bench_cluster.plain),
    "task": (task.rows, bench_cluster.plain),
    "playbook": (playbook.rows, bench_cluster.plain),
    "enable": (enable.rows, bench_cluster.whole),
    "first_gpu": (first_gpu.rows, bench_cluster.of_scenario(first_gpu.SCENARIO)),
    "scale": (scale.rows, bench_cluster.kubelets),
}
QUICK: t.Final = ("requests",)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="the parts that count rather than time, one round; nothing is written",
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="times that every contender has its turn")
    parser.add_argument(
        "--small",
        action="store_true",
        help="a trial of the harness: hundreds of nodes; nothing is written",
    )
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, help="some parts; the tables keep what was measured of the others"
    )
    arguments = parser.parse_args()
    build.build()
    # What was started is ended also when somebody loses patience.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("benchmarks: told to stop"))
    try:
        for part in arguments.only or (QUICK if arguments.quick else PARTS):
            with PARTS[part][1](FOLDER / part) as running:
                measured(part, Surroundings(FOLDER / "work" / part, running, arguments.small), arguments)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
    return 0


def measured(part: str, where: Surroundings, arguments: argparse.Namespace) -> None:
    rounds = 1 if arguments.quick else arguments.rounds
    load, found = os.getloadavg()[0], Report()
    say(f"{part}: {rounds} rounds, load {load:.1f}")
    PARTS[part][0](where, found, rounds)
    for row in found.rows:
        say(report.line(row))
    if not (arguments.quick or arguments.small):
        report.save(part, rounds, found, (load, os.getloadavg()[0]))


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
