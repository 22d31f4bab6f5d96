# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks run by ansible-runner as users run them, and modules called without Ansible.

Both give the result and the times of every task.
"""

from __future__ import annotations

import datetime
import importlib
import json
import os
import sys
import typing as t
from dataclasses import dataclass
from pathlib import Path

import ansible_runner
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import execute
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _in_process

Data = dict[str, t.Any]

ROOT: t.Final = Path(__file__).resolve().parents[2]
FINISHED: t.Final = {"runner_on_ok", "runner_on_failed", "runner_on_skipped", "runner_on_unreachable"}
ORDINARY: t.Final = {"ACCELERATORS_IN_PROCESS": "0"}
MODULES: t.Final = "ansible_collections.accelerators.openshift.plugins.modules"


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


def call(kubeconfig: Path, module: str, check: bool = False, **options: t.Any) -> TaskResult:
    """Call a module's function as the action plugin does, in this process and without Ansible.

    Return its result, which may be a failure.
    """
    found = importlib.import_module(f"{MODULES}.{module}")

    def ensure(api: t.Any, params: Data) -> Data:
        result: Data = found.ensure(api, params)
        # A run holds its lease until its process ends, and this process goes on.
        api.guard.let_go()
        return result

    start = _now()
    arguments = json.loads(json.dumps({"kubeconfig": str(kubeconfig), **options}))
    params, wrong = _in_process._validated(found.SPEC, arguments, module, {})
    result = json.loads(json.dumps(wrong or execute(module, ensure, params, check, diff=False)))
    return TaskResult(module, result, bool(result.get("failed")), False, start, _now())


class Playbook:
    """A runner of modules, tasks and playbooks against one cluster."""

    def __init__(self, directory: Path, kubeconfig: Path, limit: int = 600) -> None:
        """limit: seconds after which ansible-runner ends a run, with the return code 254."""
        self.limit = limit
        self.directory = directory
        self.kubeconfig = kubeconfig
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

    def module(self, module: str, check: bool = False, **options: t.Any) -> TaskResult:
        """Call a module's function; `call` says how."""
        return call(self.kubeconfig, module, check, **options)

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
            "ANSIBLE_HOME": str(self.directory / "ansible-home"),
            "ANSIBLE_FORCE_COLOR": "0",
            "ANSIBLE_LOCALHOST_WARNING": "0",
            "ANSIBLE_PIPELINING": "1",
            "K8S_AUTH_KUBECONFIG": "",
            "KUBECONFIG": str(self.kubeconfig),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        }


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


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _moment(text: str) -> datetime.datetime:
    moment = datetime.datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
