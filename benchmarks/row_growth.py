# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How cost grows with pools (offline) and with clusters in one run (inventory hosts, an API server each)."""

from __future__ import annotations

import contextlib
import statistics
import typing as t

import bench_cluster
import measure
import objects
from measure import Report

from openshift_sandbox import audit
from playbooks import Surroundings

POOLS: t.Final = (1, 10, 100)
CLUSTERS: t.Final = (1, 4, 8)
CONFIG_MAPS: t.Final = 12


def pools(where: Surroundings, report: Report, rounds: int) -> None:
    """gpu_plan: everything about the pools is checked and worked out, and no cluster is asked."""

    def plan(count: int) -> measure.Contender:
        path = where.write(f"pools-{count}", [{"accelerators.openshift.gpu_plan": {"pools": [pool(number) for number in range(count)], "platform": "aws"}}])
        return lambda _turn: where.play(path)

    empty = where.write("pools-0", [])
    samples = measure.interleave({"0": lambda _turn: where.play(empty), **{str(count): plan(count) for count in POOLS}}, rounds)
    points = [{"pools": count, **_above(samples[str(count)], samples["0"])} for count in POOLS]
    report.growth.append({"name": "Pools in one gpu_plan, offline", "note": "Above an empty playbook.", "points": points})


def pool(number: int) -> dict[str, t.Any]:
    candidates = [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a", "us-east-2b"]}]
    taint = {"key": "nvidia.com/gpu", "value": f"pool-{number}", "effect": "NoSchedule"}
    return {"name": f"pool-{number}", "candidates": candidates, "replicas": 2, "taints": [taint], "labels": {"team": f"team-{number}"}}


def clusters(where: Surroundings, report: Report, rounds: int) -> None:
    """Twelve ConfigMaps in one task on each cluster, unchanged; etcd and an API server for every host."""
    with contextlib.ExitStack() as stack:
        folder, names = where.directory.parents[1], [f"cluster-{number}" for number in range(max(CLUSTERS))]
        running = {name: stack.enter_context(bench_cluster.plain(folder / name, with_crds=False)) for name in names}
        where.inventory(*names, variables={name: {"kubeconfig": str(one.kubeconfig)} for name, one in running.items()})
        maps = [objects.config_map(f"map-{number}") for number in range(CONFIG_MAPS)]
        tasks = {"ours": {"accelerators.openshift.manifests": {"objects": maps}}, "kubernetes.core": {"kubernetes.core.k8s": {"definition": maps}}}
        plays = {}
        for name, (module, options) in ((name, next(iter(task.items()))) for name, task in tasks.items()):
            plays[name] = where.write(f"clusters-{name}", [{module: {**options, "kubeconfig": "{{ kubeconfig }}"}}])
        empty = where.write("clusters-empty", [])
        contenders = {
            f"{name} {count}": lambda _turn, path=path, count=count: where.play(path, "--forks", str(count), "--limit", ",".join(names[:count]))
            for count in CLUSTERS
            for name, path in {"base": empty, **plays}.items()
        }
        samples = measure.interleave(contenders, rounds)
        marks = {name: one.mark() for name, one in running.items()}
        where.play(plays["ours"], "--forks", "8")
        asked = [audit.writes(one.requests(marks[name])) for name, one in running.items()]
    points = []
    for count in CLUSTERS:
        base = samples[f"base {count}"]
        theirs = {f"kubernetes.core: {key}": value for key, value in _above(samples[f"kubernetes.core {count}"], base).items()}
        points.append({"clusters": count, **_above(samples[f"ours {count}"], base), **theirs})
    note = f"Twelve unchanged ConfigMaps in one task on each host, as many forks as hosts; above an empty playbook. Writes by ours: {sum(map(len, asked))}."
    report.growth.append({"name": "Clusters in one run", "note": note, "points": points})


def _above(samples: list[measure.Sample], base: list[measure.Sample]) -> dict[str, t.Any]:
    return {
        "s": round(statistics.median(measure.over(samples, base)), 2),
        "processor s": round(statistics.median(one.cpu - zero.cpu for one, zero in zip(samples, base, strict=True)), 2),
        "MiB": round(statistics.median(one.rss for one in samples) - statistics.median(one.rss for one in base)),
    }
