# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How cost grows with the number of pools, and with the number of clusters that one run looks after."""

from __future__ import annotations

import contextlib
import statistics
import typing as t
from dataclasses import replace
from pathlib import Path

import bench_cluster
import measure
import objects
from bench_cluster import BenchCluster
from measure import Report, Sample, Samples

from openshift_sandbox import audit
from playbooks import Surroundings

POOLS: t.Final = (1, 10, 100)
CLUSTERS: t.Final = (1, 4, 8)
SMALL: t.Final = (1, 2)
CONFIG_MAPS: t.Final = 12
# A run of a hundred pools takes seconds, and one of eight clusters as well; what grows is seen in few.
FEW: t.Final = 3

Data = dict[str, t.Any]


def pools(where: Surroundings, report: Report, rounds: int) -> None:
    """Measure the plan of all pools, offline, and the MachineSets of all pools, which a task leaves alone."""
    counts = SMALL if where.small else POOLS
    plays = {"0": where.write("pools-0", [])}
    for count in counts:
        entries = [pool(number) for number in range(count)]
        plays[f"plan {count}"] = where.write(
            f"pools-plan-{count}",
            [{"accelerators.openshift.gpu_plan": {"pools": entries, "platform": "aws"}}],
        )
        plays[f"sets {count}"] = where.write(
            f"pools-sets-{count}",
            [{"accelerators.openshift.gpu_machineset": _machine_sets(), "loop": entries}],
        )
    where.play(plays[f"sets {counts[-1]}"])
    samples = measure.interleave(
        {name: measure.same_each_turn(where.play, path) for name, path in plays.items()}, min(rounds, FEW)
    )
    base = samples["0"]
    report.growth += [
        {
            "name": "Pools in one gpu_plan, offline",
            "note": "Above an empty playbook.",
            "points": [{"pools": count, **measure.above(samples[f"plan {count}"], base)} for count in counts],
        },
        {
            "name": "Pools whose machine sets are kept",
            "note": "gpu_machineset in a loop, two zones a pool, nothing to do, not waiting; "
            f"{counts[-1]} pools are there. Above an empty playbook.",
            "points": [
                {
                    "pools": count,
                    **measure.above(samples[f"sets {count}"], base),
                    **_asked(samples[f"sets {count}"]),
                }
                for count in counts
            ],
        },
    ]


def pool(number: int) -> Data:
    candidates = [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a", "us-east-2b"]}]
    taint = {"key": "nvidia.com/gpu", "value": f"pool-{number}", "effect": "NoSchedule"}
    return {
        "name": f"pool-{number}",
        "candidates": candidates,
        "replicas": 2,
        "taints": [taint],
        "labels": {"team": f"team-{number}"},
    }


def _machine_sets() -> Data:
    return {**{option: f"{{{{ item.{option} }}}}" for option in pool(0)}, "wait": False}


def clusters(where: Surroundings, report: Report, rounds: int) -> None:
    """Twelve ConfigMaps in one task on each cluster, unchanged; etcd and an API server for every host."""
    counts = SMALL if where.small else CLUSTERS
    with contextlib.ExitStack() as stack:
        folder, names = where.directory.parents[1], [f"cluster-{number}" for number in range(max(counts))]
        running = {name: stack.enter_context(bench_cluster.bare(folder / name)) for name in names}
        where.inventory(
            *names, variables={name: {"kubeconfig": str(one.kubeconfig)} for name, one in running.items()}
        )
        plays = _cluster_plays(where)
        samples = measure.interleave(
            {
                f"{name} {count}": _on_the_first(count, running, where, path)
                for count in counts
                for name, path in plays.items()
            },
            min(rounds, FEW),
        )
    note = (
        "Twelve unchanged ConfigMaps in one task on each host, as many forks as hosts; "
        "above an empty playbook of the same hosts. MiB: the largest process."
    )
    points = [_cluster_point(count, samples) for count in counts]
    report.growth.append({"name": "Clusters in one run", "note": note, "points": points})


def _cluster_plays(where: Surroundings) -> dict[str, Path]:
    """Write the playbooks that run on every cluster: an empty one, ours and the peer's."""
    maps = [objects.config_map(f"map-{number}") for number in range(CONFIG_MAPS)]
    tasks = {
        "ours": ("accelerators.openshift.manifests", {"objects": maps}),
        "kubernetes.core": ("kubernetes.core.k8s", {"definition": maps}),
    }
    return {"base": where.write("clusters-base", [])} | {
        name: where.write(f"clusters-{name}", [{module: {**options, "kubeconfig": "{{ kubeconfig }}"}}])
        for name, (module, options) in tasks.items()
    }


def _on_the_first(
    count: int, running: t.Mapping[str, BenchCluster], where: Surroundings, path: Path
) -> measure.Contender:
    """Return a contender that runs a playbook on some of the clusters and counts the requests of all."""

    def act(_turn: int) -> Sample:
        marks = {name: one.mark() for name, one in running.items()}
        sample = where.play(path, "--forks", str(count), "--limit", ",".join(list(running)[:count]))
        sent = [request for name, one in running.items() for request in one.requests(marks[name])]
        return replace(sample, requests=len(sent), writes=len(audit.writes(sent)))

    return act


def _cluster_point(count: int, samples: Samples) -> Data:
    point: Data = {"clusters": count}
    for name, prefix in (("ours", ""), ("kubernetes.core", "kubernetes.core: ")):
        some = samples[f"{name} {count}"]
        found = {**measure.above(some, samples[f"base {count}"]), **_asked(some)}
        point |= {f"{prefix}{key}": value for key, value in found.items()}
    return point


def _asked(samples: t.Sequence[Sample]) -> Data:
    return {
        "requests": round(statistics.median(one.requests for one in samples)),
        "writes": max(one.writes for one in samples),
    }
