# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report files: whole after each task, without a path of this machine, and never the end of a run."""

from __future__ import annotations

import json
import types
import typing as t
from pathlib import Path

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._frame import process
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _report

Data = dict[str, t.Any]
FILES: t.Final = {"report.json", "ctrf.json", "junit.xml", "report.prom", "report.html"}
HOST: t.Final[Data] = {"inventory_hostname": "east", "ansible_play_hosts_all": ["east"]}


def a_task(**changes: t.Any) -> t.Any:
    play = types.SimpleNamespace(get_path=lambda: "/somewhere/playbooks/enable_gpus.yml:4")
    facts: Data = {"name": "Plan", "args": {}, "_role": None, "_parent": None, "_play": play, "_uuid": "1"}
    flags = {"check_mode": False, "ignore_errors": False, "no_log": False}
    return types.SimpleNamespace(**{**facts, **flags, **changes})


def run(folder: t.Any, result: Data | None = None, whole: Data | None = None, **changes: t.Any) -> Data:
    """Run a task that returns this result. whole: the same with all nodes."""
    own = changes.pop("own", process.own_run())
    variables = {**HOST, **changes.pop("variables", {})}

    def run_module(kept: list[Data]) -> Data:
        kept += [whole] if whole else []
        return result if result is not None else {"changed": True}

    return _report.reported(run_module, a_task(**changes), variables, own, "gpu_plan", folder)


def read(folder: Path) -> Data:
    found: Data = json.loads((folder / "report.json").read_text())
    return found


def test_each_task_writes_all_files(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert run(str(folder)) == {"changed": True}
    assert {path.name for path in folder.iterdir()} == FILES
    assert run(str(folder), {"failed": True, "code": "API-NO", "message": "no"})["failed"]
    report = read(folder)
    assert [task["state"] for task in report["tasks"]] == ["changed", "failed"]
    assert (report["run"]["state"], report["playbooks"]) == ("failed", ["enable_gpus"])
    assert report["tool"]["version"] != "unknown"


def test_a_task_that_runs_is_in_all_files(tmp_path: Path) -> None:
    def look(_whole: list[Data]) -> Data:
        assert read(tmp_path)["run"]["state"] == "running"
        assert "has not ended" in (tmp_path / "report.html").read_text()
        assert "had not ended" in (tmp_path / "junit.xml").read_text()
        return {}

    _report.reported(look, a_task(), HOST, process.own_run(), "gpu_plan", str(tmp_path))


def test_another_run_begins_a_new_report(tmp_path: Path) -> None:
    run(str(tmp_path))
    first = read(tmp_path)["run"]["id"]
    other = process.own_run()._replace(pid=1)
    run(str(tmp_path), own=other)
    assert (len(read(tmp_path)["tasks"]), read(tmp_path)["run"]["id"] == first) == (1, False)


def test_a_worker_that_outlives_its_run_leaves_the_report_of_the_next_one(tmp_path: Path) -> None:
    def next_run(_whole: list[Data]) -> Data:
        run(str(tmp_path), {"changed": False}, own=process.own_run()._replace(pid=1))
        return {"changed": True}

    _report.reported(next_run, a_task(), HOST, process.own_run(), "gpu_plan", str(tmp_path))
    assert [task["state"] for task in read(tmp_path)["tasks"]] == ["ok"]


def test_the_result_with_all_nodes_counts_and_the_bounded_one_is_kept(tmp_path: Path) -> None:
    whole = {"plan": {"pools": [{"name": "a"}]}}
    run(str(tmp_path), {"left_out": [{"list": "x", "pool": "", "number": 1}]}, whole)
    report = read(tmp_path)
    assert report["plan"] == whole["plan"]
    assert list(report["tasks"][0]["result"]) == ["left_out"]


def test_each_of_several_hosts_has_a_folder(tmp_path: Path) -> None:
    for name in ("east", "../up", "a/b"):
        run(str(tmp_path), variables={"inventory_hostname": name, "ansible_play_hosts_all": ["east", "west"]})
    assert {path.name for path in tmp_path.iterdir()} == {"east", "__up", "a_b"}


def test_a_relative_path_is_one_of_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run("out")
    assert (tmp_path / "out/report.json").is_file()


def blocked(tmp_path: Path) -> str:
    (tmp_path / "file").write_text("mine")
    return str(tmp_path / "file" / "below")


def taken(tmp_path: Path) -> str:
    (tmp_path / "report.json").write_text('{"tests": []}')
    return str(tmp_path)


def page_is_a_folder(tmp_path: Path) -> str:
    (tmp_path / "report.html").mkdir()
    return str(tmp_path)


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (blocked, ["Not a directory", "file/below"]),
        (taken, ["report.json", "a file of something else"]),
        (page_is_a_folder, ["Is a directory", "report.html"]),
        (lambda _path: {"a": 1}, ['{"a": 1}', "the path of a folder"]),
    ],
    ids=["a file in the way", "a file of somebody else", "a folder in the way", "a mapping"],
)
def test_a_folder_that_cannot_be_written_is_refused_before_the_module_runs(
    tmp_path: Path, prepare: t.Callable[[Path], t.Any], words: list[str]
) -> None:
    def never(_whole: list[Data]) -> Data:
        raise AssertionError

    found = _report.reported(never, a_task(), HOST, process.own_run(), "gpu_plan", prepare(tmp_path))
    assert (found["failed"], found["code"], found["changed"]) == (True, "INPUT-REPORT", False)
    assert "gpu_report_dir" in found["message"]
    assert "gpu_report_dir" in found["remedy"]
    for word in words:
        assert word in found["message"]


def test_a_report_that_fails_later_is_a_warning(tmp_path: Path) -> None:
    run(str(tmp_path))
    (tmp_path / "junit.xml").unlink()
    (tmp_path / "junit.xml").mkdir()
    found = run(str(tmp_path), {"changed": True, "warnings": ["one"]})
    assert found["warnings"][0] == "one"
    assert "gpu_report_dir is not complete: IsADirectoryError" in found["warnings"][1]
    assert [task["state"] for task in read(tmp_path)["tasks"]] == ["changed", "changed"]


def test_a_result_that_nothing_expects_ends_no_run(tmp_path: Path) -> None:
    found = run(str(tmp_path), {"plan": {"pools": 7}, "changed": False})
    assert found["changed"] is False
    assert "gpu_report_dir is not complete" in found["warnings"][0]


def test_a_module_that_raises_is_a_failed_task(tmp_path: Path) -> None:
    def raises(_whole: list[Data]) -> Data:
        raise RuntimeError("no interpreter")

    with pytest.raises(RuntimeError):
        _report.reported(raises, a_task(), HOST, process.own_run(), "gpu_plan", str(tmp_path))
    assert [(task["state"], task["message"]) for task in read(tmp_path)["tasks"]] == [
        ("failed", "no interpreter")
    ]


def test_no_log_keeps_a_result_out(tmp_path: Path) -> None:
    run(
        str(tmp_path),
        {"plan": {"pools": [{"name": "canary"}]}, "changed": True},
        {"a": "canary"},
        no_log=True,
    )
    assert "canary" not in "".join(path.read_text() for path in tmp_path.iterdir())


def test_no_path_of_this_machine_is_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, work, config = tmp_path / "home", tmp_path / "work", tmp_path / "secret-place/kubeconfig"
    for folder in (home, work, config.parent):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("K8S_AUTH_SSL_CA_CERT", "/elsewhere/ca.pem")
    monkeypatch.chdir(work)
    text = (
        f"{config}, {home}/.kube/config, {work}/pools.yml, {work}, /elsewhere/ca.pem, {tmp_path}/play/x.yml: "
        "/dev/nvidia0, https://api.east:6443/apis and /elsewhere/ca.pemx"
    )
    result = {
        "failed": True,
        "code": "CRED-NONE",
        "message": text,
        "remedy": text,
        "evidence": [text],
        "seen": {"a": [text]},
    }
    variables = {"playbook_dir": str(tmp_path / "play")}
    run(str(work / "out"), result, args={"kubeconfig": str(config)}, variables=variables, name=text)
    for path in (work / "out").iterdir():
        assert str(tmp_path) not in path.read_text(), path
        assert "/elsewhere/ca.pem," not in path.read_text(), path
    assert read(work / "out")["findings"][0]["message"] == (
        "…/kubeconfig, ~/.kube/config, ./pools.yml, ., …/ca.pem, …/x.yml: "
        "/dev/nvidia0, https://api.east:6443/apis and /elsewhere/ca.pemx"
    )


def test_the_task_as_people_know_it(tmp_path: Path) -> None:
    block = types.SimpleNamespace(
        rescue=[1], block=[types.SimpleNamespace(_uuid="1")], _parent=None, _play=None
    )
    block._play = types.SimpleNamespace(get_path=lambda: "/x/mine.yml:1")
    role = types.SimpleNamespace(get_name=lambda: "accelerators.openshift.gpu_node_pool")
    more: Data = {"args": {"pool": {"name": "training"}}, "_role": role, "_parent": block, "_play": None}
    run(str(tmp_path), {"failed": True, "code": "MACH-CAPACITY", "message": "m"}, **more)
    task = read(tmp_path)["tasks"][0]
    assert (task["object"], task["role"], task["playbook"], task["state"]) == (
        *("training", "gpu_node_pool", "mine", "handled"),
    )


@pytest.mark.parametrize(
    ("result", "changes", "wanted"),
    [
        ({"failed": True, "code": "GPU-DRV-CRASH"}, {}, True),
        ({"failed": True, "msg": "MODULE FAILURE"}, {}, True),
        ({"failed": True, "code": "MACH-CAPACITY"}, {"ignore_errors": True}, True),
        ({"failed": False}, {}, False),
        ({"failed": True, "code": "GPU-DRV-CRASH"}, {"check_mode": True}, False),
        ({"failed": True, "code": "GPU-DRV-CRASH"}, {"failed_when": [False]}, False),
        ({"failed": True, "code": "INPUT-REPORT"}, {}, False),
        ({"failed": True, "code": "POOL-ZONES"}, {}, False),
        ({"failed": True, "code": "CRED-NONE"}, {}, False),
        ({"failed": True, "code": "RUN-LOCKED"}, {}, False),
        ({"failed": True, "code": "API-UNREACHABLE"}, {}, False),
    ],
)
def test_only_a_failure_with_its_cause_on_the_cluster_has_a_bundle(
    result: Data, changes: Data, wanted: bool
) -> None:
    assert _report.wants_bundle(result, a_task(**{"failed_when": [], **changes})) is wanted
