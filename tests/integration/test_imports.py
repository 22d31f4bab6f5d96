# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible's parent process imports the client package, once; no task does.

The test records the pids of the processes that import it.
"""

from __future__ import annotations

import json
import os
import typing as t
from pathlib import Path

import pytest
from cluster import ROOT, Cluster
from integration.playbook import Playbook

MAP: t.Final = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "imports", "namespace": "default"},
}
TASK: t.Final = {"accelerators.openshift.manifests": {"objects": [MAP], "state": "absent"}}


@pytest.mark.parametrize("files", [1, 2])
def test_no_task_imports_the_client(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    """Run with one kubeconfig file, and with several."""
    log = tmp_path / "imports.jsonl"
    log.touch()
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "benchmarks" / "import_trace"))
    monkeypatch.setenv("IMPORT_TRACE", str(log))
    run = Playbook(tmp_path, Path(os.pathsep.join([str(cluster.kubeconfig)] * files))).tasks(*[TASK] * 3)
    assert (run.rc, len(run.tasks)) == (0, 3), run.output[-3000:]
    importers = {one["pid"]: one["program"] for one in map(json.loads, log.read_text().splitlines())}
    assert list(importers.values()) == ["ansible-playbook (parent)"]
