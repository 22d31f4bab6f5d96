# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""A finding: a verdict on one part of a stack, with its stage, pool, node and time."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, replace

from .._core.objects import KubeObject, name
from .._core.readiness import Readiness
from . import stages


@dataclass(frozen=True)
class Finding(Readiness):
    """A verdict with its place.

    stage, pool, node: empty if the finding belongs to none. since: an RFC 3339 time, or empty.
    waits: the trouble may be only the consequence of an earlier stage.
    """

    stage: str = ""
    pool: str = ""
    node: str = ""
    since: str = ""
    waits: bool = False


# Prefix of a code -> the stage of every finding with such a code.
_STAGE_OF_CODE: t.Final = {
    "GPU-NFD-": stages.LABELS,
    "GPU-NODE-": stages.LABELS,
    "GPU-NODES": stages.LABELS,
}


def on_object(
    verdict: str, reason: str = "", message: str = "", code: str = "", remedy: str = "", **more: t.Any
) -> Finding:
    """Return a finding about the custom resource itself.

    more: other fields; the stage is `crd` by default.
    """
    return Finding(verdict, reason, message, code, remedy, **{"stage": stages.CRD, **more})


def on_node(
    verdict: str, node: KubeObject, reason: str, what: str, code: str, remedy: str, **more: t.Any
) -> Finding:
    """Return a finding about one node, with its line for the user. more: other fields."""
    line = f"{name(node)}: {what}"
    return Finding(
        verdict, f"{reason}:{name(node)}", f"Node {line}", code, remedy, (line,), node=name(node), **more
    )


def as_finding(
    found: Readiness, stage: str, pool: str = "", node: str = "", *, waits: bool = False
) -> Finding:
    """Return a judgement as a finding of this stage, pool and node."""
    return Finding(
        found.verdict,
        found.reason,
        found.message,
        found.code,
        found.remedy,
        found.details,
        stage,
        pool,
        node,
        waits=waits,
    )


def placed(found: Readiness, pool: str, node: str = "") -> Finding:
    """Return a judgement as a finding of this pool and node; its code gives the stage if it has none."""
    if isinstance(found, Finding):
        return replace(found, pool=pool, node=node or found.node)
    starts = (stage for start, stage in _STAGE_OF_CODE.items() if found.code.startswith(start))
    return as_finding(found, next(starts, stages.DRIVER), pool, node)


def is_consequence(found: Finding, findings: t.Iterable[Finding], chain: stages.Chain) -> bool:
    """Return whether the finding waits for an earlier stage of its node that is not ready itself."""
    needed = chain.needs.get(found.stage, ()) if found.waits and found.node else ()
    return any(one.node == found.node and one.stage in needed and not one.is_ready for one in findings)
