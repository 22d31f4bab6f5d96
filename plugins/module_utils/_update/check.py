# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What was found out before an update of the cluster: one check after the other, each with a verdict, and what follows from all of them."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError

OK, UNKNOWN, WARNING, BLOCKING = "ok", "unknown", "warning", "blocking"
# From harmless to grave; unknown is what nobody can see from inside the cluster.
VERDICTS: t.Final = (OK, UNKNOWN, WARNING, BLOCKING)
NEVER: t.Final = "never"
_HEADING: t.Final = ("CHECK", "VERDICT", "WHAT")


class Check(t.NamedTuple):
    """One thing that an update needs. code: what the task fails with when this decides."""

    name: str
    verdict: str
    message: str
    remedy: str = ""
    code: str = ""
    evidence: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, t.Any]:
        return {**self._asdict(), "evidence": list(self.evidence)}


def worst(checks: t.Iterable[Check]) -> str:
    return max((check.verdict for check in checks), key=VERDICTS.index, default=OK)


def refusal(checks: t.Sequence[Check], fail_on: str) -> AcceleratorError | None:
    """The failure, where one check is as grave as fail_on or graver; the gravest decides, the first among equals."""
    if fail_on == NEVER:
        return None
    grave = [check for check in checks if VERDICTS.index(check.verdict) >= VERDICTS.index(fail_on)]
    if not grave:
        return None
    first = max(grave, key=lambda check: VERDICTS.index(check.verdict))
    others = (
        f" ({len(grave) - 1} more: {', '.join(check.name for check in grave if check is not first)})"
        if grave[1:]
        else ""
    )
    evidence = [f"{check.name}: {check.verdict}: {check.message}" for check in grave]
    return AcceleratorError(first.code, f"{first.name}: {first.message}{others}", first.remedy, evidence)


def table(checks: t.Iterable[Check]) -> list[str]:
    """For people: a line a check, its remedy below it where there is something to do."""
    rows = [_HEADING, *((check.name, check.verdict, check.message) for check in checks)]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    lines = [f"{name.ljust(first)}  {verdict.ljust(second)}  {text}" for name, verdict, text in rows]
    remedies = [
        f"{' ' * (first + second + 4)}-> {check.remedy}" if check.remedy and check.verdict != OK else ""
        for check in checks
    ]
    told = [lines[0]]
    for line, remedy in zip(lines[1:], remedies, strict=True):
        told += [line, remedy] if remedy else [line]
    return told
