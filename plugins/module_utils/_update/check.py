# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks before an update of the cluster: each has a verdict, and the worst one decides."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError, text_of

OK, UNKNOWN, WARNING, BLOCKING = "ok", "unknown", "warning", "blocking"
# From mild to severe. unknown: nothing inside the cluster can tell.
VERDICTS: t.Final = (OK, UNKNOWN, WARNING, BLOCKING)
NEVER: t.Final = "never"
_HEADING: t.Final = ("CHECK", "VERDICT", "WHAT")


class Check(t.NamedTuple):
    """The outcome of one check. code: the task's error code if this check decides."""

    name: str
    verdict: str
    message: str
    remedy: str = ""
    code: str = ""
    evidence: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, code: str, name: str, verdict: str, evidence: t.Iterable[str] = (), **facts: object
    ) -> t.Self:
        """Return the check with the text of its code. facts: what the text needs."""
        text = text_of(code, **facts)
        return cls(name, verdict, text.message.removesuffix("."), text.remedy, code, tuple(evidence))

    def as_result(self) -> dict[str, t.Any]:
        """Return the check as the module returns it."""
        return {**self._asdict(), "evidence": list(self.evidence)}


def worst(checks: t.Iterable[Check]) -> str:
    """Return the most severe verdict; ok without checks."""
    return max((check.verdict for check in checks), key=VERDICTS.index, default=OK)


def refusal(checks: t.Sequence[Check], fail_on: str) -> AcceleratorError | None:
    """Return the task's error if a check is as severe as fail_on, else None.

    The most severe check decides, and the first of several.
    """
    if fail_on == NEVER:
        return None
    severe = [check for check in checks if VERDICTS.index(check.verdict) >= VERDICTS.index(fail_on)]
    if not severe:
        return None
    first = max(severe, key=lambda check: VERDICTS.index(check.verdict))
    names = ", ".join(check.name for check in severe if check is not first)
    others = f" ({len(severe) - 1} more: {names})" if severe[1:] else ""
    evidence = [f"{check.name}: {check.verdict}: {check.message}" for check in severe]
    return AcceleratorError(first.code, f"{first.name}: {first.message}{others}", first.remedy, evidence)


def table(checks: t.Iterable[Check]) -> list[str]:
    """Return the checks as text: a line for each, and its remedy below it unless it is ok."""
    checks = list(checks)
    rows = [_HEADING, *((check.name, check.verdict, check.message) for check in checks)]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    heading, *lines = [
        f"{name.ljust(first)}  {verdict.ljust(second)}  {text}" for name, verdict, text in rows
    ]
    found = [heading]
    for line, check in zip(lines, checks, strict=True):
        found.append(line)
        if check.remedy and check.verdict != OK:
            found.append(f"{' ' * (first + second + 4)}-> {check.remedy}")
    return found
