# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this plugin util is for the collection's own plugins and can change without notice.
"""Run a module's function in Ansible's worker if that has the same effect, else run an ordinary module.

Ansible needs ten times as long to pack, start and import a module as for a call in the worker
(benchmarks/README.md, rows 3 and 4). The effect is the same if the module would run on this machine, as this
user, with this Python and this environment, while Ansible waits for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import sys
import typing as t
from pathlib import Path

from ansible import constants, context
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible.utils.vars import load_extra_vars

from ansible_collections.accelerators.openshift.plugins.module_utils._core import redact, secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import nested, process
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import AUTH, ArgumentSpec
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import (
    Keep,
    Show,
    complaint,
    execute,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.session import Applied
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _inputs
from ansible_collections.accelerators.openshift.plugins.plugin_utils._preload import preload
from ansible_collections.accelerators.openshift.plugins.plugin_utils._screen import Screen
from ansible_collections.accelerators.openshift.plugins.plugin_utils._tasks import playbook_of, tags_beside

_MODULES = "ansible_collections.accelerators.openshift.plugins.modules"
_AUTOMATIC = ("auto", "auto_silent", "auto_legacy", "auto_legacy_silent")
# Ansible's parent process loads the packages here, once for all workers that it forks. The module itself
# reports a missing package.
_MISSING = preload()
# Ansible keeps no compiled code of collections, so each worker that waits would spend 4 ms on compiling this.
importlib.import_module("ansible_collections.accelerators.openshift.plugins.module_utils._kube.wait")
_display = Display()
# The most seconds for the bundle of a run that fails.
_BUNDLE: t.Final = 60


class ActionModule(ActionBase):  # type: ignore[misc]
    """The action plugin of every module; it runs the module with the name of its task."""

    _supports_check_mode = True
    _supports_async = True
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        """Return the module's result, from this process or from an ordinary module."""
        task_vars = task_vars or {}
        result: dict[str, t.Any] = super().run(tmp, task_vars)
        name = str(self._task.resolved_action or self._task.action).rpartition(".")[2]
        run = process.own_run(str(task_vars.get("awx_job_id") or ""), outlives=bool(self._task.async_val))
        given = self._templar.template(task_vars.get("gpu_report_dir") or "")
        if not given or self._task.async_val:
            return {**result, **self._done(name, run, task_vars)}
        from ansible_collections.accelerators.openshift.plugins.plugin_utils import _report

        def run_module(whole: list[dict[str, t.Any]]) -> dict[str, t.Any]:
            return self._done(name, run, task_vars, whole.append)

        found = _report.reported(run_module, self._task, task_vars, run, name, given)
        if _report.wants_bundle(found, self._task) and self._is_safe(task_vars):
            try:
                told = self._make_bundle(_report.folder(given, task_vars), run, task_vars)
            except Exception as why:
                told = [f"There is no bundle for support: {type(why).__name__}: {why}"]
            found["warnings"] = [*(found.get("warnings") or []), *told]
        return {**result, **found}

    def _make_bundle(self, folder: Path, run: Run, task_vars: dict[str, t.Any]) -> list[str]:
        """Write a bundle for support beside the report, once for each host of a run. Return warnings."""
        key = hashlib.sha256(f"{run.id} {folder}".encode()).hexdigest()
        try:
            (Path(constants.DEFAULT_LOCAL_TMP) / f"bundle-{key}").touch(exist_ok=False)
        except OSError:
            return []
        module = importlib.import_module(f"{_MODULES}.gpu_must_gather")
        own = self._templar.template(task_vars.get("gpu_operator_namespace") or "")
        names = {*AUTH.options, *(alias for one in AUTH.options.values() for alias in one.get("aliases", ()))}
        arguments = {key: value for key, value in self._task.args.items() if key in names}
        arguments |= {"path": str(folder / "must-gather"), "namespace": own or None, "wait_timeout": _BUNDLE}
        params, made = _validated(module.SPEC, arguments, "gpu_must_gather", {})
        if not made:
            contacts = Contacts(Path(constants.DEFAULT_LOCAL_TMP), run)
            show, _awaited = _show(task_vars)
            made = execute("gpu_must_gather", module.ensure, params, False, False, show, run, contacts)
        if made.get("failed"):
            return [f"There is no bundle for support: {made['msg']}"]
        return [f"A bundle for support is in {made['path']}; its first page is summary.txt."]

    def _done(
        self, name: str, run: Run, task_vars: dict[str, t.Any], keep: Keep | None = None
    ) -> dict[str, t.Any]:
        """Run the module and return its result. keep: gets the result with all nodes, if it is at hand."""
        result = self._wrong_input(task_vars, run) or self._own_result(name, run, task_vars, keep)
        if result.get("code") == "POOL-NONE" and _inputs.is_own(self._playbook()):
            hosts, groups = task_vars.get("hostvars"), task_vars.get("groups") or {}
            if hosts and "gpu_clusters" not in load_extra_vars(self._loader):
                others = {host: hosts.raw_get(host) for host in groups.get("all", ())}
                if remedy := _inputs.elsewhere(others, groups):
                    result |= InputError("POOL-NONE", remedy=remedy, path="gpu_pools").to_result()
        return result

    def _playbook(self) -> Path:
        return Path(playbook_of(self._task) or ".").resolve()

    def _own_result(
        self, name: str, run: Run, task_vars: dict[str, t.Any], keep: Keep | None
    ) -> dict[str, t.Any]:
        is_render = bool(self._task.check_mode) and self._playbook().stem == "render"
        is_render = is_render and _inputs.is_own(self._playbook())
        if not self._is_safe(task_vars):
            if is_render and not _MISSING:
                return redact.result({"failed": True, "changed": False, **_elsewhere(task_vars).to_result()})
            self._task.environment = [*(self._task.environment or ()), {process.VARIABLE: run.id}]
            ordinary: dict[str, t.Any] = self._execute_module(
                module_name=f"accelerators.openshift.{name}",
                task_vars=task_vars,
                wrap_async=bool(self._task.async_val),
            )
            return ordinary
        module = importlib.import_module(f"{_MODULES}.{name}")
        arguments = json.loads(json.dumps(self._task.args, default=str))
        params, problem = _validated(module.SPEC, arguments, name, self._users_names(task_vars))
        if problem:
            return problem
        check_mode, diff = bool(self._task.check_mode), bool(self._task.diff)
        contacts = Contacts(Path(constants.DEFAULT_LOCAL_TMP), run)
        show, awaited = _show(task_vars)
        applied: list[Applied] | None = [] if is_render else None
        call = (name, module.ensure, params, check_mode, diff, show, run, contacts, keep, awaited, applied)
        result = execute(*call)
        if applied is None or (result.get("failed") and not result.get("machine_pools")):
            return result
        from ansible_collections.accelerators.openshift.plugins.plugin_utils import _render

        folder = self._templar.template(task_vars.get(_render.VARIABLE) or "")
        return _render.write(folder, task_vars, run, [] if name in _render.RUN_ONLY else applied, result)

    def _users_names(self, task_vars: dict[str, t.Any]) -> dict[str, str]:
        """Return the user's variables for options of the task."""
        written = getattr(self._task, "_ds", None)
        written = written if isinstance(written, dict) else {}
        return _inputs.users_names(written.get(self._task.action), task_vars)

    def _wrong_input(self, task_vars: dict[str, t.Any], run: Run) -> dict[str, t.Any]:
        """Check what the user set, once for each host of a run of our playbook. Return a failed result."""
        path = self._playbook()
        folder = Path(constants.DEFAULT_LOCAL_TMP)
        host = task_vars.get("inventory_hostname", "")
        done = folder / f"input-{hashlib.sha256(f'{run.id} {path} {host}'.encode()).hexdigest()}"
        if not _inputs.is_own(path) or not folder.is_dir() or done.exists():
            return {}
        named = context.CLIARGS.get("args") or ()
        alone = named == (f"accelerators.openshift.{path.stem}",) or [Path(x).resolve() for x in named] == [
            path
        ]
        play = _inputs.Play(path.stem, tags_beside(self._task), alone)
        extra = load_extra_vars(self._loader)
        for warning in _inputs.warnings(play, task_vars, extra):
            _display.warning(warning)
        try:
            _inputs.check(play, task_vars, extra, self._templar.template)
        except InputError as exc:
            return redact.result({"failed": True, "changed": False, **exc.to_result()})
        done.touch()
        return {}

    def _is_safe(self, task_vars: dict[str, t.Any]) -> bool:
        """Return whether the module's function has the same effect in this process."""
        if _MISSING or self._task.async_val or self._play_context.become or any(self._task.environment or ()):
            return False
        if (
            getattr(self._connection, "transport", "") != "local"
            or os.environ.get("ACCELERATORS_IN_PROCESS") == "0"
        ):
            return False
        host = self._task.delegate_to
        variables = task_vars.get("ansible_delegated_vars", {}).get(host, {}) if host else task_vars
        interpreter = variables.get("ansible_python_interpreter")
        if interpreter is None or interpreter in _AUTOMATIC:
            return True
        # The implicit localhost has a template here, which gives the Python that runs Ansible.
        rendered = str(self._templar.template(interpreter))
        return os.path.realpath(rendered) == os.path.realpath(sys.executable) and os.path.dirname(
            rendered
        ) == os.path.dirname(sys.executable)


def _elsewhere(task_vars: t.Mapping[str, t.Any]) -> InputError:
    """Return why render.yml cannot write: only tasks in the process of Ansible hand their objects on."""
    why = "the tasks run as another user, with another Python or environment, or elsewhere"
    remedy = "Run render.yml without become, and with connection, Python and environment of Ansible itself."
    return InputError("INPUT-RENDER", remedy=remedy, value=task_vars.get("gpu_render_dir"), why=why)


def _show(task_vars: t.Mapping[str, t.Any]) -> tuple[Show, t.Callable[[list[str]], None]]:
    """Return what shows a line of progress, which names the host of several, and the lines of a wait."""
    host = str(task_vars.get("inventory_hostname", ""))
    if Screen.active is not None:
        send = Screen.active.send
        return lambda line: send(host, [line], True), lambda lines: send(host, lines, False)
    several = len(task_vars.get("ansible_play_hosts_all") or ()) > 1
    return lambda line: _display.display(f"{host}: {line}" if several else line), lambda _lines: None


def _validated(
    spec: ArgumentSpec, arguments: dict[str, t.Any], name: str, names: t.Mapping[str, str]
) -> tuple[dict[str, t.Any], dict[str, t.Any]]:
    """Return the parameters as AnsibleModule has them and {}, or {} and the result of wrong options."""
    if nested.problems(spec.options, arguments):
        # Ansible fails with an exception for some of these values.
        return {}, complaint(name, spec.options, arguments, set(arguments) - set(spec.options), [], names)
    validator = ArgumentSpecValidator(dict(spec.options), **spec.constraints())
    checked = validator.validate(arguments)
    secrets.register(*(checked._no_log_values - secrets.public_in_kubeconfig(arguments.get("kubeconfig"))))
    if not checked.error_messages:
        return checked.validated_parameters, {}
    messages = checked.error_messages
    wrong = complaint(name, spec.options, arguments, checked.unsupported_parameters, messages, names)
    return {}, wrong


class Contacts:
    """The API servers that have answered a run, as empty files: the workers of a run share nothing else.

    folder: the temporary folder of the run, which ansible-playbook removes.
    """

    def __init__(self, folder: Path, run: Run) -> None:
        self._folder, self._run = folder, run

    def has(self, host: str) -> bool:
        """Return True if the server has answered the run, or if nobody can note that."""
        return not self._folder.is_dir() or self._file(host).exists()

    def add(self, host: str) -> None:
        """Note that the server has answered the run."""
        with contextlib.suppress(OSError):
            self._file(host).touch()

    def _file(self, host: str) -> Path:
        return self._folder / hashlib.sha256(f"{self._run.id} {host}".encode()).hexdigest()
