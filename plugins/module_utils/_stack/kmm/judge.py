# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge a KMM Module, and return its result and its stages, from the operator to the devices of each node.

A Module has no conditions: nodes, their configuration and pods are the evidence.
"""

from __future__ import annotations

import typing as t
from dataclasses import replace

from ..._core import conditions
from ..._core.errors import text_of
from ..._core.objects import KubeObject, Snapshot, name
from ..._core.readiness import FAILED, Readiness, first_own, pending, ready, worst
from ..._nodes import pool_nodes
from ..._nodes.labels import labels
from .. import stages, table
from ..judge import patience
from ..params import StackParams
from ..stages import Chain, Finding, Stage, as_finding
from . import devices, images, kernels, node as kmm_node

# Troubles that may pass by themselves; they are final when they last.
_PASSING: t.Final = (
    "GPU-IMAGE",
    "GPU-KMM-BUILD",
    "GPU-KMM-SIGN",
    "GPU-KMM-LOAD",
    "GPU-KMM-PLUGIN",
    "GPU-KMM-SELECTOR",
)
# Devices: they appear within moments after the module is loaded, or never.
_LAST: t.Final = ("GPU-ALLOC", "GPU-DRA-SLICES")
NUMBERS: t.Final = ("moduleLoader", "devicePlugin", "dra")


class Judge:
    """Judge the nodes of the pools, or without pools the Module's own numbers.

    only: the name of a single node to judge. seen: the last snapshot.
    """

    def __init__(self, params: StackParams, clock: t.Callable[[], float], only: str = "") -> None:
        self._params, self._only, self._driver = params, only, devices.driver(params)
        self._grace = patience(params, clock, (*_PASSING, *_LAST))
        self.seen: Snapshot = {}

    def __call__(self, snapshot: Snapshot) -> Readiness:
        self.seen = snapshot
        first, last = self._findings(snapshot)
        return first_own(self._grace, first, last)

    def _findings(self, snapshot: Snapshot) -> tuple[list[Readiness], list[Readiness]]:
        if not snapshot.get("modules"):
            text = text_of("GPU-DELETED", object=f"Module {self._params.name}")
            return [pending("Missing", **text._asdict())], []
        module, pools = snapshot["modules"][0], self._params.pools
        nodes = [node for node in snapshot["nodes"] if self._only in ("", name(node))]
        first = [] if self._only else [pool_nodes.judge_size(nodes, pool) for pool in pools]
        wanted = [node for pool in pools for node in pool_nodes.nodes_of(nodes, pool)]
        if self._only and not pools:
            wanted = nodes
        first += [found for node in wanted for found in kmm_node.judge_node(node, module, snapshot)]
        if not self._only:
            first.append(judge_numbers(module))
        slices = snapshot.get("slices", ())
        return first, [one for pool in pools for one in devices.judge(nodes, pool, self._driver, slices)]

    def summarize(self, snapshot: Snapshot) -> dict[str, t.Any]:
        first, last = self._findings(snapshot)
        verdict = worst([*first, *last])
        module: KubeObject = next(iter(snapshot.get("modules") or []), {})
        status, live = module.get("status") or {}, snapshot.get("nodes", ())
        nodes = devices.summarize(live, self._params.pools, self._driver, snapshot.get("slices", ()))
        if module:
            by_name = {name(node): node for node in live}
            nodes = [{**one, **kmm_node.summarize(by_name[one["name"]], module, snapshot)} for one in nodes]
        return {
            "name": self._params.name,
            "state": verdict.verdict,
            "reason": verdict.reason,
            "nodes": nodes,
            "numbers": {key: status[key] for key in NUMBERS if key in status},
        }


def judge_numbers(module: KubeObject) -> Readiness:
    """Return ready if every number is as desired.

    A selector that finds no node is ready too: it waits for one.
    """
    status = module.get("status") or {}
    for key in NUMBERS:
        if key != "moduleLoader" and key not in module["spec"]:
            continue
        numbers = status.get(key) or {}
        available, desired = numbers.get("availableNumber", 0), numbers.get("desiredNumber", 0)
        matching = numbers.get("nodesMatchingSelectorNumber", 0)
        if key not in status or (matching and (available != desired or not desired)):
            line = f"{key}: {available} of {desired} available, matching nodes: {matching}"
            text = text_of("GPU-KMM-PENDING", object=f"Module {name(module)}", progress=line)
            return pending("Numbers", **text._asdict(), details=(line,))
    return ready("Loaded", "The kernel module is loaded.")


PACKAGE: t.Final = "kernel-module-management"
SELECTOR, IMAGE, BUILD, SIGNING = "selector", "image", "build", "signing"
_MAKING: t.Final = (IMAGE, BUILD, SIGNING)
_OF_CODE: t.Final = {
    "GPU-NODES": SELECTOR,
    "GPU-NODE-NOT-READY": SELECTOR,
    "GPU-KMM-SELECTOR": SELECTOR,
    "GPU-TAINT": SELECTOR,
    "GPU-KMM-KERNEL": SELECTOR,
    "GPU-IMAGE": IMAGE,
    "GPU-KMM-BUILD": BUILD,
    "GPU-KMM-SIGN": SIGNING,
    "GPU-KMM-VERSION": stages.DRIVER,
    "GPU-KMM-LOAD": stages.DRIVER,
    "GPU-KMM-PLUGIN": stages.PLUGIN,
    "GPU-ALLOC": stages.ALLOCATABLE,
    "GPU-DRA-SLICES": stages.ALLOCATABLE,
}


def chain(params: StackParams) -> Chain:
    """Return the stages.

    A node's stage waits for every earlier one; a DRA driver replaces the device plugin.
    """
    plugin = stages.DRA if devices.driver(params) else stages.PLUGIN
    order = (SELECTOR, *_MAKING, stages.DRIVER, plugin, stages.ALLOCATABLE)
    return stages.chain({one: (*reversed(order[:at]), stages.CRD) for at, one in enumerate(order)}, PACKAGE)


def summarize_stages(params: StackParams, snapshot: Snapshot, failed: str = "") -> dict[str, t.Any]:
    """Return pools, stages and lines. failed: the code that lasted too long."""
    live: KubeObject = next(iter(snapshot.get("modules") or ()), {})
    full = {"nodes": (), "configs": (), "pods": (), **snapshot}
    found, findings = chain(params), judge_stages(params, live, full) if live else []
    findings = [replace(one, verdict=FAILED) if failed and one.code == failed else one for one in findings]
    return table.summarize(
        found, full, live, params.pools, findings, lambda node: seen_stages(node, live, full, found)
    )


def judge_stages(params: StackParams, live: KubeObject, snapshot: Snapshot) -> list[Finding]:
    """Return what is found of the Module, placed in its stages. live: the Module."""
    findings, driver = [], devices.driver(params)
    for pool in params.pools:
        findings.append(_finding(pool_nodes.judge_size(snapshot["nodes"], pool), SELECTOR, pool["name"]))
        for node in pool_nodes.nodes_of(snapshot["nodes"], pool):
            at, where = pool["name"], name(node)
            now = _current(node, live, snapshot)
            own = kmm_node.judge_node(node, live, snapshot)
            causes = [one for one in own if one.code != "GPU-KMM-PENDING"] or own
            findings += [_finding(one, _OF_CODE.get(one.code, now), at, where) for one in causes]
            findings += [
                _finding(one, _OF_CODE[one.code], at, where)
                for one in devices.judge([node], pool, driver, snapshot.get("slices", ()))
            ]
    findings.append(_finding(judge_numbers(live), stages.CRD))
    plugin = stages.DRA if driver else stages.PLUGIN
    return [
        one if one.stage != stages.PLUGIN else _finding(one, plugin, one.pool, one.node) for one in findings
    ]


def _finding(one: Readiness, stage: str, pool: str = "", node: str = "") -> Finding:
    """Return a judgement with its stage.

    What is only pending, and devices, may follow from an earlier stage.
    """
    waits = one.code in ("GPU-KMM-PENDING", "GPU-ALLOC", "GPU-DRA-SLICES") and not one.is_failed
    return as_finding(one, stage, pool, node, waits=waits)


def _current(node: KubeObject, live: KubeObject, snapshot: Snapshot) -> str:
    if not kmm_node.behind(node, live, snapshot):
        return stages.DRIVER
    return images.current(kernels.kernel_of(node), snapshot) or IMAGE


def seen_stages(node: KubeObject, live: KubeObject, snapshot: Snapshot, of: Chain) -> dict[str, Stage]:
    """Return the stages of a node that are not wanted, and those that have not begun."""
    if not live:
        return stages.waiting(of)
    made = images.steps(live, kernels.kernel_of(node))
    not_wanted = [one for one in (BUILD, SIGNING) if one not in made]
    spec = live.get("spec") or {}
    if not (spec.get("devicePlugin") or spec.get("dra")):
        not_wanted += [one for one in (stages.PLUGIN, stages.DRA) if one in of.needs]
    found = {one: Stage(one, evidence=(table.NOT_WANTED,)) for one in not_wanted}
    now = _current(node, live, snapshot)
    is_loaded = now == stages.DRIVER and not any(
        one.code == "GPU-KMM-PENDING" for one in kmm_node.judge_node(node, live, snapshot)
    )
    open_ones = of.of_nodes[of.of_nodes.index(now) :]
    if is_loaded:
        open_ones = () if _runs(node, snapshot) else of.of_nodes[-2:-1]
    return {one: Stage(one, stages.WAITING) for one in open_ones} | found


def _runs(node: KubeObject, snapshot: Snapshot) -> bool:
    here = [pod for pod in snapshot["pods"] if pod["spec"].get("nodeName") == name(node)]
    return any(conditions.is_true(pod, "Ready") for pod in here if kmm_node.ROLE in labels(pod))
