"""The Makefile: where it refuses to work, the locale that it sets, and a set-up that stops where it fails."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import typing as t
from pathlib import Path

import pytest

ROOT: t.Final = Path(__file__).resolve().parents[3]
# A part of the call of each step of set-up.
STEPS: t.Final = ["-m venv", "requirements-dev.txt", "--editable sandbox", "ansible --version"]
# It plays python3.11, the Python of .venv and Ansible. FAILING is a part of the call that fails.
PROGRAM: t.Final = """#!/bin/sh
call="$(basename "$0") $*"
[ -z "$FAILING" ] || [ "${call#*"$FAILING"}" = "$call" ] || { echo "no $FAILING" >&2; exit 1; }
case $call in
    *"-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "$0" "$3/bin/ansible" ;;
    "ansible --version") printf 'ansible [core 2.19.14]\\n  more\\n'; echo "$LC_ALL" > locale ;;
esac
"""


def make(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run make in a folder. Its environment has PATH and what is given: no locale, nothing of `make test`."""
    kept = {"PATH": os.environ["PATH"]}
    return subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "verb"),
    [("my collections", verb) for verb in ("help", "setup", "test", "lint", "build", "clean")]
    + [(name, "setup") for name in ("it's", "a;b", "a(b")],
)
def test_a_path_that_make_cannot_work_in_is_refused_at_once(tmp_path: Path, name: str, verb: str) -> None:
    checkout = tmp_path / name / "checkout"
    checkout.mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", checkout)
    done = make(checkout, verb)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "cannot work in a path with a space" in line
    assert f'"{checkout}"' in line
    assert list(tmp_path.rglob("*")) == [tmp_path / name, checkout, checkout / "Makefile"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder with the files that set-up reads, and a python3.11 that only pretends."""
    for name in ("Makefile", "requirements.txt", "requirements-dev.txt", "sandbox/pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    program = tmp_path / "programs/python3.11"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return tmp_path


def set_up(checkout: Path, failing: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{checkout / 'programs'}:{os.environ['PATH']}"
    return make(
        checkout, "setup", "PYTHONS=no-such-python python3.11", PATH=path, FAILING=failing, **environment
    )


@pytest.mark.parametrize("environment", [{}, {"LC_ALL": "C"}, {"LC_ALL": "xx_XX.UTF-8"}], ids=str)
def test_ansible_gets_a_utf8_locale_where_there_is_none(checkout: Path, environment: dict[str, str]) -> None:
    done = set_up(checkout, **environment)
    assert done.returncode == 0, done.stderr
    assert "setup: ready (ansible [core 2.19.14])" in done.stdout
    assert (checkout / "locale").read_text() == "C.UTF-8\n"


def test_a_utf8_locale_stays(checkout: Path) -> None:
    assert set_up(checkout, LANG="C.utf8").returncode == 0
    assert (checkout / "locale").read_text() == "\n"


@pytest.mark.parametrize("failing", STEPS)
def test_a_step_of_set_up_that_fails_ends_it(checkout: Path, failing: str) -> None:
    done = set_up(checkout, failing)
    assert done.returncode == 2
    assert f"no {failing}" in done.stderr
    assert "ready" not in done.stdout
    assert not (checkout / ".venv/.ready").exists()
    assert "setup: ready (ansible [core 2.19.14])" in set_up(checkout).stdout, "the next run starts again"
