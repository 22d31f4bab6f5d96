# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verdicts about the machine-config operator's objects: is a pool rolled out, is a configuration accepted."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._core import conditions
from .._core.errors import text_of
from .._core.objects import KubeObject, Snapshot, name, named, number_of
from .._core.readiness import Grace, Readiness, failed, pending, ready, worst
from .._nodes import cordons, formatting as node_formatting, node as node_facts
from .._nodes.node import CURRENT, DESIRED, STATE, update
from . import machine_config, paused
from .late import by_pool

POOLS: t.Final = "pools"
NODES: t.Final = "nodes"
DEGRADED: t.Final = "REBOOT-DEGRADED"
DRAIN: t.Final = "REBOOT-DRAIN"
RENDER: t.Final = "REBOOT-RENDER"
PAUSED: t.Final = "REBOOT-PAUSED"
# The operator tries again by itself, so these troubles fail a task only after a while.
PASSING: t.Final = (DEGRADED, DRAIN, RENDER)
_SPACE: t.Final = "-n openshift-machine-config-operator"
_DAEMONS: t.Final = f"oc get pods {_SPACE} -l k8s-app=machine-config-daemon"


def annotation(obj: KubeObject, key: str) -> str:
    """Return the annotation, or an empty text."""
    return str((obj["metadata"].get("annotations") or {}).get(key) or "")


def target(pool: KubeObject) -> str:
    """Return the name of the configuration that the pool's nodes are to have; empty before it is rendered."""
    return str(((pool.get("spec") or {}).get("configuration") or {}).get("name") or "")


def is_at(node: KubeObject, config: str) -> bool:
    """Return True if the node runs this configuration, and is not on its way to another one."""
    found = [annotation(node, key) for key in (CURRENT, DESIRED, STATE)]
    return bool(config) and found == [config, config, "Done"]


def judge_pool(pool: KubeObject | None, object_name: str, nodes: t.Sequence[KubeObject]) -> Readiness:
    """Return ready if the pool is rolled out by every rule, and each of its nodes runs its configuration.

    object_name: the name of the MachineConfigPool. nodes: those that its selector matches. A degraded node is
    named with its reason.
    """
    if not pool:
        return pending("Missing", f"MachineConfigPool {object_name} does not exist yet")
    if found := troubles(pool, nodes):
        return worst(found)
    if paused.is_paused(pool):
        why, remedy = paused.explain(pool)
        verdict = pending if paused.is_for_cards(pool) else failed
        return verdict(
            "Paused", **text_of(PAUSED, pool=object_name, why=why)._replace(remedy=remedy)._asdict()
        )
    lacking = [*_lacks(pool, len(nodes)), *filter(None, map(_line(pool), nodes))]
    if not lacking:
        return ready("Updated", f"{object_name}: {number_of(len(nodes), 'node')} with {target(pool)}")
    text = text_of("REBOOT-PENDING", pool=object_name, left="; ".join(lacking[:4]))
    return pending("Updating", **text._asdict(), details=tuple(f"{object_name}: {line}" for line in lacking))


def _lacks(pool: KubeObject, nodes: int) -> t.Iterator[str]:
    """Yield what of the full rule the pool does not fulfil: a condition alone may be older than the spec."""
    status, spec = pool.get("status") or {}, pool.get("spec") or {}
    if int(status.get("observedGeneration") or 0) < int(pool["metadata"].get("generation") or 0):
        yield "the operator has not seen the last change"
    counted = int(status.get("machineCount") or 0)
    if counted != nodes:
        yield f"{counted} of {number_of(nodes, 'node')} counted"
    updated = int(status.get("updatedMachineCount") or 0)
    if updated != counted:
        yield f"{updated} of {number_of(counted, 'node')} updated"
    if not target(pool):
        yield "no configuration is rendered yet"
    elif ((status.get("configuration") or {}).get("name")) != ((spec.get("configuration") or {}).get("name")):
        yield f"{target(pool)} is not rolled out"
    if not conditions.is_true(pool, "Updated") or conditions.is_true(pool, "Updating"):
        yield "not Updated"


def _line(pool: KubeObject) -> t.Callable[[KubeObject], str]:
    """Return a function that says what a node waits for; an empty text if it is done."""
    config = target(pool)

    def line(node: KubeObject) -> str:
        node_name = name(node)
        if is_at(node, config):
            doing = "" if node_facts.is_ready(node) else node_formatting.why_not_ready(node)
            doing = doing or (cordons.shown(node) if node_facts.is_cordoned(node) else "")
            return f"{node_name}: {doing}" if doing else ""
        if annotation(node, DESIRED) != config:
            kept = f" until it is uncordoned ({cordons.shown(node)})" if node_facts.is_cordoned(node) else ""
            return f"{node_name}: waits for its turn{kept}"
        if not node_facts.is_ready(node):
            return f"{node_name}: reboots ({node_formatting.why_not_ready(node)})"
        doing = "drains" if node_facts.is_cordoned(node) else "begins"
        return f"{node_name}: {doing} ({annotation(node, STATE)})"

    return line


def troubles(pool: KubeObject, nodes: t.Iterable[KubeObject]) -> list[Readiness]:
    """Return a pending verdict for each degraded node, and one for a pool that cannot be rendered."""
    object_name = name(pool)
    found = [_degraded(object_name, node) for node in nodes if update(node).is_stuck]
    condition = conditions.find(pool, "RenderDegraded")
    if condition.get("status") == "True":
        text = condition.get("message") or condition.get("reason") or "it gives no reason"
        code = text_of(RENDER, pool=object_name, answer=text)
        details = (f"{object_name}: {text}",)
        found.append(pending(f"RenderDegraded:{object_name}", **code._asdict(), details=details))
    condition = conditions.find(pool, "NodeDegraded")
    if not found and (condition.get("status") == "True" or conditions.is_true(pool, "Degraded")):
        condition = condition or conditions.find(pool, "Degraded")
        text = condition.get("message") or condition.get("reason") or "it gives no reason"
        found.append(_trouble(object_name, f"MachineConfigPool {object_name}", text, f"{_DAEMONS} -o wide"))
    return found


def _degraded(object_name: str, node: KubeObject) -> Readiness:
    found = update(node)
    text = found.reason or f"it is {found.state} and gives no reason"
    daemon = f"$({_DAEMONS} -o name --field-selector spec.nodeName={name(node)})"
    command = f"oc logs {_SPACE} -c machine-config-daemon {daemon}"
    return _trouble(object_name, f"Node {name(node)}", text, command)


def _trouble(pool: str, what: str, text: str, command: str) -> Readiness:
    code = DRAIN if "failed to drain" in text else DEGRADED
    found = text_of(code, object=what, pool=pool, answer=text, command=command)
    return pending(f"Degraded:{what}", **found._asdict(), details=(f"{what}: {text}",))


def judge_kubelet_config(config: KubeObject | None, object_name: str) -> Readiness:
    """Return whether the operator took the KubeletConfig; OpenShift has two spellings of that.

    Up to 4.22 the last condition is Success, or Failure with status False. Later it is Accepted.
    """
    if not config:
        return pending("Missing", f"KubeletConfig {object_name} does not exist yet")
    status = config.get("status") or {}
    seen = status.get("observedGeneration")
    found = (status.get("conditions") or [{}])[-1]
    if not found or (seen is not None and int(seen) < int(config["metadata"].get("generation") or 0)):
        return pending("Unseen", f"KubeletConfig {object_name}: the operator has not seen the last change")
    kind, is_true = found.get("type"), found.get("status") == "True"
    if kind in ("Success", "Accepted") and is_true:
        return ready(str(kind), f"KubeletConfig {object_name} is accepted")
    text = found.get("message") or found.get("reason") or "it gives no reason"
    return failed(
        str(kind),
        **text_of("REBOOT-KUBELET-REFUSED", name=object_name, trouble=text)._asdict(),
        details=(f"KubeletConfig {object_name}: {text}",),
    )


def judge_profile(profile: KubeObject | None, object_name: str) -> Readiness:
    """Return failed for a degraded PerformanceProfile, pending for one that no controller has seen."""
    if not profile:
        return pending("Missing", f"PerformanceProfile {object_name} does not exist yet")
    condition = conditions.find(profile, "Degraded")
    if condition.get("status") == "True" and condition.get("reason") != "MCPDegraded":
        text = f"{condition.get('reason') or 'Degraded'}: {condition.get('message') or 'no message'}"
        return failed(
            str(condition.get("reason")),
            **text_of("REBOOT-PROFILE", name=object_name, trouble=text)._asdict(),
            details=(f"PerformanceProfile {object_name}: {text}",),
        )
    return ready("Seen", f"PerformanceProfile {object_name} is not degraded")


def judge_returned(worker: KubeObject | None, nodes: t.Sequence[KubeObject]) -> Readiness:
    """Return ready if each of these nodes runs the configuration of the pool worker."""
    if not worker:
        return pending("Missing", "MachineConfigPool worker does not exist")
    if found := troubles(worker, nodes):
        return worst(found)
    lines = [*filter(None, map(_line(worker), nodes))]
    if not lines:
        return ready("Returned", f"{number_of(len(nodes), 'node')} with {target(worker)}")
    text = text_of("REBOOT-PENDING", pool="worker", left="; ".join(lines[:4]))
    return pending("Returning", **text._asdict(), details=tuple(lines))


@dataclass
class Rolled:
    """Judge rollouts: ready when every pool is done, and every released node is back in the pool worker.

    titles: the MachineConfigPools. released: those that have given up their nodes. The snapshot has the nodes
    of each under `NODES` and its name. grace: makes lasting troubles failed. late: titles that do not count.
    verdicts: of the last look, by object_name.
    """

    titles: t.Collection[str]
    released: t.Collection[str]
    grace: Grace
    late: t.Collection[str] = ()
    verdicts: dict[str, Readiness] = field(default_factory=dict)

    def __call__(self, snapshot: Snapshot) -> Readiness:
        pools = snapshot[POOLS]
        worker = named(pools, machine_config.WORKER) or None
        found = [
            (
                object_name,
                judge_pool(named(pools, object_name) or None, object_name, snapshot[f"{NODES}{object_name}"]),
            )
            for object_name in self.titles
        ]
        found += [
            (object_name, judge_returned(worker, snapshot[f"{NODES}{object_name}"]))
            for object_name in self.released
        ]
        return worst(by_pool(self.grace, found, self.late, self.verdicts))
