# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Judge of a KMM Module. A Module has no conditions: nodes, their configuration and pods are the evidence."""

from __future__ import annotations

import typing as t

from ..._core.objects import KubeObject, Snapshot
from ..._core.readiness import Grace, Readiness, pending, ready, worst
from ..._nodes import pool_nodes
from ..params import StackParams
from . import devices, node as kmm_node

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
        self._grace = Grace(clock, params["grace"], (*_PASSING, *_LAST))
        self.seen: Snapshot = {}

    def __call__(self, snapshot: Snapshot) -> Readiness:
        self.seen = snapshot
        first, last = self._findings(snapshot)
        if worst(first).is_ready:
            return worst(self._grace.harden([*first, *last]))
        return worst([*self._grace.harden(first), *last])

    def _findings(self, snapshot: Snapshot) -> tuple[list[Readiness], list[Readiness]]:
        """Return what is found of the Module and its nodes, then what is found of the devices."""
        if not snapshot.get("modules"):
            message = f"Module {self._params['name']} does not exist."
            remedy = "Find out who deletes it."
            return [pending("Missing", message, code="GPU-KMM-PENDING", remedy=remedy)], []
        module, pools = snapshot["modules"][0], self._params["pools"]
        nodes = [node for node in snapshot["nodes"] if self._only in ("", node["metadata"]["name"])]
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
        """Return the result: state, reason, nodes, and the Module's numbers of nodes."""
        first, last = self._findings(snapshot)
        verdict = worst([*first, *last])
        module: KubeObject = next(iter(snapshot.get("modules") or []), {})
        status, live = module.get("status") or {}, snapshot.get("nodes", ())
        nodes = devices.summarize(live, self._params["pools"], self._driver, snapshot.get("slices", ()))
        if module:
            by_name = {node["metadata"]["name"]: node for node in live}
            nodes = [{**one, **kmm_node.summarize(by_name[one["name"]], module, snapshot)} for one in nodes]
        return {
            "name": self._params["name"],
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
            line = f"{key}: {available} of {desired} available, {matching} nodes match"
            message, remedy = f"Module {module['metadata']['name']}: {line}.", "Look at KMM's log."
            return pending("Numbers", message, code="GPU-KMM-PENDING", remedy=remedy, details=(line,))
    return ready("Loaded", "The kernel module is loaded.")
