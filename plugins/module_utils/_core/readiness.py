# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Readiness: a judge's verdict about live objects, and the grace for troubles that can pass by themselves."""

from __future__ import annotations

import dataclasses
import re
import typing as t
from dataclasses import dataclass, field

from .errors import text_of

READY = "ready"
PENDING = "pending"
FAILED = "failed"
_ORDER = (FAILED, PENDING, READY)
# More lines than this are summed up.
MANY: t.Final = 20
# What tells two objects apart: words with a digit, such as names of nodes, and numbers.
_NAME: t.Final = re.compile(r"\S*\d\S*")


@dataclass(frozen=True)
class Readiness:
    """A judge's verdict with its reason.

    verdict: C(ready), C(pending) or C(failed); C(failed) ends a wait at once.
    reason: one CamelCase word, from the API if it has one. message: one sentence for a person.
    code: the error code if the verdict is C(failed), or if the wait times out (docs/errors.md).
    remedy: one command or one setting.
    details: one line for each node, machine or operand; they become the evidence of an error.
    held: seconds for which the objects have been as they are, if they tell.
    """

    verdict: str
    reason: str = ""
    message: str = ""
    code: str = ""
    remedy: str = ""
    details: tuple[str, ...] = field(default=())
    held: float = field(default=0.0, kw_only=True)

    @property
    def is_ready(self) -> bool:
        return self.verdict == READY

    @property
    def is_failed(self) -> bool:
        return self.verdict == FAILED


def ready(reason: str = "", message: str = "", **more: t.Any) -> Readiness:
    return Readiness(READY, reason, message, **more)


def pending(reason: str = "", message: str = "", **more: t.Any) -> Readiness:
    return Readiness(PENDING, reason, message, **more)


def failed(reason: str = "", message: str = "", **more: t.Any) -> Readiness:
    return Readiness(FAILED, reason, message, **more)


def at_node(name: str, reason: str, what: str, code: str, remedy: str, verdict: str = PENDING) -> Readiness:
    """Return a verdict about the node of this name, with its line for people."""
    line = f"{name}: {what}"
    return Readiness(verdict, f"{reason}:{name}", f"Node {line}.", code, remedy, (line,))


def about_node(code: str, *, node: str, **facts: object) -> tuple[str, str, str]:
    """Return what is wrong with the node, the code and the remedy, from the code's text."""
    text = text_of(code, node=node, **facts)
    return text.message.removeprefix(f"Node {node}: ").removesuffix("."), code, text.remedy


def worst(parts: t.Sequence[Readiness]) -> Readiness:
    """Return the first failed, else the first pending, else a ready verdict, with the details of all."""
    if not parts:
        return ready()
    decisive = min(parts, key=lambda part: _ORDER.index(part.verdict))
    details = tuple(line for part in parts for line in part.details)
    return Readiness(
        decisive.verdict, decisive.reason, decisive.message, decisive.code, decisive.remedy, details
    )


Judged = t.TypeVar("Judged", bound=Readiness)


class Grace:
    """A clock that turns a pending verdict into a failed one after `seconds` of the same trouble.

    clock: returns monotonic seconds. codes: the codes that can become failed; all others stay pending.
    own: code -> seconds, for codes whose time is another one.
    """

    def __init__(
        self,
        clock: t.Callable[[], float],
        seconds: float,
        codes: t.Iterable[str],
        own: t.Mapping[str, float] | None = None,
    ) -> None:
        self._clock = clock
        self._seconds = seconds
        self._own = own or {}
        self._codes = frozenset(codes)
        self._since: dict[tuple[str, str], float] = {}

    def harden(self, verdicts: t.Iterable[Judged]) -> list[Judged]:
        """Return the verdicts in their order. Those whose trouble has lasted for `seconds` are failed.

        A trouble that is missing in one call starts again at zero in a later call.
        """
        now = self._clock()
        since: dict[tuple[str, str], float] = {}
        hardened = []
        for verdict in verdicts:
            if verdict.verdict == PENDING and verdict.code in self._codes:
                key = (verdict.code, verdict.reason)
                since[key] = self._since.get(key, now)
                if now - since[key] >= self._own.get(verdict.code, self._seconds):
                    verdict = dataclasses.replace(verdict, verdict=FAILED)
            hardened.append(verdict)
        self._since = since
        return hardened


def first_own(grace: Grace, own: t.Sequence[Readiness], others: t.Sequence[Readiness]) -> Readiness:
    """Return the worst verdict. The grace of the others begins once all of one's own are ready."""
    if worst(own).is_ready:
        return worst(grace.harden([*own, *others]))
    return worst([*grace.harden(own), *others])


def kinds(lines: t.Iterable[str]) -> dict[str, list[str]]:
    """Return the lines by what they say, without names and numbers."""
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(_NAME.sub("*", line), []).append(line)
    return found


def short(lines: t.Sequence[str]) -> dict[str, str]:
    """Return the lines to show, by what they say.

    Few lines stay as they are, each by itself. Of many lines that differ only in names and numbers, the first
    is shown with the number of lines.
    """
    if len(lines) <= MANY:
        return {line: line for line in lines}
    return {
        kind: same[0] if len(same) == 1 else f"{len(same)} such as: {same[0]}"
        for kind, same in kinds(lines).items()
    }
