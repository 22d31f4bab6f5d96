# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show a run on a terminal as steps with live lines, and its result in one sentence."""

from __future__ import annotations

DOCUMENTATION = r"""
name: progress
type: stdout
short_description: Show a run on a terminal as steps with live lines, and its result in one sentence
version_added: 1.0.0
extends_documentation_fragment: [default_callback, result_format_callback]
description:
  - On a terminal this callback shows a line for each step of a run (a role, or a task of the playbook), with
    its result and its time. Live lines say what it waits for, node by node. They are rewritten in place.
  - A failure has its code, message, what was seen, and remedy. One that a C(rescue) handled is one line. The
    last line says the result in one sentence, and how much of the time the cluster took.
  - With C(-v) the lines of progress stay. With C(-vv) or C(--step), and where standard output is no terminal
    (a pipe, AWX, C(TERM=dumb)), it is the same as Ansible's callback C(default).
requirements:
  - Enable it with C(stdout_callback = accelerators.openshift.progress) in C(ansible.cfg).
author:
  - accelerators.openshift contributors (@accelerators-openshift)
"""

import atexit
import functools
import os
import sys
import time
import typing as t
from collections import Counter
from dataclasses import dataclass

from ansible import context
from ansible.plugins.callback.default import CallbackModule as Default

from ansible_collections.accelerators.openshift.plugins.callback import verdict
from ansible_collections.accelerators.openshift.plugins.module_utils._core import redact
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import number_of, seconds
from ansible_collections.accelerators.openshift.plugins.plugin_utils._screen import Line, Screen
from ansible_collections.accelerators.openshift.plugins.plugin_utils._tasks import is_rescued, step_of

# Tasks that do nothing that a person would call a step.
_SILENT: t.Final = ("assert", "debug", "fail", "pause", "set_fact", "set_stats", "validate_argument_spec")
_RESULT: t.Final = "result - "  # begins the last line of the final table, filter gpu_table
_COLORS: t.Final = {"ok": "green", "changed": "yellow", "would change": "yellow"}


def _shown(event: t.Callable[..., t.Any], name: str = "") -> t.Callable[..., None]:
    """Leave what `event` returns False for, and everything after an exception, to the default callback."""

    @functools.wraps(event)
    def handle(self: CallbackModule, *args: t.Any, **kwargs: t.Any) -> None:
        if self._screen is not None:
            try:
                if event(self, *args, **kwargs) is not False:
                    return
            except Exception as exc:
                self._give_up(exc)
        getattr(Default, name or event.__name__)(self, *args, **kwargs)

    return handle


def _hidden(name: str) -> t.Callable[..., None]:
    return _shown(lambda *_args, **_kwargs: None, name)


@dataclass
class Step:
    """What a host does. word: the result so far, empty if a person would not call it a step."""

    key: str
    name: str
    started: float
    ended: float = 0.0
    word: str = ""


class CallbackModule(Default):  # type: ignore[misc]
    """The callback that shows steps on a terminal; elsewhere it is Ansible's default callback."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "accelerators.openshift.progress"

    def __init__(self) -> None:
        super().__init__()
        self._verdict = verdict.CallbackModule()
        self._started, self._plays, self._check, self._width = time.monotonic(), list[str](), False, 8
        self._steps: dict[str, Step] = {}
        # By host: seconds for the cluster, steps that changed something, the table's result, what failed.
        self._waited, self._changed = dict[str, float](), Counter[str]()
        self._results, self._failed = dict[str, str](), dict[str, str]()
        # All failures that nothing handled, and those of them that were shown last.
        self._open, self._told = list[tuple[str, dict[str, t.Any]]](), list[dict[str, t.Any]]()
        self._screen: Screen | None = None
        # AWX reads the terminal of ansible-runner, which has this variable.
        able = os.environ.get("TERM", "") not in ("", "dumb") and "AWX_ISOLATED_DATA_DIR" not in os.environ
        if able and sys.stdout.isatty() and self._display.verbosity < 2 and not context.CLIARGS.get("step"):
            self._screen = Screen(self._display, self._live)
            atexit.register(self._stop)

    v2_playbook_on_task_start = _hidden("v2_playbook_on_task_start")
    v2_playbook_on_handler_task_start = _hidden("v2_playbook_on_handler_task_start")
    v2_playbook_on_include = _hidden("v2_playbook_on_include")
    v2_playbook_on_no_hosts_remaining = _hidden("v2_playbook_on_no_hosts_remaining")
    v2_runner_item_on_skipped = _hidden("v2_runner_item_on_skipped")
    v2_runner_on_skipped = _hidden("v2_runner_on_skipped")

    @_shown
    def v2_playbook_on_play_start(self, play: t.Any) -> None:
        """Show the name of the play."""
        self._close(*self._steps)
        self._play, self._check = play, bool(play.check_mode)  # the default callback needs the play
        self._width = 13 if self._check else 8
        self._plays.append(play.get_name().strip())
        self._say((f"{self._plays[-1]} (check mode)" if self._check else self._plays[-1], None))

    @_shown
    def v2_runner_on_start(self, host: t.Any, task: t.Any) -> None:
        """Begin the step of the task, unless the host is in it."""
        self._step(host.get_name(), task)
        t.cast(Screen, self._screen).redraw()

    @_shown
    def v2_runner_on_ok(self, result: t.Any) -> bool:
        """Add the result to its step, and show a message."""
        self._verdict.v2_runner_on_ok(result)
        self._note(result)
        return "results" in verdict.facts_of(result) or self._message(result)

    @_shown
    def v2_runner_item_on_failed(self, result: t.Any) -> bool:
        """Let the default callback show an item without a code; the task shows the others."""
        return bool(verdict.coded(result))

    @_shown
    def v2_runner_on_failed(self, result: t.Any, ignore_errors: bool = False) -> bool:
        """Show a failure with its code and remedy, or in one line if something handles it."""
        self._verdict.v2_runner_on_failed(result, ignore_errors)
        host, found, step = verdict.host_of(result), verdict.coded(result), self._note(result)
        if ignore_errors or is_rescued(verdict.task_of(result)):
            message = (found or [verdict.facts_of(result)])[0].get("msg", "")
            self._say((redact.line(f'{self._of(host)}handled in "{step.name}": {message}'), "yellow"))
            return True
        self._fail(host, step, "failed", *(failure["code"] for failure in found[:1]))
        self._say(*(line for failure in found for line in verdict.lines(host, failure, seen=True)))
        self._told, self._open = found, [*self._open, *((host, failure) for failure in found)]
        return bool(found)

    @_shown
    def v2_runner_on_unreachable(self, result: t.Any) -> bool:
        """End the step; the default callback says why."""
        self._fail(verdict.host_of(result), self._note(result), "unreachable")
        return False

    @_shown
    def v2_playbook_on_stats(self, stats: t.Any) -> None:
        """Show failures again that other lines follow, and the result of the run for each host."""
        self._close(*self._steps)
        failures = [(host, failure) for host, failure in self._open if failure not in self._told]
        self._say(*(line for host, failure in failures for line in verdict.lines(host, failure)), ("", None))
        for host in self._waited:
            self._say((self._of(host) + self._sentence(host), "red" if host in self._failed else "green"))
        self._say(*self._verdict.summary(stats))

    def _step(self, host: str, task: t.Any) -> Step:
        key, name = step_of(task)
        if host not in self._steps or self._steps[host].key != key:
            self._close(host)
            self._steps[host] = Step(key, redact.line(name), time.monotonic())
            self._waited.setdefault(host, 0.0)
        return self._steps[host]

    def _note(self, result: t.Any) -> Step:
        """Add a result to its step and to its host."""
        host, task, facts = verdict.host_of(result), verdict.task_of(result), verdict.facts_of(result)
        step = self._step(host, task)
        step.ended = time.monotonic()
        t.cast(Screen, self._screen).awaits.pop(host, None)
        self._handle_warnings(facts)
        self._waited[host] += sum(float(part.get("waited") or 0) for part in verdict.parts_of(result))
        if _action(task) not in _SILENT and not _action(task).startswith("include_"):
            changed = "would change" if task.check_mode else "changed"
            step.word = changed if facts.get("changed") else step.word or "ok"
        return step

    def _message(self, result: t.Any) -> bool:
        """Show the lines of a debug task. Return False for a message that is no text."""
        if _action(verdict.task_of(result)) != "debug":
            return True
        host, message = verdict.host_of(result), verdict.facts_of(result).get("msg")
        lines = message.splitlines() if isinstance(message, str) else message
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            return False
        if lines and lines[-1].startswith(_RESULT):
            self._results[host], lines = lines[-1].removeprefix(_RESULT), lines[:-1]
        self._say(("\n".join(["", *(redact.clean(self._of(host) + line) for line in lines)]), None))
        return True

    v2_runner_item_on_ok = _shown(_message, "v2_runner_item_on_ok")

    def _fail(self, host: str, step: Step, word: str, code: str = "") -> None:
        step.word = word
        self._failed.setdefault(host, f'"{step.name}"{code and f" ({code})"}')
        self._close(host)

    def _close(self, *hosts: str) -> None:
        """Show the result of each host's step, if a person would call it one."""
        for host in hosts:
            step = self._steps.pop(host, None)
            if step is not None and step.word:
                self._changed[host] += step.word in ("changed", "would change")
                self._say((self._row(step, host, step.ended, step.word), _COLORS.get(step.word, "red")))

    def _row(self, step: Step, host: str, until: float, word: str) -> str:
        return f"{word:<{self._width}}{seconds(until - step.started):>10}  {self._of(host)}{step.name}"

    def _live(self) -> list[Line]:
        now, lines, awaits = time.monotonic(), list[Line](), self._screen.awaits if self._screen else {}
        for host, step in list(self._steps.items()):
            lines.append((self._row(step, host, now, "running"), "normal"))
            lines += [(f"{'':{self._width}}{self._of(host)}{line}", "cyan") for line in awaits.get(host, ())]
        return lines

    def _sentence(self, host: str) -> str:
        took, play = seconds(time.monotonic() - self._started), " and ".join(self._plays)
        cluster = f"; the cluster took {seconds(self._waited[host])} of it" if self._waited[host] else ""
        if host in self._failed:
            return f"{play} failed after {took} in {self._failed[host]}{cluster}."
        verb, number = "would change" if self._check else "changed", self._changed[host]
        did = f"{number_of(number, 'step')} {verb} something" if number else f"nothing {verb}"
        return f"{self._results.get(host, f'{play}: {did}')} in {took}{cluster}."

    def _say(self, *lines: tuple[str, str | None]) -> None:
        self._told = []
        for text, color in lines:
            self._display.display(text, color=color)

    def _of(self, host: str) -> str:
        return f"{host}: " if len(self._waited) > 1 else ""

    def _give_up(self, exc: Exception) -> None:
        """Leave the rest of the run to Ansible's default callback."""
        t.cast(Screen, self._screen).close()
        self._screen = None
        self._display.warning(f"The callback progress stopped ({exc!r}): Ansible's callback default goes on.")

    def _stop(self) -> None:
        """Show at the end of the process which steps an interrupted run was in."""
        if self._screen is not None:
            self._screen.close()
            for host, step in self._steps.items():
                self._say((self._row(step, host, time.monotonic(), "stopped"), "red"))


def _action(task: t.Any) -> str:
    return str(task.action).rpartition(".")[2]
