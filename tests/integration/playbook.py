# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks run by ansible-runner as users run them, with the result and the times of every task."""

from __future__ import annotations

import datetime
import os
import sys
import typing as t
from dataclasses import dataclass
from pathlib import Path

import ansible_runner
import yaml

Data = dict[str, t.Any]

ROOT: t.Final = Path(__file__).resolve().parents[2]
FINISHED: t.Final = {"runner_on_ok", "runner_on_failed", "runner_on_skipped", "runner_on_unreachable"}
ORDINARY: t.Final = {"ACCELERATORS_IN_PROCESS": "0"}


@dataclass(frozen=True)
class TaskResult:
    """The result of one task on one host.

    start and end are compared with the times in the audit log.
    """

    name: str
    result: Data
    failed: bool
    skipped: bool
    start: datetime.datetime
    end: datetime.datetime

    @property
    def changed(self) -> bool:
        return bool(self.result.get("changed"))

    def __getitem__(self, key: str) -> t.Any:
        assert key in self.result, self.result
        return self.result[key]


@dataclass(frozen=True)
class Run:
    """A playbook that has ended."""

    rc: int
    output: str
    tasks: list[TaskResult]

    @property
    def changed(self) -> int:
        return sum(task.changed for task in self.tasks)

    @property
    def failure(self) -> TaskResult:
        """The task that ended the run."""
        return next(task for task in reversed(self.tasks) if task.failed)


class Playbook:
    """A runner of tasks and playbooks against one cluster."""

    def __init__(
        self, directory: Path, kubeconfig: Path, program: Path | None = None, limit: int = 600
    ) -> None:
        """program: replaces ansible-playbook; Playbooks with the same program share Ansible's home.

        limit: seconds after which ansible-runner ends a run, with the return code 254.
        """
        self.limit = limit
        self.directory = directory
        self.kubeconfig = kubeconfig
        self.program = program
        self._runs = 0

    def tasks(
        self,
        *tasks: Data,
        in_process: bool = True,
        kubeconfig: Path | None = None,
        defaults: Data | str | None = None,
        cmdline: str = "",
    ) -> Run:
        """Run these tasks in one play; without `in_process` run the modules as programs.

        defaults: connection options that replace the kubeconfig.
        """
        play = {
            "hosts": "localhost",
            "gather_facts": False,
            "module_defaults": {
                "group/accelerators.openshift.gpu": defaults
                or {"kubeconfig": str(kubeconfig or self.kubeconfig)}
            },
            "environment": {} if in_process else ORDINARY,
            "tasks": list(tasks),
        }
        return self._run([play], cmdline)

    def module(
        self, module: str, in_process: bool = True, check: bool = False, **options: t.Any
    ) -> TaskResult:
        """Run one task and return its result, which may be a failure."""
        run = self.tasks(
            {"name": module, f"accelerators.openshift.{module}": options, "check_mode": check},
            in_process=in_process,
        )
        assert run.tasks, f"the run ended with {run.rc}, and its task did not:\n{run.output[-3000:]}"
        return run.tasks[-1]

    def playbook(self, name: str, *arguments: str, **extra_vars: t.Any) -> Run:
        """Run a playbook of the collection from the checkout."""
        return self._run(ROOT / "playbooks" / f"{name}.yml", " ".join(arguments), extra_vars)

    def file(self, playbook: Path) -> Run:
        """Run a playbook that a test has written."""
        return self._run(playbook)

    def _run(self, playbook: Path | list[Data], cmdline: str = "", extra_vars: Data | None = None) -> Run:
        self._runs += 1
        private = self.directory / f"run-{self._runs}"
        (private / "project").mkdir(parents=True)
        if isinstance(playbook, list):
            (private / "project" / "tasks.yml").write_text(yaml.safe_dump(playbook))
            playbook = Path("tasks.yml")
        runner = ansible_runner.run(
            private_data_dir=str(private),
            playbook=str(playbook),
            inventory={
                "all": {
                    "hosts": {
                        "localhost": {
                            "ansible_connection": "local",
                            "ansible_python_interpreter": sys.executable,
                        }
                    }
                }
            },
            envvars=self._environment(),
            cmdline=cmdline or None,
            extravars=extra_vars or None,
            quiet=True,
            timeout=self.limit,
        )
        results = [task for task in map(_task, runner.events) if task is not None]
        return Run(runner.rc, runner.stdout.read(), results)

    def _environment(self) -> dict[str, str]:
        return {
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
            "ANSIBLE_HOME": str((self.program.parent if self.program else self.directory) / "ansible-home"),
            "ANSIBLE_FORCE_COLOR": "0",
            "ANSIBLE_LOCALHOST_WARNING": "0",
            "ANSIBLE_PIPELINING": "1",
            "K8S_AUTH_KUBECONFIG": "",
            "KUBECONFIG": str(self.kubeconfig),
            "PATH": os.pathsep.join([*self._programs(), os.environ["PATH"]]),
        }

    def _programs(self) -> list[str]:
        """Return the folders that come first in PATH."""
        return [*([str(self.program.parent)] if self.program else []), str(Path(sys.executable).parent)]


def _task(event: Data) -> TaskResult | None:
    if event["event"] not in FINISHED:
        return None
    data = event["event_data"]
    return TaskResult(
        name=str(data.get("task")),
        result=data.get("res") or {},
        failed=event["event"] in ("runner_on_failed", "runner_on_unreachable"),
        skipped=event["event"] == "runner_on_skipped",
        start=_moment(data["start"]),
        end=_moment(data["end"]),
    )


def _moment(text: str) -> datetime.datetime:
    moment = datetime.datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
