"""Galaxy and Automation Hub import the tarball, and find the documentation of every plugin.

Their importer, galaxy-importer, reads a collection where none of its dependencies is installed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
DOCUMENTED = {
    "callback": "callback",
    "filter": "filter",
    "inventory": "inventory",
    "lookup": "lookup",
    "modules": "module",
}


class Import(t.NamedTuple):
    """output: what the importer printed. result: what it would give to the server."""

    output: str
    result: dict[str, t.Any]


@pytest.fixture(scope="module")
def imported(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> Import:
    home = tmp_path_factory.mktemp("importer")
    done = _run(home, [sys.executable, "-m", "galaxy_importer.main", tarball])
    assert done.returncode == 0, done.stdout + done.stderr
    return Import(done.stdout + done.stderr, json.loads((home / "importer_result.json").read_text()))


def _run(folder: Path, command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    environment = {
        "HOME": str(folder),
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
        # kubernetes.core is installed beside Ansible here; the importer has none.
        "ANSIBLE_COLLECTIONS_SCAN_SYS_PATH": "false",
        # It stops ansible-lint after three minutes, which a busy machine needs.
        "GALAXY_IMPORTER_RUN_ANSIBLE_LINT": "false",
    }
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=1100,
    )


def test_it_imports_without_an_error_or_a_warning(imported: Import) -> None:
    assert "Importer processing completed successfully" in imported.output
    assert [line for line in imported.output.splitlines() if line.startswith(("ERROR", "WARNING"))] == []


def test_ansible_lint_finds_nothing_in_it(tarball: Path, tmp_path: Path) -> None:
    """The importer calls it so, where this collection alone is installed."""
    folder = tmp_path / "ansible_collections/accelerators/openshift"
    folder.mkdir(parents=True)
    shutil.unpack_archive(tarball, folder)
    command = ["ansible-lint", "--profile", "production", "--format=pep8", "--nocolor", "--offline"]
    done = _run(folder, ["/usr/bin/env", f"ANSIBLE_COLLECTIONS_PATH={tmp_path}", *command])
    # What it says on stdout the importer shows as warnings; stderr is its log.
    assert (done.returncode, done.stdout) == (0, ""), done.stdout
    assert "Passed: 0 failure(s), 0 warning(s)" in done.stderr


def test_every_plugin_has_its_documentation(imported: Import) -> None:
    found = {
        (one["content_type"], one["content_name"]): one["doc_strings"]
        for one in imported.result["docs_blob"]["contents"]
    }
    plugins = [
        (kind, path.stem)
        for folder, kind in DOCUMENTED.items()
        for path in (ROOT / "plugins" / folder).glob("*.py")
    ]
    assert len(plugins) >= 20
    for plugin in plugins:
        assert found[plugin], plugin
        assert found[plugin]["doc"]["short_description"], plugin
        options = [option["name"] for option in found[plugin]["doc"].get("options", [])]
        assert plugin[0] != "module" or "kubeconfig" in options, plugin


def test_every_role_has_its_page(imported: Import) -> None:
    pages = {
        one["content_name"]: one["readme_html"]
        for one in imported.result["docs_blob"]["contents"]
        if one["content_type"] == "role"
    }
    assert sorted(pages) == sorted(path.name for path in (ROOT / "roles").iterdir())
    assert all(pages.values())


def test_the_server_is_given_the_supported_versions_of_ansible(imported: Import) -> None:
    runtime = yaml.safe_load((ROOT / "meta/runtime.yml").read_text())
    assert imported.result["requires_ansible"] == runtime["requires_ansible"]
