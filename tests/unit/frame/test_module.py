# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The frame of every module: what comes out, whatever goes wrong inside."""

from __future__ import annotations

import typing as t

import pytest
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    CredentialsError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import module, nested
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.connection import Connection

MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "x"},
    "data": {"k": "v"},
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    server = FakeServer()
    monkeypatch.setattr(secrets, "_seen", set())
    monkeypatch.setattr(
        credentials, "connect", lambda _params, **_more: Connection("https://a", server, False, list)
    )
    return server


def run(
    ensure: t.Callable[[Api, t.Any], t.Any], check_mode: bool = False, diff: bool = True
) -> dict[str, t.Any]:
    return module.execute("some_module", ensure, {"wait": True, "wait_timeout": 5}, check_mode, diff)


def test_what_was_written_is_the_change_and_the_diff(server: FakeServer) -> None:
    result = run(lambda api, _params: {"map": api.apply(MAP)["data"]})
    assert (result["changed"], result["map"]) == (True, {"k": "v"})
    assert [(one["before_header"], one["before"], one["after"]["data"]) for one in result["diff"]] == [
        ("ConfigMap x/a", {}, {"k": "v"})
    ]
    assert "anyone in between can read the token" in result["warnings"][0]
    assert run(lambda api, _params: {"map": api.apply(MAP)["data"]})["changed"] is False
    assert len(server.writes()) == 1


def test_an_error_keeps_what_had_changed_and_its_facts(server: FakeServer) -> None:
    def ensure(api: Api, _params: t.Any) -> t.Any:
        api.apply(MAP)
        raise InputError("INPUT-X", "it is wrong", "mend it", evidence=["line"], facts={"seen": 1})

    result = run(ensure)
    assert (result["failed"], result["changed"], result["seen"], result["code"]) == (True, True, 1, "INPUT-X")
    assert result["msg"] == "INPUT-X: it is wrong. Remedy: mend it"
    assert len(server.objects) == 1


def test_a_bug_is_called_a_bug_with_its_place_and_no_secret(server: FakeServer) -> None:
    secrets.register("token-of-test")

    def ensure(_api: Api, _params: t.Any) -> t.Any:
        raise KeyError("token-of-test")

    result = run(ensure)
    assert (result["failed"], result["code"]) == (True, "INTERNAL")
    assert "test_module.py:" in result["msg"]
    assert "token-of-test" not in str(result)


def test_a_line_of_progress_shows_no_secret(server: FakeServer) -> None:
    secrets.register("token-of-test")
    lines: list[str] = []

    def ensure(api: Api, _params: t.Any) -> dict[str, t.Any]:
        api.progress("waiting, with token-of-test")
        return {}

    module.execute("some_module", ensure, {}, check_mode=False, diff=False, show=lines.append)
    assert lines == ["waiting, with VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"]


def test_terminal_escapes_reach_no_message_no_warning_and_no_progress(server: FakeServer) -> None:
    lines: list[str] = []
    clear = "\x1b[2J\x1b]52;c;Y2xpcGJvYXJk\x07\x9b1m"

    def ensure(api: Api, _params: t.Any) -> t.Any:
        api.warn(f"warning {clear}")
        api.progress(f"progress {clear}")
        facts = {"lines": [clear], "machines": [{"message": clear}]}
        raise InputError("INPUT-X", f"no node {clear}", clear, evidence=[clear], facts=facts)

    result = module.execute("some_module", ensure, {}, check_mode=False, diff=False, show=lines.append)
    written = r"\x1b[2J\x1b]52;c;Y2xpcGJvYXJk\x07\x9b1m"
    assert result["message"] == f"no node {written}"
    assert result["machines"] == [{"message": written}]
    assert lines == [f"progress {written}"]
    assert not {char for char in str(result) + "".join(lines) if not char.isprintable()}


def test_wrong_options_are_named_without_terminal_escapes() -> None:
    result = module.complaint(
        "gpu_node", {"name": {}}, {}, [], ["value of state must be one of: x, got: \x1b[2J"]
    )
    assert result["message"].endswith(r"got: \x1b[2J")


def test_wrong_input_is_told_before_credentials_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(_params: t.Any, **_more: t.Any) -> t.NoReturn:
        raise AssertionError("credentials were looked for")

    def ensure(_api: Api, _params: t.Any) -> t.Any:
        raise InputError("INPUT-X", "it is wrong")

    monkeypatch.setattr(credentials, "connect", connect)
    assert run(ensure)["code"] == "INPUT-X"


@pytest.mark.parametrize("code", ["CRED-NOBODY", "CRED-NONE", "CRED-MIXED", "CRED-UNAUTHORIZED"])
def test_a_job_of_awx_is_told_its_credential_and_a_shell_its_command(server: FakeServer, code: str) -> None:
    def ensure(_api: Api, _params: t.Any) -> t.Any:
        raise CredentialsError(code, "none", "export KUBECONFIG")

    def remedy(job: str) -> str:
        one = Run("u", "h", "m", 1, "0", job)
        found = module.execute("m", ensure, {}, check_mode=False, diff=False, run=one)
        return str(found["remedy"])

    assert "GPU fleet" in remedy("4711")
    assert "export" not in remedy("4711")
    assert remedy("") == "export KUBECONFIG"


@pytest.mark.parametrize("seconds", [0, -5])
def test_no_time_is_no_default_time(seconds: int) -> None:
    result = module.execute(
        "some_module", lambda _api, _params: {}, {"wait_timeout": seconds}, check_mode=False, diff=False
    )
    assert (result["failed"], result["code"], f"wait_timeout is {seconds}" in result["message"]) == (
        True,
        "INPUT-VALUE",
        True,
    )


def test_a_misspelt_option_is_named_with_its_nearest() -> None:
    options: dict[str, dict[str, t.Any]] = {"gpus": {}, "namespace": {}}
    missing = "one of gpus, hard is missing"
    result = module.complaint("gpu_quota", options, {"gpsu": 1}, ["gpsu"], [missing])
    assert result["message"].startswith(
        "Unsupported parameters for (gpu_quota) module: gpsu (did you mean gpus?)."
    )
    assert module.complaint("gpu_quota", options, {}, [], [missing])["message"] == missing
    named = module.complaint("gpu_quota", options, {}, [], ["exclusive: path|gpus"], {"path": "gpu_file"})
    assert named["message"] == "exclusive: gpu_file|gpus"
    wrong = "value of backend must be one of: dra, got: backend"
    named = module.complaint("gpu_plan", options, {}, [], [wrong], {"backend": "gpu_backend"})
    assert named["message"] == "value of gpu_backend must be one of: dra, got: backend"


def test_a_misspelt_key_of_an_entry_is_named_with_its_path() -> None:
    options: nested.Options = {"queues": {"type": "list", "options": {"name": {"type": "str"}}}}
    unsupported: list[t.Any] = [("queues", "nam")]
    result = module.complaint("gpu_queue", options, {"queues": [{"nam": 1}]}, unsupported, ["all of it"])
    assert result["message"] == "queues[0].nam (did you mean name?) is no option. Options are name."
    other = module.complaint("gpu_queue", options, {"queues": "{}"}, unsupported, ["said"])
    assert other["message"] == "said"


def test_wrong_options_have_what_each_failure_has() -> None:
    options: nested.Options = {"queues": {"type": "list", "elements": "dict"}}
    result = module.complaint("gpu_queue", options, {"queues": [1]}, [], ["it"], {"queues": "gpu_queues"})
    assert result["evidence"] == ["gpu_queues[0] must be a mapping, not 1."]
    assert result["msg"].startswith(
        "INPUT-OPTION: gpu_queues[0] must be a mapping, not 1. Remedy: Correct it"
    )
    assert (result["code"], result["layer"], result["failed"]) == ("INPUT-OPTION", "input", True)


def test_a_result_has_the_seconds_of_its_waits_if_it_waited(server: FakeServer) -> None:
    def ensure(api: Api, _params: t.Any) -> dict[str, t.Any]:
        api.waited += 2.5
        return {}

    assert run(ensure)["waited"] == 2.5
    assert "waited" not in run(lambda _api, _params: {})


def test_a_task_that_only_foresees_writes_nothing_and_is_no_change(server: FakeServer) -> None:
    def ensure(api: Api, _params: t.Any) -> t.Any:
        api.apply(MAP)
        return {"checks": api.check_mode}

    result = module.execute("m", ensure, {"until": "foreseen"}, check_mode=False, diff=False)
    assert (result["changed"], result["checks"], server.objects) == (False, True, {})
    assert [one["action"] for one in result["foreseen"]] == ["create"]


@pytest.mark.parametrize(("until", "waits"), [("requested", False), ("approved", True)])
def test_a_task_that_only_requests_waits_for_nothing(until: str, waits: bool) -> None:
    assert module.connect({"until": until}, "m").wait_wanted is waits
