# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""One judgement on the way to a working stack: a Readiness that knows its stage, its node and since when."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, replace
from itertools import compress

from ansible_collections.accelerators.openshift.plugins.module_utils._core.grace import Grace
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import Readiness
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import stages


@dataclass(frozen=True)
class Part(Readiness):
    """waits: it may be nothing but the consequence of an earlier stage."""

    stage: str = ""
    pool: str = ""
    node: str = ""
    since: str = ""
    waits: bool = False


# Beginning of a code -> the stage that alone can have it.
_OF_CODE: t.Final = {"GPU-NFD-": stages.LABELS, "GPU-NODE-": stages.LABELS, "GPU-NODES": stages.LABELS}


def part(verdict: str, reason: str = "", message: str = "", **more: t.Any) -> Part:
    return Part(verdict, reason, message, **more)


def on_node(
    verdict: str, node: dict[str, t.Any], reason: str, what: str, code: str, remedy: str, **more: t.Any
) -> Part:
    """A trouble of one node, with the line that is shown of it."""
    name = str(node["metadata"]["name"])
    line = f"{name}: {what}"
    return Part(verdict, f"{reason}:{name}", f"Node {line}", code, remedy, (line,), node=name, **more)


def placed(found: Readiness, pool: str, node: str = "") -> Part:
    """A judgement of anybody as one of this pool and node."""
    if isinstance(found, Part):
        return replace(found, pool=pool, node=node or found.node)
    stage = next((stage for start, stage in _OF_CODE.items() if found.code.startswith(start)), stages.DRIVER)
    return Part(
        found.verdict, found.reason, found.message, found.code, found.remedy, found.details, stage, pool, node
    )


def is_consequence(found: Part, parts: t.Iterable[Part], chain: stages.Chain = stages.GPU_STACK) -> bool:
    """Whether it waits for an earlier stage of its node that is not ready itself."""
    needed = chain.needs.get(found.stage, ()) if found.waits and found.node else ()
    return any(one.node == found.node and one.stage in needed and not one.is_ready for one in parts)


def hardened(patience: Grace, parts: t.Sequence[Part], chosen: t.Sequence[bool]) -> list[Part]:
    """Only what is chosen grows final when it lasts."""
    following = iter(patience.harden(compress(parts, chosen)))
    return [next(following) if one else part for part, one in zip(parts, chosen, strict=True)]
