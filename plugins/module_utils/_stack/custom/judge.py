# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""An object of any operator: what the user wrote, and what the user's expressions and the nodes say about it."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.expression import Expression
from ansible_collections.accelerators.openshift.plugins.module_utils._core.grace import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import Snapshot, merge
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    pending,
    ready,
    worst,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import pool_nodes
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.custom import (
    result as custom_result,
)

Data = dict[str, t.Any]


class Expressions(t.NamedTuple):
    """What the user wrote beside the object; only C(ready) has to be there."""

    ready: Expression
    failed: Expression | None
    says: Expression | None


def check(params: Data) -> None:
    """Completes name and namespace from the definition, which is where users write them."""
    custom = params.get("custom")
    if not custom:
        raise InputError(
            "INPUT-REQUIRED",
            "custom is missing, and backend is custom.",
            "Give custom.definition and custom.ready.",
        )
    definition = custom["definition"]
    metadata = definition.get("metadata") if isinstance(definition.get("metadata"), dict) else {}
    for path, value in (
        ("apiVersion", definition.get("apiVersion")),
        ("kind", definition.get("kind")),
        ("metadata.name", (metadata or {}).get("name")),
    ):
        if not value or not isinstance(value, str):
            raise InputError(
                "INPUT-REQUIRED",
                f"custom.definition.{path} is missing.",
                "Write the object as `oc get -o yaml` shows it, without its status.",
            )
    for option in ("name", "namespace"):
        written = (metadata or {}).get(option)
        if params[option] and written and params[option] != written:
            message = f"{option} is {params[option]}, and custom.definition.metadata.{option} is {written}."
            raise InputError("INPUT-VALUE", message, f"Leave {option} out.")
        params[option] = params[option] or written
    if params["tolerations"]:
        message = "tolerations are given, and backend custom does not know where its object keeps them."
        raise InputError("INPUT-OPTION", message, "Write them into custom.definition.spec.")
    if params["state"] == "present":
        if not custom.get("ready"):
            message = "custom.ready is missing: without it nobody can tell when the object is done."
            raise InputError(
                "INPUT-REQUIRED",
                message,
                "For most operators it is \"status.conditions[?type=='Available'].status | [0] == 'True'\".",
            )
        expressions(params)


def expressions(params: Data) -> Expressions:
    custom = params["custom"]
    failed, says = (
        Expression(f"custom.{key}", custom[key]) if custom.get(key) else None for key in ("failed", "says")
    )
    return Expressions(Expression("custom.ready", custom["ready"]), failed, says)


def build(params: Data, namespaced: bool) -> Data:
    """The definition with the raw spec merged over it."""
    definition = params["custom"]["definition"]
    metadata = {key: value for key, value in definition["metadata"].items() if key != "namespace"}
    if namespaced and params["namespace"]:
        metadata["namespace"] = params["namespace"]
    wanted = {**definition, "metadata": metadata}
    if params["spec"]:
        wanted["spec"] = merge(definition.get("spec") or {}, params["spec"])
    return wanted


def pools(params: Data) -> list[Data]:
    """Those that expect nothing of their own expect what the backend's option says."""
    common = params["custom"].get("expected") or {}
    return [{**pool, "expected": pool.get("expected") or common} for pool in params["pools"]]


def judge(live: Data, asked: Expressions) -> Readiness:
    """What the object says of itself, unless it speaks of an older generation of it."""
    title, status = f"{live['kind']} {live['metadata']['name']}", live.get("status") or {}
    said = asked.says.ask(live) if asked.says else None
    text = f": {said}" if said else ""
    seen, now = status.get("observedGeneration"), live["metadata"].get("generation", 0)
    remedy = f"Look at `oc describe {live['kind'].lower()} {live['metadata']['name']}` and at the log of its operator."
    if isinstance(seen, int) and seen < now:
        line = f"its operator has seen generation {seen} of {now}"
        return pending(
            "Unobserved", f"{title}: {line}.", code="GPU-CR-NOTREADY", remedy=remedy, details=(line,)
        )
    if asked.failed and asked.failed.holds(live):
        return pending(
            "Failed",
            f"{title} says that it failed{text}.",
            code="GPU-CR-FAILED",
            remedy=remedy,
            details=(f"failed{text}",),
        )
    if not asked.ready.holds(live):
        return pending(
            "NotReady",
            f"{title} is not ready{text}.",
            code="GPU-CR-NOTREADY",
            remedy=remedy,
            details=(f"not ready{text}",),
        )
    return ready("Ready", str(said or ""))


class Judge:
    """The object first, then the nodes. A failure may pass by itself, and devices come a moment after the object is ready."""

    def __init__(self, params: Data, clock: t.Callable[[], float]) -> None:
        self._params, self._pools, self._asked = params, pools(params), expressions(params)
        self._patience = Grace(clock, params["grace"], ("GPU-CR-FAILED", "GPU-ALLOC"))
        self.seen: Snapshot = {}

    def __call__(self, snapshot: Snapshot) -> Readiness:
        self.seen = snapshot
        own, others = self._judge(snapshot)
        return worst(
            self._patience.harden([own, *others])
            if own.is_ready
            else [*self._patience.harden([own]), *others]
        )

    def _judge(self, snapshot: Snapshot) -> tuple[Readiness, list[Readiness]]:
        objects, nodes = snapshot.get("objects"), snapshot.get("nodes", ())
        if not objects:
            return pending(
                "Missing",
                f"{self._params['name']} is not there.",
                code="GPU-CR-NOTREADY",
                remedy="See who deletes it.",
            ), []
        others = [pool_nodes.judge_size(nodes, pool) for pool in self._pools]
        others += [part for pool in self._pools for part in pool_nodes.judge_devices(nodes, pool)]
        return judge(objects[0], self._asked), others

    def summarize(self, snapshot: Snapshot, failed: str = "") -> Data:
        """failed: the code that ended the wait."""
        own, others = self._judge(snapshot)
        verdict = worst([own, *others])
        state = "failed" if own.code == "GPU-CR-FAILED" else verdict.verdict
        return {
            "name": self._params["name"],
            "state": state,
            "reason": verdict.reason or own.reason,
            "message": own.message if own.is_ready else verdict.message,
            "nodes": pool_nodes.summarize_nodes(snapshot.get("nodes", ()), self._pools),
            **custom_result.summarize(
                next(iter(snapshot.get("objects") or ()), None),
                own,
                snapshot.get("nodes", ()),
                self._pools,
                failed,
            ),
        }
