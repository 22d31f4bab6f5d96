# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are parsed for the runs of the integration tests before they ask."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible.errors import AnsibleParserError
from ansible.parsing.dataloader import DataLoader
from integration.warm import parsed_files
from integration.warm.parsed_files import Files


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """Return the files, which every DataLoader of this test asks for those of tmp_path."""
    monkeypatch.setattr(DataLoader, "load_from_file", DataLoader.load_from_file)
    monkeypatch.setattr(parsed_files, "HERE", str(tmp_path))
    made = Files()
    made.share()
    return made


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    path = tmp_path / "main.yml"
    path.write_text("- name: wait\n  args: [1, 2]\n")
    return path


def load(path: Path) -> object:
    """Load a file as a run does, which has read no file yet."""
    return DataLoader().load_from_file(str(path))


def no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DataLoader, "load", lambda *_arguments, **_named: pytest.fail("it was parsed again"))


def test_the_second_run_parses_nothing(files: Files, tasks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load(tasks)
    files.fill()
    no_parser(monkeypatch)
    assert load(tasks) == first == [{"name": "wait", "args": [1, 2]}]


def test_each_use_has_its_own(files: Files, tasks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(tasks)
    load(tasks)
    files.fill()
    no_parser(monkeypatch)
    one, other = load(tasks), load(tasks)
    assert isinstance(one, list)
    one[0]["args"].append(3)
    assert other == [{"name": "wait", "args": [1, 2]}]


def test_one_use_more_is_there_in_the_next_run(
    files: Files, tasks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(tasks)
    files.fill()
    assert load(tasks) == load(tasks)
    files.fill()
    no_parser(monkeypatch)
    assert load(tasks) == [{"name": "wait", "args": [1, 2]}]


def test_a_changed_file_is_read_again(files: Files, tasks: Path) -> None:
    load(tasks)
    files.fill()
    tasks.write_text("- name: go on\n")
    assert load(tasks) == [{"name": "go on"}]
    files.fill()
    assert load(tasks) == [{"name": "go on"}]


def test_other_files_are_left_to_ansible(files: Files, tasks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed_files, "HERE", "/nowhere/")
    load(tasks)
    files.fill()
    no_parser(monkeypatch)
    with pytest.raises(pytest.fail.Exception, match="parsed again"):
        load(tasks)


def test_a_broken_file_stays_broken(files: Files, tasks: Path) -> None:
    tasks.write_text("- [")
    for _turn in range(2):
        with pytest.raises(AnsibleParserError):
            load(tasks)
        files.fill()
