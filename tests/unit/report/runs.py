# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Made-up results of a run, and the report that comes of them."""

from __future__ import annotations

import datetime
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._report import model

Data = dict[str, t.Any]

START: t.Final = datetime.datetime(2026, 11, 28, 10, 0, tzinfo=datetime.UTC)
NODE_STAGES: t.Final = (
    *("nfd labels", "driver", "toolkit", "device plugin", "validator", "metrics", "allocatable"),
)
CRASH: t.Final = "driver is in CrashLoopBackOff (pod nvidia-driver-daemonset-y)"


def stamp(seconds: float) -> str:
    return (START + datetime.timedelta(seconds=seconds)).isoformat(timespec="milliseconds")


def empty(check_mode: bool = False) -> Data:
    run = {"id": "0123456789abcdef", "cluster": "east", "job": "", "check_mode": check_mode}
    return model.new({**run, "started": stamp(0)}, "1.0.0")


def task(module: str, seconds: float = 0, took: float = 1, **more: t.Any) -> Data:
    """Return a task as the report has it before it runs, with the time when it ends."""
    texts = dict.fromkeys(("code", "layer", "message", "remedy"), "")
    return {
        "task": f"Run {module}",
        "module": module,
        "role": "",
        "object": "",
        "playbook": "enable_gpus",
        "check_mode": False,
        "rescued": False,
        "started": stamp(seconds),
        "ended": stamp(seconds + took),
        "seconds": float(took),
        "state": model.RUNNING,
        **texts,
        "evidence": [],
        "warnings": [],
        "result": {},
        **more,
    }


def after(report: Data, module: str, result: Data, **more: t.Any) -> Data:
    """Return the report with one more task that has ended with this result."""
    mine = task(module, **more)
    report = model.begun(report, {**mine, "ended": "", "seconds": 0.0})
    return model.ended(report, mine, result, result)


def stack(
    nodes: t.Sequence[Data], late: t.Mapping[str, t.Sequence[Data]] | None = None, **more: t.Any
) -> Data:
    """Return a result of special_resource. late: stage -> the nodes that are not ready."""
    stages: list[Data] = [
        {"name": name, "verdict": "ready", "since": "", "evidence": []} for name in ("csv", "crd")
    ]
    for name in NODE_STAGES:
        mine = list((late or {}).get(name) or [])
        verdict = mine[0]["verdict"] if mine else "ready"
        stages.append({"name": name, "verdict": verdict, "evidence": [], "nodes": mine, "of": len(nodes)})
    facts = {"backend": "clusterpolicy", "name": "gpu-cluster-policy", "state": "ready", "pools": []}
    return {"changed": False, "special_resource": {**facts, "stages": stages, "nodes": list(nodes), **more}}


def node(name: str, pool: str = "training", gpus: int = 8) -> Data:
    amount = {"nvidia.com/gpu": gpus}
    more = {"driver_version": "595.91.07", "product": "NVIDIA-H100-80GB-HBM3"}
    return {"name": name, "pool": pool, "expected": amount, "allocatable": amount, **more}


def figure(value: float, **more: t.Any) -> Data:
    facts = {"name": "bf16", "unit": "TFLOPS", "device": "GPU-0", "expected": 635.6, "source": "table"}
    return {**facts, "value": value, "baseline": 640.1, "peers": None, "code": "", **more}


def program(value: float, outcome: str = "passed", name: str = "matmul", **more: t.Any) -> Data:
    texts = dict.fromkeys(("reason", "message", "code"), "")
    return {"program": name, "outcome": outcome, **texts, "figures": [figure(value)], **more}


def validated(name: str, gpus: int = 8, pool: str = "training", **more: t.Any) -> Data:
    facts = {"name": name, "pool": pool, "ran": True, "validated": gpus, "busy": "", "pods": []}
    return {**facts, "resources": {"nvidia.com/gpu": gpus}, "driver_version": "595.91.07", **more}


# Name, GPUs of a node, instance type, zone, figure and its expectation, of three pools.
_POOLS: t.Final = (
    ("training", 8, "p5.48xlarge", "us-east-2a", "bf16", 635.0),
    ("inference", 4, "g6.12xlarge", "us-east-2b", "bf16", 98.0),
    ("notebooks", 1, "g4dn.xlarge", "us-east-2b", "fp32", 6.1),
)
REMEDY: t.Final = "oc logs -n nvidia-gpu-operator nvidia-driver-daemonset-y -c nvidia-driver-ctr --previous"


def big(size: int) -> Data:
    """Return the report of a run on so many nodes: one driver crashes, one GPU is slow, one node is busy."""
    shares = (size * 5 // 10, size * 3 // 10)
    sizes = dict(zip((pool[0] for pool in _POOLS), (*shares, size - sum(shares)), strict=True))
    names = {
        pool: [
            f"ip-10-{at // 250}-{at % 250}-{ord(pool[0])}.us-east-2.compute.internal" for at in range(number)
        ]
        for pool, number in sizes.items()
    }
    plan = [
        {
            "name": pool,
            "candidates": [{"instance_type": kind, "zones": list(dict.fromkeys((zone, "us-east-2b")))}],
            "replicas": sizes[pool],
            "expected": {"nvidia.com/gpu": gpus},
            "validate": {"benchmark": "matmul"},
        }
        for pool, gpus, kind, zone, _figure, _expected in _POOLS
    ]
    report, at = after(empty(), "gpu_plan", {"plan": {"pools": plan}}, took=0.3), 1
    for pool, gpus, kind, zone, _figure, _expected in _POOLS:
        facts = {"zone": zone, "instance_type": kind, "ready": True, "expected": {"nvidia.com/gpu": gpus}}
        made = {"changed": True, "nodes": [{"name": name, **facts} for name in names[pool]]}
        named = {
            "object": pool,
            "role": "gpu_node_pool",
            "task": "present | Wait until every machine is a ready node",
        }
        report, at = after(report, "gpu_machineset", made, seconds=at, took=70, **named), at + 71
    report = _with_crash(report, names, at)
    return _with_figures(report, names, at + 121)


def _with_crash(report: Data, names: dict[str, list[str]], at: int) -> Data:
    bad = names["training"][1:2]
    nodes = [node(name, pool, gpus) for pool, gpus, *_rest in _POOLS for name in names[pool]]
    nodes = [
        {**entry, "allocatable": {"nvidia.com/gpu": 0}} if entry["name"] in bad else entry for entry in nodes
    ]
    late = {
        stage: [
            {
                "pool": "training",
                "node": host,
                "verdict": "failed" if stage == "driver" else "waiting",
                "evidence": [CRASH],
            }
            for host in bad
        ]
        for stage in NODE_STAGES[1:]
    }
    failure = {
        "code": "GPU-DRV-CRASH",
        "message": f"Node {''.join(bad)}: {CRASH}: modprobe: ERROR: could not insert nvidia: No such device",
        "remedy": REMEDY,
    }
    pools = [{"name": "training", "ready": False, **failure}]
    result = stack(nodes, late, driver_version="595.91.07", state="notReady", pools=pools)
    evidence = {
        "evidence": ["NVRM: GPU 0000:1b:00.0 has fallen off the bus"],
        "warnings": ["No certificate is checked."],
    }
    named = {"role": "gpu_operator", "task": "present | Bring the GPU stack to every node of the pools"}
    return after(
        report,
        "special_resource",
        {**result, **failure, **evidence, "failed": True},
        seconds=at,
        took=120,
        **named,
    )


def _with_figures(report: Data, names: dict[str, list[str]], at: int) -> Data:
    found = []
    for pool, gpus, _kind, _zone, name, expected in _POOLS:
        for number, host in enumerate(names[pool]):
            if (pool, number) == ("training", 1):
                continue
            is_slow, is_busy = (pool, number) == ("training", 3), (pool, number) == ("training", 5)
            # Figures between 97 and 105 percent, without a random number.
            values = [expected * (0.97 + (number * 37 + gpu * 11) % 80 / 1000) for gpu in range(gpus)]
            if is_slow:
                values[2] = expected * 0.62
            measured = [
                figure(
                    value,
                    name=name,
                    device=f"GPU-{number:03x}{gpu}",
                    expected=expected,
                    baseline=expected * 1.01,
                    code="WORK-LOW" if value < expected * 0.8 else "",
                )
                for gpu, value in enumerate(values)
            ]
            slow = (
                {"code": "WORK-LOW", "message": f"Node {host}: a GPU measured {expected * 0.62:.1f}"}
                if is_slow
                else {}
            )
            programs = [program(0, "failed" if is_slow else "passed", figures=measured, **slow)]
            if pool == "training":
                bus = figure(345.0, name="all_reduce", unit="GB/s", device="", expected=330.0, baseline=None)
                outcome = {"outcome": "not_run", "reason": "busy"} if is_busy else {}
                programs.append(program(0, name="nccl", figures=[] if is_busy else [bus], **outcome))
            busy = "team-a/train-7 holds 8" if is_busy else ""
            facts = {"programs": programs, "busy": busy, "resources": {"nvidia.com/gpu": gpus}}
            found.append(validated(host, gpus - is_slow, pool, **facts))
    named = {"role": "gpu_validation", "task": "present | Run programs on every node of the pools"}
    report = after(report, "gpu_workload", {"workload": {"nodes": found}}, seconds=at, took=64, **named)
    owners = [{"kind": "Job", "name": "train", "pods": 1, "requests": {"nvidia.com/gpu": 8}}]
    quotas = [
        {
            "name": "gpu-quota",
            "namespace": namespace,
            "resources": {"requests.nvidia.com/gpu": {"hard": hard, "used": used}},
            "use": {"owners": owners},
        }
        for namespace, hard, used in (("team-a", "16", "9"), ("team-b", "8", "8"))
    ]
    return after(report, "gpu_quota", {"changed": True, "quotas": quotas}, seconds=at + 64)
