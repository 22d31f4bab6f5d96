# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our own files are compiled once, in Ansible's own process, with Ansible's loader of collections in place."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import sys
from ansible.plugins.loader import init_plugin_loader
init_plugin_loader([sys.argv[1]])
plugins = "ansible_collections.accelerators.openshift.plugins"
action = __import__(f"{plugins}.action.manifests", fromlist=["ActionModule"])
from ansible_collections.accelerators.openshift.plugins.module_utils import _diff
from ansible_collections.accelerators.openshift.plugins.modules import manifests
from ansible_collections.kubernetes.core.plugins.module_utils import args_common
print(_diff.MANAGER, type(_diff.__loader__).__name__, type(manifests.__loader__).__name__, type(args_common.__loader__).__name__)
"""


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A collection as ansible-galaxy leaves it."""
    folder = tmp_path / "ansible_collections/accelerators/openshift"
    shutil.copytree(ROOT / "plugins", folder / "plugins", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def imported(collection: Path, **environment: str) -> str:
    variables = {"PATH": os.environ["PATH"], "HOME": str(collection.parents[2]), "K8S_AUTH_HOST": "https://127.0.0.1:1", **environment}
    words = [sys.executable, "-c", PROGRAM, str(collection.parents[2])]
    done = subprocess.run(words, env=variables, cwd=collection, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def kept(collection: Path) -> dict[str, int]:
    return {path.name.partition(".")[0]: path.stat().st_mtime_ns for path in (collection / "plugins").rglob("*.pyc")}


def test_it_is_kept_and_used_and_only_ours(collection: Path) -> None:
    assert imported(collection) == "accelerators.openshift SourceFileLoader SourceFileLoader _AnsibleCollectionLoader"
    first = kept(collection)
    assert {"_diff", "_http", "_module", "manifests"} <= first.keys()
    imported(collection)
    assert kept(collection) == first


def test_what_has_changed_is_compiled_anew(collection: Path) -> None:
    imported(collection)
    path = collection / "plugins/module_utils/_diff.py"
    path.write_text(path.read_text().replace('"accelerators.openshift"', '"somebody.else"'))
    assert imported(collection).startswith("somebody.else ")


def test_pythons_own_switch_is_obeyed(collection: Path) -> None:
    assert imported(collection, PYTHONDONTWRITEBYTECODE="1").startswith("accelerators.openshift SourceFileLoader")
    assert not kept(collection)


def test_a_place_that_cannot_be_written_to_is_no_obstacle(collection: Path) -> None:
    # A file is in the way of the folder: that stops root as well, whom modes do not.
    (collection / "plugins/module_utils/__pycache__").write_text("")
    assert imported(collection).startswith("accelerators.openshift SourceFileLoader")
    assert "_diff" not in kept(collection)
