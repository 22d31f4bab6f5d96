# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module runs inside Ansible's worker only if its user, Python and environment would be the same."""

from __future__ import annotations

import os
import subprocess
import sys
import types
import typing as t
from pathlib import Path

import pytest
from ansible import constants
from ansible.plugins.action import ActionBase

from ansible_collections.accelerators.openshift.plugins.module_utils._frame import process
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _in_process, _inputs

OTHER_PYTHON = "/opt/other/bin/python3"


def action(**changes: t.Any) -> _in_process.ActionModule:
    """An action plugin of a task on localhost, changed in one respect."""
    task = types.SimpleNamespace(async_val=0, environment=None, delegate_to=None)
    plugin = _in_process.ActionModule.__new__(_in_process.ActionModule)
    plugin._task = task
    plugin._connection = types.SimpleNamespace(transport=changes.pop("transport", "local"))
    plugin._play_context = types.SimpleNamespace(become=changes.pop("become", False))
    plugin._templar = types.SimpleNamespace(template=lambda text: text)
    vars(task).update(changes)
    return plugin


@pytest.fixture(autouse=True)
def _usual_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACCELERATORS_IN_PROCESS", raising=False)
    monkeypatch.setattr(_in_process, "_MISSING", "")


@pytest.mark.parametrize("interpreter", [None, "auto", "auto_silent", sys.executable])
def test_on_this_machine_with_this_python_it_is_safe(interpreter: str | None) -> None:
    assert action()._is_safe({} if interpreter is None else {"ansible_python_interpreter": interpreter})


@pytest.mark.parametrize(
    ("changes", "variables"),
    [
        ({"become": True}, {}),
        ({"transport": "ssh"}, {}),
        ({"async_val": 60}, {}),
        ({"environment": [{"HTTPS_PROXY": "http://proxy"}]}, {}),
        ({}, {"ansible_python_interpreter": OTHER_PYTHON}),
        (
            {"delegate_to": "other"},
            {"ansible_delegated_vars": {"other": {"ansible_python_interpreter": OTHER_PYTHON}}},
        ),
    ],
    ids=["become", "remote", "async", "environment", "interpreter", "interpreter of the delegate"],
)
def test_anything_else_takes_the_ordinary_way(changes: dict[str, t.Any], variables: dict[str, t.Any]) -> None:
    assert not action(**changes)._is_safe(variables)


def test_an_environment_of_empty_maps_is_none() -> None:
    assert action(environment=[{}, {}])._is_safe({})


def test_the_switch_for_the_ordinary_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELERATORS_IN_PROCESS", "0")
    assert not action()._is_safe({})


def test_a_render_that_could_not_write_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = action(become=True, check_mode=True)
    monkeypatch.setattr(plugin, "_playbook", lambda: _inputs.ROOT / "playbooks/render.yml")
    refused = plugin._own_result("gpu_quota", process.own_run(), {"gpu_render_dir": "/git"}, None)
    assert (refused["failed"], refused["code"]) == (True, "INPUT-RENDER")
    assert "become" in refused["remedy"]


def test_without_the_client_the_module_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_in_process, "_MISSING", "No module named 'kubernetes'")
    assert not action()._is_safe({})


def test_what_tasks_wait_with_is_there_before_ansible_forks() -> None:
    wait = f"{_in_process.__name__.rpartition('plugin_utils')[0]}module_utils._kube.wait"
    loaded = f"import sys; import {_in_process.__name__}; print('{wait}' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", loaded], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "True\n", done.stderr


@pytest.mark.parametrize(
    ("hosts", "line"), [(["east", "west"], "west: 5 s"), (["west"], "5 s"), (None, "5 s")]
)
def test_progress_names_the_host_among_several(
    hosts: list[str] | None, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(_in_process._display, "display", shown.append)
    show, awaited = _in_process._show({"ansible_play_hosts_all": hosts, "inventory_hostname": "west"})
    show("5 s")
    awaited(["operator nfd: not ready"])
    assert shown == [line]


def test_the_workers_of_a_run_share_which_servers_have_answered(tmp_path: Path) -> None:
    run = process.own_run()
    _in_process.Contacts(tmp_path, run).add("https://a:6443")
    assert _in_process.Contacts(tmp_path, run).has("https://a:6443")
    assert not _in_process.Contacts(tmp_path, run).has("https://b:6443")
    assert not _in_process.Contacts(tmp_path, run._replace(pid=1)).has("https://a:6443")


def test_without_a_folder_every_server_counts_as_known(tmp_path: Path) -> None:
    contacts = _in_process.Contacts(tmp_path / "removed", process.own_run())
    contacts.add("https://a:6443")
    assert contacts.has("https://b:6443")


def failing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, made: dict[str, t.Any], **changes: t.Any
) -> tuple[t.Callable[[], dict[str, t.Any]], list[dict[str, t.Any]]]:
    """Return what runs a task that fails, and the parameters of each bundle. made: the bundle's result."""
    given = {"kubeconfig": "/k", "host": None, "namespace": "x", "ca_cert": "/ca"}
    facts: dict[str, t.Any] = {"check_mode": False, "failed_when": [], "ignore_errors": False, "diff": False}
    facts |= {"args": given, "name": "n", "no_log": False, "_role": None, "_parent": None, "_play": None}
    plugin = action(resolved_action="accelerators.openshift.gpu_plan", **{**facts, **changes})
    variables = {"gpu_report_dir": str(tmp_path / "report"), "gpu_operator_namespace": "gpus"}
    asked: list[dict[str, t.Any]] = []

    def execute(name: str, _ensure: t.Any, params: dict[str, t.Any], *more: t.Any) -> dict[str, t.Any]:
        _check, _diff, show, *_more = more
        show("a line of progress")
        asked.append({"name": name, **params})
        return made

    result = {"failed": True, "code": "GPU-DRV-CRASH", "msg": "m", "warnings": ["w"]}
    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(tmp_path))
    monkeypatch.setattr(ActionBase, "run", lambda *_args: {})
    monkeypatch.setattr(_in_process.ActionModule, "_done", lambda *_args: dict(result))
    monkeypatch.setattr(_in_process, "execute", execute)
    return lambda: plugin.run(task_vars=dict(variables)), asked


def test_the_first_failure_of_a_run_has_a_bundle_and_stays_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run, asked = failing(monkeypatch, tmp_path, {"path": "/there"})
    found = run()
    assert (found["failed"], found["code"], found["msg"]) == (True, "GPU-DRV-CRASH", "m")
    assert found["warnings"] == ["w", "A bundle for support is in /there; its first page is summary.txt."]
    assert run()["warnings"] == ["w"]
    (params,) = asked
    wanted: dict[str, t.Any] = {
        "name": "gpu_must_gather",
        "path": str(tmp_path / "report/must-gather"),
        "namespace": "gpus",
    }
    wanted |= {"kubeconfig": "/k", "ca_cert": "/ca", "wait_timeout": 60, "serials": "mask"}
    assert wanted.items() <= params.items()


def test_a_bundle_that_fails_hides_no_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run, _asked = failing(monkeypatch, tmp_path, {"failed": True, "msg": "API-FORBIDDEN: no"})
    found = run()
    assert (found["code"], found["warnings"][1]) == (
        "GPU-DRV-CRASH",
        "There is no bundle for support: API-FORBIDDEN: no",
    )


@pytest.mark.parametrize("changes", [{"check_mode": True}, {"delegate_to": "other"}, {"transport": "ssh"}])
def test_no_bundle_in_check_mode_and_elsewhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changes: dict[str, t.Any]
) -> None:
    run, asked = failing(monkeypatch, tmp_path, {"path": "/there"}, **changes)
    if "delegate_to" in changes:
        monkeypatch.setattr(_in_process.ActionModule, "_is_safe", lambda *_args: False)
    assert (run()["warnings"], asked) == (["w"], [])
