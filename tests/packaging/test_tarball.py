"""The release tarball: it holds what a user needs, and works without the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from documents import rights

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
# All files and folders at the top of the tarball.
TOP = {"MANIFEST.json", "FILES.json", "README.md", "CHANGELOG.rst", "COPYING", "requirements.txt"}
TOP |= {"execution-environment.yml", "requirements-ee.txt"}
# Automation Hub's importer runs ansible-lint in the unpacked tarball.
TOP |= {".ansible-lint"}
TOP |= {
    "awx",
    "changelogs",
    "docs",
    "examples",
    "extensions",
    "meta",
    "playbooks",
    "plugins",
    "rbac",
    "roles",
}
PLUGIN_KINDS = {
    "action",
    "callback",
    "doc_fragments",
    "filter",
    "inventory",
    "lookup",
    "module_utils",
    "modules",
    "plugin_utils",
}


@pytest.fixture(scope="module")
def names(tarball: Path) -> set[str]:
    with tarfile.open(tarball) as tar:
        return {name.removeprefix("./") for name in tar.getnames()}


def test_nothing_of_how_it_is_made_is_in_it(names: set[str]) -> None:
    assert {name.split("/")[0] for name in names} == TOP
    assert {
        name.split("/")[1] for name in names if name.startswith("plugins/") and "/" in name
    } == PLUGIN_KINDS
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".tar.gz"))]


def test_every_tracked_plugin_role_and_playbook_is_in_it(names: set[str]) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "plugins", "roles", "playbooks", "examples", "awx"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    assert {name for name in tracked.stdout.split() if (ROOT / name).is_file()} <= names


def test_the_rights_of_each_playbook_are_in_it(names: set[str]) -> None:
    assert {name for name in names if name.startswith("rbac/")} == {f"rbac/{name}" for name in rights.pages()}


@pytest.fixture(scope="module")
def elsewhere(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment with an empty home whose only installed collection is the tarball.

    kubernetes.core of the Python environment is visible too.
    """
    home = tmp_path_factory.mktemp("home")
    environment = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "ANSIBLE_COLLECTIONS_PATH": str(home / "collections"),
    }
    # No server listens here: the module reports wrong input before its first request.
    environment |= {
        "K8S_AUTH_HOST": "https://127.0.0.1:1",
        "K8S_AUTH_API_KEY": "nobody",
        "K8S_AUTH_VERIFY_SSL": "false",
    }
    command: list[str | Path] = [
        BIN / "ansible-galaxy",
        "collection",
        "install",
        "--offline",
        "--no-deps",
        "-p",
        home / "collections",
        tarball,
    ]
    subprocess.run(command, cwd=home, env=environment, check=True, capture_output=True)
    assert (home / "collections/ansible_collections/accelerators/openshift/MANIFEST.json").is_file()
    return environment


def play(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / "ansible-playbook"), *arguments]
    return subprocess.run(
        command,
        cwd=environment["HOME"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_installed_it_runs_by_full_name_and_names_what_is_wrong(elsewhere: dict[str, str]) -> None:
    pools = [
        {"name": "a", "candidates": [{"instance_type": "g4dn.xlarg", "zones": ["us-east-2a"]}], "replicas": 1}
    ]
    done = play(elsewhere, "accelerators.openshift.enable_gpus", "-e", json.dumps({"gpu_pools": pools}))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "gpu_pools[0].candidates[0].instance_type" in done.stdout
    assert "g4dn.xlarge" in done.stdout, "the nearest name is offered"


def test_installed_without_pools_it_shows_an_example(elsewhere: dict[str, str]) -> None:
    done = play(elsewhere, "accelerators.openshift.enable_gpus")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "POOL-NONE" in done.stdout
    assert "gpu_pools:" in done.stdout


def test_installed_its_documentation_reads(elsewhere: dict[str, str]) -> None:
    command = [str(BIN / "ansible-doc"), "accelerators.openshift.gpu_quota"]
    done = subprocess.run(
        command,
        cwd=elsewhere["HOME"],
        env=elsewhere,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "prove" in done.stdout
