"""ansible-builder reads execution-environment.yml and writes a context with only what the image needs."""

from __future__ import annotations

import os
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
import yaml

ROOT: t.Final = Path(__file__).resolve().parents[2]
TOOLS: t.Final = ROOT / ".build/release-tools"
CLIENTS: t.Final = ("openshift-clients", "kubernetes-client", "kubectl", "/oc")
pytestmark = pytest.mark.long(
    "it installs ansible-builder; unit/rules/test_execution_environment.py reads the file"
)


@pytest.fixture(scope="session")
def tools() -> Path:
    """Return the folder of the programs in requirements-release.txt."""
    ready, wanted = TOOLS / ".ready", ROOT / "requirements-release.txt"
    if not ready.exists() or ready.stat().st_mtime < wanted.stat().st_mtime:
        subprocess.run([sys.executable, "-m", "venv", TOOLS], check=True)
        subprocess.run([TOOLS / "bin/pip", "install", "--quiet", "--requirement", wanted], check=True)
        ready.touch()
    return TOOLS / "bin"


@pytest.fixture(scope="module")
def context(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the context of the image, from the definition as the tarball has it."""
    source, found = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("context") / "context"
    for name in ("execution-environment.yml", "requirements-ee.txt"):
        (source / name).write_text((ROOT / name).read_text())
    done = subprocess.run(
        [tools / "ansible-builder", "create", "--context", found, "--output-filename", "Containerfile"],
        cwd=source,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return found


def test_the_context_has_only_what_the_image_needs(context: Path) -> None:
    found = {path.relative_to(context).as_posix() for path in context.rglob("*") if path.is_file()}
    own = {one for one in found if not one.startswith("_build/scripts/")}
    assert own == {
        "Containerfile",
        "_build/configs/requirements-ee.txt",
        "_build/exclude-collections.txt",
        "_build/requirements.yml",
    }


def test_no_client_of_a_cluster_and_no_package_without_a_hash_gets_into_the_image(context: Path) -> None:
    lines = (context / "Containerfile").read_text().splitlines()
    assert not [line for line in lines if any(client in line for client in CLIENTS)]
    final = lines[lines.index("FROM base AS final") :]
    installs = [line for line in final if "pip install" in line]
    assert len(installs) == 1
    assert "--require-hashes" in installs[0]
    assert (context / "_build/configs/requirements-ee.txt").read_text() == (
        ROOT / "requirements-ee.txt"
    ).read_text()
    assert set((context / "_build/exclude-collections.txt").read_text().split()) == {
        "accelerators.openshift",
        "kubernetes.core",
    }


def test_the_image_begins_with_the_named_base(context: Path) -> None:
    definition = yaml.safe_load((ROOT / "execution-environment.yml").read_text())
    base = definition["images"]["base_image"]["name"]
    assert f'ARG EE_BASE_IMAGE="{base}"' in (context / "Containerfile").read_text()


def test_the_programs_that_run_in_the_image_find_their_entrypoint(context: Path) -> None:
    lines = (context / "Containerfile").read_text().splitlines()
    assert 'ENTRYPOINT ["/opt/builder/bin/entrypoint", "dumb-init"]' in lines
    assert "COPY _build/scripts/entrypoint /opt/builder/bin/entrypoint" in lines
