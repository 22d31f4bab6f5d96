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
        if not is_rescued(_task(result)):
            self._failed.add(_host(result))
        # Before ansible-core 2.19 both have only the names with an underscore.
        facts = result.result if hasattr(result, "result") else result._result
        items = [item for item in facts.get("results", []) if isinstance(item, dict)]
        failed = [item for item in items if item.get("failed")] or [facts]
        self._failures += [(_host(result), item) for item in map(_coded, failed) if item.get("code")]

    def v2_playbook_on_stats(self, stats: t.Any) -> None:
        """Display the stored failures: lines of the stack, code, message and remedy; then a summary."""
        self._failures = [one for one in self._failures if one[0] in self._failed]
        for host, failure in self._failures:
            for line in (failure.get("special_resource") or {}).get("lines") or []:
                self._display.display(redact.line(f"{host}: {line}"), color="yellow")
            message = redact.message(str(failure.get("message", failure.get("msg", ""))))
            self._display.display(f"{host}: {failure['code']}: {message}", color="red")
            if failure.get("remedy"):
                remedy = redact.message(str(failure["remedy"]), redact.TEXT)
                self._display.display(f"Remedy: {remedy}", color="red")
        if len(self._clusters) > 1 or (self._clusters and context.CLIARGS.get("subset")):
            self._summarize(stats)

    def _see(self, result: t.Any) -> None:
        if str(_task(result).action).startswith(_OURS):
            self._clusters.add(_host(result))

    def _summarize(self, stats: t.Any) -> None:
        """Display how many clusters the run worked for, and those that failed, with their first code."""
        ends = {name: stats.summarize(name) for name in sorted(self._clusters)}
        codes = {name: failure["code"] for name, failure in reversed(self._failures)}
        bad = [name for name, end in ends.items() if end["failures"] or end["unreachable"]]
        changed = [name for name, end in ends.items() if end["changed"] and name not in bad]
        done = f"{len(ends) - len(bad)} done ({len(changed)} changed)"
        line = f"{len(ends)} {'cluster' if len(ends) == 1 else 'clusters'}: {done}, {len(bad)} failed"
        told = ", ".join(f"{name} ({codes[name]})" if name in codes else name for name in bad)
        self._display.display(f"{line}: {told}" if bad else line, color="red" if bad else "green")


def _host(result: t.Any) -> str:
    host = result.host if hasattr(result, "host") else result._host
    return str(host.get_name())


def _task(result: t.Any) -> t.Any:
    return result.task if hasattr(result, "task") else result._task


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
