# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pools of a run that fail while its other pools go on."""

from __future__ import annotations

import contextlib
import typing as t
from dataclasses import dataclass, field

from .._core.errors import AcceleratorError, NotReadyError, WaitTimeoutError
from .._core.readiness import Grace, Readiness, worst

# Seconds that the other pools have at least after one pool used up the time of the task.
REST: t.Final = 120.0


def _nothing() -> None:
    """Do nothing."""


@dataclass
class Late:
    """The pools whose waits failed. A judge leaves them out from then on.

    go_on: the run goes on with its other pools, and fails at its end. extend: gives the task more time.
    titles: the names of their objects, `gpu-NAME`. errors: what ended their waits, the first one first.
    """

    go_on: bool = False
    extend: t.Callable[[], None] = _nothing
    titles: set[str] = field(default_factory=set)
    errors: list[AcceleratorError] = field(default_factory=list)

    @contextlib.contextmanager
    def hold(self, verdicts: t.Mapping[str, Readiness]) -> t.Iterator[None]:
        """Keep the error of a wait for the end of the run if its other pools go on; else raise it.

        verdicts: of the last look of the wait, by object_name. The pools that failed are late, and after the
        deadline all that are not ready.
        """
        try:
            yield
        except (NotReadyError, WaitTimeoutError) as exc:
            left = {
                object_name: one for object_name, one in verdicts.items() if object_name not in self.titles
            }
            failed = {object_name for object_name, one in left.items() if one.is_failed}
            late = failed or {object_name for object_name, one in left.items() if not one.is_ready}
            if not (self.go_on and late):
                raise
            self.titles |= late
            self.errors.append(exc)
            if isinstance(exc, WaitTimeoutError):
                self.extend()

    def raise_if_any(self) -> None:
        """Raise the first error, with the message and evidence of the others."""
        if not self.errors:
            return
        first, *others = self.errors
        for other in others:
            first.message += f" {other.code}: {other.message}"
            first.evidence += other.evidence
        raise first


def by_pool(
    grace: Grace,
    found: t.Iterable[tuple[str, Readiness]],
    late: t.Collection[str],
    verdicts: dict[str, Readiness],
) -> list[Readiness]:
    """Return the findings about pools that are not late, and keep the worst of each pool in verdicts.

    found: the name of a pool, and a finding about it. grace: makes lasting troubles failed.
    """
    own = [one for one in found if one[0] not in late]
    hardened = grace.harden(one for _title, one in own)
    parts: dict[str, list[Readiness]] = {}
    for (object_name, _finding), one in zip(own, hardened, strict=True):
        parts.setdefault(object_name, []).append(one)
    verdicts.update({object_name: worst(both) for object_name, both in parts.items()})
    return hardened
