# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeat the failure in the last lines of a run."""

from __future__ import annotations

DOCUMENTATION = r"""
name: verdict
type: aggregate
short_description: Repeat code, message and remedy of a failure in the last lines of a run
version_added: 1.0.0
description:
  - The modules of this collection fail with a stable code, a message and a remedy. Ansible prints them in the
    middle of its output.
  - This callback repeats them below the recap, where users see them.
  - A failure that a C(rescue) handled is shown only if the host failed later as well.
  - If a run works for several clusters, or for those that C(--limit) chose, the last line says how many are
    done, and which failed with which code.
  - A task of a playbook, such as C(ansible.builtin.assert), fails the same way if its message begins with an
    error code of this collection and a colon. The remedy is then that of the code.
  - If a driver stack does not become ready, the callback first shows the stages. They say which stage is the
    cause, since when, and which stages only wait for it.
requirements:
  - Enable it with C(callbacks_enabled = accelerators.openshift.verdict) in C(ansible.cfg).
author:
  - accelerators.openshift contributors (@accelerators-openshift)
"""

import re
import typing as t

from ansible import context
from ansible.plugins.callback import CallbackBase

from ansible_collections.accelerators.openshift.plugins.module_utils._core import redact
from ansible_collections.accelerators.openshift.plugins.plugin_utils._screen import Line, Screen
from ansible_collections.accelerators.openshift.plugins.plugin_utils._tasks import is_rescued

_OURS: t.Final = "accelerators.openshift."
_CODED: t.Final = re.compile(r"([A-Z]+(?:-[A-Z0-9]+)+): (.*)", re.DOTALL)


class CallbackModule(CallbackBase):  # type: ignore[misc]
    """The callback that shows each failure with an error code again at the end of a run."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "accelerators.openshift.verdict"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._failures: list[tuple[str, dict[str, t.Any]]] = []
        self._clusters: set[str] = set()
        # Hosts with a failure that nothing rescued.
        self._failed: set[str] = set()

    def v2_runner_on_ok(self, result: t.Any) -> None:
        """Store the host if a module of this collection ran for it."""
        self._see(result)

    def v2_runner_on_failed(self, result: t.Any, ignore_errors: bool = False) -> None:
        """Store a failed result with an error code, or a loop's failed items, unless errors are ignored."""
        self._see(result)
        if ignore_errors:
            return
        if not is_rescued(task_of(result)):
            self._failed.add(host_of(result))
        self._failures += [(host_of(result), failure) for failure in coded(result)]

    def v2_playbook_on_stats(self, stats: t.Any) -> None:
        """Display the stored failures: lines of the stack, code, message and remedy; then a summary."""
        if Screen.active is None:  # else the callback progress does
            shown = [line for host, failure in self._left() for line in lines(host, failure)]
            for text, color in [*shown, *self.summary(stats)]:
                self._display.display(text, color=color)

    def _left(self) -> list[tuple[str, dict[str, t.Any]]]:
        """Return hosts and failures, without hosts for which a rescue handled all."""
        self._failures = [one for one in self._failures if one[0] in self._failed]
        return self._failures

    def _see(self, result: t.Any) -> None:
        if str(task_of(result).action).startswith(_OURS):
            self._clusters.add(host_of(result))

    def summary(self, stats: t.Any) -> t.Iterator[Line]:
        """Yield how many clusters the run worked for, and those that failed, with their first code."""
        if not (len(self._clusters) > 1 or (self._clusters and context.CLIARGS.get("subset"))):
            return
        ends = {name: stats.summarize(name) for name in sorted(self._clusters)}
        codes = {name: failure["code"] for name, failure in reversed(self._left())}
        bad = [name for name, end in ends.items() if end["failures"] or end["unreachable"]]
        changed = [name for name, end in ends.items() if end["changed"] and name not in bad]
        done = f"{len(ends) - len(bad)} done ({len(changed)} changed)"
        line = f"{len(ends)} {'cluster' if len(ends) == 1 else 'clusters'}: {done}, {len(bad)} failed"
        told = ", ".join(f"{name} ({codes[name]})" if name in codes else name for name in bad)
        yield f"{line}: {told}" if bad else line, "red" if bad else "green"


def lines(host: str, failure: dict[str, t.Any], seen: bool = False) -> t.Iterator[Line]:
    """Yield lines of the stack, code and message, what the task saw if that is wanted, and the remedy."""
    for line in (failure.get("special_resource") or {}).get("table") or []:
        yield redact.line(f"{host}: {line}"), "yellow"
    message = redact.message(str(failure.get("message", failure.get("msg", ""))))
    yield f"{host}: {failure['code']}: {message}", "red"
    for line in [line for line in failure.get("evidence") or [] if seen and line not in message][:10]:
        yield redact.line(f"Seen: {line}"), "yellow"
    if failure.get("remedy"):
        yield f"Remedy: {redact.message(str(failure['remedy']), redact.TEXT)}", "red"


# Before ansible-core 2.19 a result has only the names with an underscore.
def host_of(result: t.Any) -> str:
    host = result.host if hasattr(result, "host") else result._host
    return str(host.get_name())


def task_of(result: t.Any) -> t.Any:
    return result.task if hasattr(result, "task") else result._task


def facts_of(result: t.Any) -> dict[str, t.Any]:
    return t.cast(dict[str, t.Any], result.result if hasattr(result, "result") else result._result)


def parts_of(result: t.Any) -> list[dict[str, t.Any]]:
    """Return the facts of a result, or of the items of a loop."""
    facts = facts_of(result)
    return [item for item in facts.get("results") or () if isinstance(item, dict)] or [facts]


def coded(result: t.Any) -> list[dict[str, t.Any]]:
    """Return the failures of a result, or of its items, that have an error code."""
    failed = [item for item in parts_of(result) if item.get("failed")] or [facts_of(result)]
    return [item for item in map(_coded, failed) if item.get("code")]


def _coded(failure: dict[str, t.Any]) -> dict[str, t.Any]:
    """Return the failure with code, message and remedy if only its text begins with a code."""
    found = None if failure.get("code") else _CODED.match(str(failure.get("msg", "")))
    if found is None:
        return failure
    # Every ansible-playbook loads this file at its start, and few of them need the registry.
    from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.registry import CODES

    if found[1] not in CODES:
        return failure
    remedy = CODES[found[1]].remedy
    # The text of a code names what only the failure knows.
    remedy = "" if "{" in remedy or remedy.replace("`", "") in found[2].replace("`", "") else remedy
    return {**failure, "code": found[1], "message": found[2], "remedy": remedy}
