# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a run, as report.json holds it: tasks, and what their results say of nodes, quotas and plan.

docs/report.schema.json describes it. Each task adds itself to the report that the task before has written, so
the file is true at any moment. A result replaces what an earlier one said of the same node.
"""

from __future__ import annotations

import typing as t

Data = dict[str, t.Any]

SCHEMA_VERSION: t.Final = "1.0"
TOOL: t.Final = "accelerators.openshift"
RUNNING, OK, CHANGED, FAILED, HANDLED = "running", "ok", "changed", "failed", "handled"
READY, PENDING, WAITING, UNKNOWN = "ready", "pending", "waiting", "unknown"
PASSED, ATTENTION = "passed", "attention"
MACHINE, VALIDATED = "machine", "validated"
# The numbers of GPUs that a node has; None if nothing says it.
COUNTS: t.Final = ("expected", "allocatable", "validated")
_NIC: t.Final = "nicclusterpolicy"
# Keys of every result, which a task of the report has in other words, or which only Ansible needs.
_COMMON: t.Final = frozenset(
    ("msg", "code", "layer", "message", "remedy", "evidence", "warnings", "changed", "failed", "duration")
) | {"diff", "invocation", "exception", "deprecations", "ansible_facts"}
# Results list what is wrong under these keys.
_LISTS: t.Final = ("problems", "findings", "checks", "troubles")
_FINE: t.Final = ("ok", READY, PASSED)
_NODE: t.Final[Data] = {
    **dict.fromkeys(("pool", "type", "zone", "product", "driver", "busy"), ""),
    **dict.fromkeys(COUNTS),
}


def new(run: Data, version: str) -> Data:
    """Return the report of a run before its first task. run: id, cluster, job, check_mode, started."""
    empty: Data = {key: [] for key in ("playbooks", "tasks", "findings", "warnings", "stacks", "pools")}
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": TOOL, "version": version},
        "run": {**run, "updated": run["started"], "state": RUNNING},
        "summary": {},
        **empty,
        "nodes": [],
        "left_out": 0,
        "quotas": [],
        "plan": None,
    }


def begun(report: Data, task: Data) -> Data:
    """Return the report with a task that runs now."""
    playbooks = dict.fromkeys([*report["playbooks"], *filter(None, [task["playbook"]])])
    return _judged({**report, "playbooks": list(playbooks), "tasks": [*report["tasks"], task]})


def ended(report: Data, task: Data, whole: Data, kept: Data) -> Data:
    """Return the report with a task that has ended.

    task: as begun. whole: its result with all nodes. kept: its result as Ansible gets it, which is bounded.
    """
    is_dry = task["check_mode"] or "foreseen" in whole
    state = (HANDLED if task["rescued"] else FAILED) if whole.get("failed") else OK
    done = {
        **task,
        "check_mode": is_dry,
        "state": CHANGED if state == OK and whole.get("changed") and not is_dry else state,
        **{key: str(whole.get(key) or "") for key in ("code", "layer", "remedy")},
        "message": str(whole.get("message") or (whole.get("msg") or "" if whole.get("failed") else "")),
        "evidence": [str(line) for line in whole.get("evidence") or []],
        "warnings": [str(line) for line in whole.get("warnings") or []],
        "result": {key: value for key, value in kept.items() if key not in _COMMON and key[0] != "_"},
    }
    tasks = [old for old in report["tasks"] if (old["state"], old["started"]) != (RUNNING, task["started"])]
    merged = {**report, "tasks": [*tasks, done]}
    if merge := _MERGES.get(task["module"]):
        merged = merge(merged, whole, task["object"], is_dry)
    return _judged(merged)


def count(resources: t.Any) -> int | None:
    """Return the sum of the devices of a map such as `{nvidia.com/gpu: 8}`, or None without one."""
    return sum(int(number) for number in resources.values()) if resources else None


def reasons(node: Data) -> list[str]:
    """Return in words why a node is not ready."""
    return [*node["reasons"].values(), *([f"busy: {node['busy']}"] if node["busy"] else [])]


def _with_nodes(report: Data, pairs: t.Iterable[tuple[str, Data]]) -> Data:
    """Return the report with these facts about nodes; what is None or empty says nothing.

    reasons: by the part of a node that they come from; an empty one takes back what that part said before.
    """
    nodes = {node["name"]: node for node in report["nodes"]}
    for name, facts in pairs:
        old = nodes.get(name) or {"name": name, **_NODE, "stages": {}, "reasons": {}, "programs": []}
        stated = {key: value for key, value in facts.items() if value not in (None, "") or key == "busy"}
        both = {key: {**old[key], **(facts.get(key) or {})} for key in ("stages", "reasons")}
        both["reasons"] = {part: text for part, text in both["reasons"].items() if text}
        nodes[name] = {**old, **stated, **both}
    return {**report, "nodes": sorted(nodes.values(), key=lambda node: (node["pool"], node["name"]))}


def _plan(report: Data, whole: Data, _object: str, _is_dry: bool) -> Data:
    plan = whole.get("plan")
    return {**report, "plan": plan} if plan and (plan.get("pools") or not report["plan"]) else report


def _machines(report: Data, whole: Data, pool: str, is_dry: bool) -> Data:
    """Merge a pool's machines: a node for each, or for a machine without a node the machine itself."""
    found: list[tuple[str, Data]] = []
    machines = {machine["node"]: machine for machine in whole.get("machines") or [] if machine.get("node")}
    for node in whole.get("nodes") or []:
        is_ready = node.get("ready", True)
        facts = {"pool": pool, "type": node.get("instance_type"), "zone": node.get("zone")}
        stages = {MACHINE: READY if is_ready else PENDING}
        machine = machines.get(node["name"]) or {}
        facts["reasons"] = {
            MACHINE: "" if is_ready else f"machine: {machine.get('error') or 'the node is not Ready'}"
        }
        found.append((node["name"], {**facts, "expected": count(node.get("expected")), "stages": stages}))
    gone = {machine["name"] for machine in machines.values()} - {name for name, _facts in found}
    for lost in whole.get("removed") or () if not is_dry else ():
        gone |= {lost["machine"], lost.get("node")}
    for machine in whole.get("machines") or []:
        if not machine.get("node") and machine.get("phase") != "Deleting":
            stages = {MACHINE: FAILED if machine.get("code") or machine.get("phase") == "Failed" else PENDING}
            why = {MACHINE: f"machine: {machine.get('error') or machine.get('phase')}"}
            facts = {"pool": pool, "type": machine.get("instance_type"), "zone": machine.get("zone")}
            found.append((machine["name"], {**facts, "stages": stages, "reasons": why}))
    merged = _with_nodes(report, found)
    return {**merged, "nodes": [node for node in merged["nodes"] if node["name"] not in gone]}


def _stack(report: Data, whole: Data, _object: str, _is_dry: bool) -> Data:
    """Merge a driver stack: its stages, and those of each node."""
    stack = whole.get("special_resource") or {}
    if not stack.get("stages"):
        return report
    backend = str(stack.get("backend") or "")
    facts = {key: str(stack.get(key) or "") for key in ("name", "state", "reason", "driver_version")}
    stages = [
        {key: stage.get(key) or "" for key in ("name", "verdict", "since", "consequence_of")}
        | {"evidence": list(stage.get("evidence") or []), "of_nodes": "of" in stage}
        for stage in stack["stages"]
    ]
    mine = {"backend": backend, **facts, "stages": stages, "pools": list(stack.get("pools") or [])}
    others = [other for other in report["stacks"] if other["backend"] != backend]
    cut = {str(entry["list"]): int(entry["number"]) for entry in whole.get("left_out") or []}
    late = {
        ("nic " if backend == _NIC else "") + stage["name"]: (
            {node["node"]: node for node in stage.get("nodes") or []},
            UNKNOWN if f"special_resource.stages[{number}].nodes" in cut else READY,
        )
        for number, stage in enumerate(stack["stages"])
        if "of" in stage
    }
    found = [(node["name"], _of_node(node, late, backend)) for node in stack.get("nodes") or []]
    left_out = cut.get("special_resource.nodes", 0)
    return {**_with_nodes(report, found), "stacks": [*others, mine], "left_out": left_out}


def _of_node(node: Data, late: t.Mapping[str, tuple[Data, str]], backend: str) -> Data:
    """Return what a stack says of a node. late: stage -> nodes that are not ready, verdict of others."""
    verdicts, why = {name: others for name, (_nodes, others) in late.items()}, ""
    for name, (nodes, _others) in late.items():
        if mine := nodes.get(node["name"]):
            verdicts[name] = mine["verdict"]
            if not why and mine["verdict"] in (FAILED, PENDING):
                why = f"{name}: {(mine.get('evidence') or [mine['verdict']])[0]}"
    facts = {"pool": node.get("pool"), "stages": verdicts, "reasons": {backend: why}}
    if backend == _NIC:
        return facts
    return facts | {
        "product": node.get("product"),
        "driver": node.get("driver_version"),
        "expected": count(node.get("expected")),
        "allocatable": count(node.get("allocatable") or node.get("offered")),
    }


def _validation(report: Data, whole: Data, _object: str, _is_dry: bool) -> Data:
    """Merge a validation: the GPUs that passed, and the figures of each program."""
    known = {node["name"]: node for node in report["nodes"]}
    found = []
    for node in (whole.get("workload") or {}).get("nodes") or []:
        offered = count(node.get("resources"))
        expected = known.get(node["name"], {}).get("expected") or offered or 0
        facts = {key: node.get(key) for key in ("pool", "validated", "busy")}
        facts |= {"driver": node.get("driver_version"), "allocatable": offered}
        is_done = bool(node.get("validated")) and node["validated"] >= expected
        verdict = READY if is_done else FAILED if node.get("ran") else PENDING
        failed = next((pod for pod in node.get("pods") or [] if not pod.get("passed")), None)
        facts["reasons"] = {VALIDATED: f"validation: {_last(failed)}" if failed and node.get("ran") else ""}
        facts["busy"] = node.get("busy") or ""
        programs = {"programs": node["programs"]} if node.get("programs") else {}
        found.append((node["name"], {**facts, **programs, "stages": {VALIDATED: verdict}}))
    return _with_nodes(report, found)


def _last(pod: Data) -> str:
    lines = [line for line in pod.get("log_tail") or [] if line.strip()]
    return str(pod.get("reason") or (lines[-1] if lines else f"a pod is {pod.get('phase')}"))


def _quotas(report: Data, whole: Data, _object: str, _is_dry: bool) -> Data:
    """Merge quotas by namespace and name: what they limit, and who uses most of it."""
    old = {(quota["namespace"], quota["name"]): quota for quota in report["quotas"]}
    single = [whole["quota"]] if whole.get("quota") else []
    for quota in [*single, *(whole.get("quotas") or []), *(whole.get("cluster_quotas") or [])]:
        namespaces = [str(entry["namespace"]) for entry in quota.get("namespaces") or []]
        namespace = str(quota.get("namespace") or f"{len(namespaces)} namespaces")
        limits = [
            {"resource": key, "hard": str(usage.get("hard") or "0"), "used": str(usage.get("used") or "0")}
            for key, usage in (quota.get("resources") or {}).items()
        ]
        owners = [
            {key: owner[key] for key in ("kind", "name", "pods", "requests")}
            for owner in (quota.get("use") or {}).get("owners") or []
        ]
        if limits:
            old[namespace, str(quota["name"])] = {
                "namespace": namespace,
                "name": str(quota["name"]),
                "limits": limits,
                "owners": owners,
            }
    return {**report, "quotas": [old[key] for key in sorted(old)]}


_MERGES: t.Final[dict[str, t.Callable[[Data, Data, str, bool], Data]]] = {
    "gpu_plan": _plan,
    "gpu_machineset": _machines,
    "special_resource": _stack,
    "gpu_workload": _validation,
    "gpu_quota": _quotas,
}


def _judged(report: Data) -> Data:
    """Return the report with what follows from tasks and nodes: findings, pools, summary, state."""
    nodes = [{**node, "verdict": _verdict(node)} for node in report["nodes"]]
    findings = _findings({**report, "nodes": nodes})
    tasks = report["tasks"]
    by_pool: dict[str, list[Data]] = {}
    for node in nodes:
        by_pool.setdefault(node["pool"], []).append(node)
    pools = [{"name": name, **_sums(mine)} for name, mine in by_pool.items()]
    is_short = any(node["verdict"] != READY for node in nodes) and not report["run"]["check_mode"]
    state = RUNNING if tasks and tasks[-1]["state"] == RUNNING else PASSED
    if state == PASSED and any(finding["severity"] == FAILED for finding in findings):
        state = FAILED
    elif state == PASSED and (findings or is_short):
        state = ATTENTION
    times = [task["ended"] or task["started"] for task in tasks]
    summary = {
        "tasks": len(tasks),
        "tasks_changed": sum(task["state"] == CHANGED for task in tasks),
        "tasks_failed": sum(task["state"] in (FAILED, HANDLED) for task in tasks),
        "findings": len(findings),
        "pools": len(pools),
        **_sums(nodes),
    }
    return {
        **report,
        "run": {**report["run"], "updated": max([report["run"]["updated"], *times]), "state": state},
        "summary": summary,
        "findings": findings,
        "warnings": list(dict.fromkeys(line for task in tasks for line in task.get("warnings") or [])),
        "pools": pools,
        "nodes": nodes,
    }


def _verdict(node: Data) -> str:
    """Return ready, pending or failed for a node: the worst of its stages, programs and counts."""
    seen = set(node["stages"].values())
    if FAILED in seen or any(program.get("outcome") == FAILED for program in node["programs"]):
        return FAILED
    counts = [node[key] for key in ("allocatable", "validated") if node[key] is not None]
    is_short = any(number < (node["expected"] or 0) for number in counts)
    return PENDING if is_short or node["busy"] or seen - {READY} else READY


def _sums(nodes: t.Sequence[Data]) -> Data:
    found: Data = {"nodes": len(nodes), "nodes_ready": sum(node["verdict"] == READY for node in nodes)}
    for key in COUNTS:
        known = [node[key] for node in nodes if node[key] is not None]
        found[key] = sum(known) if known else None
    return found


def _findings(report: Data) -> list[Data]:
    """Return what is wrong, each once: failures of tasks, what results list, pools, and programs of nodes."""
    found: dict[tuple[str, str], Data] = {}

    def add(severity: str, where: str, entry: t.Mapping[str, t.Any]) -> None:
        code, message = (str(entry.get(key) or "") for key in ("code", "message"))
        old = found.get((code, message)) or {"severity": severity, "where": where}
        more = {
            "severity": FAILED if FAILED in (severity, old["severity"]) else severity,
            "remedy": old.get("remedy") or str(entry.get("remedy") or ""),
            "evidence": old.get("evidence") or [str(line) for line in entry.get("evidence") or []],
        }
        found[code, message] = {**old, "code": code, "message": message, **more}

    for task in report["tasks"]:
        listed = list(_listed(task.get("result") or {}))
        severity = FAILED if task["state"] == FAILED else ATTENTION
        for path, entry in listed:
            add(severity, str(entry.get("path") or entry.get("name") or path), entry)
        is_listed = any(path == "problems" or entry.get("code") == task["code"] for path, entry in listed)
        if task["state"] in (FAILED, HANDLED) and not is_listed:
            add(severity, task["object"] or task["task"], task)
    for stack in report["stacks"]:
        for pool in stack["pools"]:
            if not pool.get("ready") and pool.get("code") and not report["run"]["check_mode"]:
                add(ATTENTION, f"pool {pool['name']}", pool)
    for node in report["nodes"]:
        for program in node["programs"]:
            is_told = any(program.get("code") == code and node["name"] in text for code, text in found)
            if program.get("outcome") == FAILED and not is_told:
                add(FAILED, node["name"], program)
    return sorted(found.values(), key=lambda finding: finding["severity"] != FAILED)


def _listed(result: Data) -> t.Iterator[tuple[str, Data]]:
    """Yield each entry with a code and a message, of the lists that say what is wrong."""
    for key, value in result.items():
        if isinstance(value, dict) and key != "plan":
            yield from _listed(value)
        for entry in value if isinstance(value, list) else ():
            if isinstance(entry, dict) and key in _LISTS and entry.get("code") and entry.get("message"):
                # Of a diagnosis only its causes are findings.
                is_cause = not entry.get("cause") and not entry.get("busy")
                if str(entry.get("verdict") or "") not in _FINE and is_cause:
                    yield key, entry
            elif isinstance(entry, dict) and key == "quotas":
                yield from _listed(entry)
