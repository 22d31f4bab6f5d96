"""A sandbox of a new checkout from programs that the user has: nothing is built, and a misfit is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest

from openshift_sandbox import build
from openshift_sandbox.client import Client
from openshift_sandbox.go import given
from openshift_sandbox.sandbox import BUILD, SOURCES, Sandbox, SandboxError

STARTS_CLUSTERS: t.Final = True

ENVTEST: t.Final = ("server", "kube-apiserver", "kubectl")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A checkout of the sandbox that built nothing yet, with CRDs from their modules."""
    build.build()
    checkout = tmp_path_factory.mktemp("checkout")
    shutil.copytree(SOURCES, checkout / "sandbox", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("crds", "kwok"):
        shutil.copytree(BUILD / name, checkout / ".build" / name)
    try:
        yield checkout
    finally:
        sandbox(checkout, "down", "--dir", str(checkout / "one"))


@pytest.fixture(scope="module")
def programs(checkout: Path) -> dict[str, str]:
    """The three programs of envtest as setup-envtest leaves them, and the others in one flat folder."""
    folders = {name: checkout / name for name in ("k8s/1.36.1-linux-amd64", "mine")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    envtest, mine = folders.values()
    for family in build.FAMILIES:
        for name in family.programs:
            (envtest if name in ENVTEST else mine).joinpath(given.shown(name)).symlink_to(
                family.target / name
            )
    (envtest / "etcd").unlink()
    shutil.copy(BUILD / "bin/control-plane/server", envtest / "etcd")
    return {"KUBEBUILDER_ASSETS": str(envtest), "SANDBOX_PROGRAMS": str(mine)}


def sandbox(
    checkout: Path, *words: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command of a checkout; a Go that it finds fails."""
    go = checkout / "no-go/go"
    go.parent.mkdir(exist_ok=True)
    go.write_text("#!/bin/sh\necho go version go1.99.0; test $1 = version\n")
    go.chmod(0o755)
    variables = {"PATH": f"{go.parent}:{os.environ['PATH']}", "PYTHONPATH": str(checkout / "sandbox")}
    named = {given.FOLDER, given.ENVTEST, *(name for names in given.PATHS.values() for name in names)}
    inherited = {name: value for name, value in os.environ.items() if name not in named}
    return subprocess.run(
        [sys.executable, "-m", "openshift_sandbox", *words],
        env={**inherited, **variables, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def test_without_programs_the_build_says_what_comes_and_how_long_it_takes(checkout: Path) -> None:
    done = sandbox(checkout, "build")
    assert done.returncode == 1
    assert "The sandbox builds its programs now, once: control-plane (etcd, kube-apiserver, " in done.stderr
    assert "How long   7 to 13 minutes on two cores; this machine has " in done.stderr
    assert "`make docs-site` in another terminal" in done.stderr


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\x7fELF\x02\x01\x01" + bytes(57), "cannot run: it is no program for "),
        (b"#!/bin/sh\nexit 3\n", "is not etcd: `"),
        (b"#!/nowhere/sh\n", "cannot run: No such file or directory"),
    ],
    ids=["another architecture", "fails", "no interpreter"],
)
def test_a_program_that_does_not_run_is_refused(checkout: Path, content: bytes, text: str) -> None:
    program = checkout / "broken"
    program.write_bytes(content)
    program.chmod(0o755)
    done = sandbox(checkout, "build", environment={"ETCD": str(program)})
    assert done.returncode == 1
    assert done.stderr.startswith(f"sandbox: ETCD: {program} {text}")
    assert not (checkout / ".build/bin/control-plane/kube-apiserver").exists()


def test_a_program_that_hangs_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "etcd"
    program.write_text("#!/bin/sh\nsleep 600 &\nsleep 600\n")
    program.chmod(0o755)
    monkeypatch.setattr(given, "ANSWER_SECONDS", 0.5)
    with pytest.raises(SandboxError, match=r"^ETCD: `.*etcd --version` did not end within"):
        given.find({"control-plane": ["server"]}, {"server": "v3.6.8"}, {"ETCD": str(program)})


def test_a_sandbox_comes_up_from_given_programs_without_a_build(
    checkout: Path, programs: dict[str, str]
) -> None:
    directory = checkout / "one"
    done = sandbox(checkout, "up", "--dir", str(directory), environment=programs)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(", no build\n") == sum(len(family.programs) for family in build.FAMILIES)
    assert "builds its programs" not in done.stderr
    assert f"{programs['KUBEBUILDER_ASSETS']}/etcd (from KUBEBUILDER_ASSETS), no build" in done.stderr
    etcd = Sandbox(directory).processes.find("etcd")
    assert etcd is not None
    assert os.readlink(f"/proc/{etcd.pid}/exe") == f"{programs['KUBEBUILDER_ASSETS']}/etcd"
    assert len(Client(directory / "kubeconfig").list("v1", "nodes")) == 6
    # The variables are needed once.
    again = sandbox(checkout, "up", "--dir", str(directory))
    assert again.returncode == 0, again.stderr
    assert "runs already" in again.stderr
