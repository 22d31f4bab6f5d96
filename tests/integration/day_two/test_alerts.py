# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real ansible-rulebook, with the rulebook of the collection and alerts as Alertmanager sends them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import typing as t
import venv
from pathlib import Path

import pytest
import urllib3
import yaml
from cluster import ROOT, Cluster
from integration.patience import until
from integration.troubles.demo import POOLS

from openshift_sandbox import audit

pytestmark = pytest.mark.long("a JVM and an environment of its own; few users run ansible-rulebook")
RULEBOOK: t.Final = ROOT / "extensions/eda/rulebooks/gpu_alerts.yml"
PINNED: t.Final = "ansible-rulebook==1.3.2"
TOKEN: t.Final = "a-token-of-the-test"
SECONDS: t.Final = 240


@pytest.fixture(scope="module")
def java() -> str:
    """Return the home of a JVM; skip without one."""
    found = shutil.which("java")
    if found is None:
        pytest.skip("ansible-rulebook needs Java 17, and there is no java here")
    return str(Path(found).resolve().parents[1])


@pytest.fixture(scope="module")
def rulebook() -> Path:
    """Return the program. Its environment is apart: its pins would hold those of the tests back."""
    folder = ROOT / ".build/rulebook"
    if not (folder / PINNED).exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([folder / "bin/pip", "install", "--quiet", PINNED], check=True, timeout=SECONDS)
        (folder / PINNED).touch()
    return folder / "bin/ansible-rulebook"


class Listening(t.NamedTuple):
    """A rulebook that waits for alerts. report: where drift.yml writes; log: what all playbooks say."""

    url: str
    report: Path
    log: Path

    def send(self, *alerts: dict[str, t.Any], token: str = TOKEN) -> int:
        """Send alerts as Alertmanager does, and return the status of the answer."""
        found = urllib3.request(
            "POST",
            self.url,
            json={"version": "4", "status": "firing", "alerts": list(alerts)},
            headers={"Authorization": f"Bearer {token}"},
            timeout=60.0,
            retries=False,
        )
        return int(found.status)

    def says(self, *texts: str) -> bool:
        """Return True if the playbooks have said all of this."""
        log = self.log.read_text()
        return all(one in log for one in texts)


def alert(name: str, status: str = "firing", **labels: str) -> dict[str, t.Any]:
    return {"status": status, "labels": {"alertname": name, **labels}, "annotations": {}}


def free_port() -> int:
    with contextlib.closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def listening(
    cluster: Cluster, java: str, rulebook: Path, tmp_path_factory: pytest.TempPathFactory
) -> t.Iterator[Listening]:
    folder, port = tmp_path_factory.mktemp("alerts"), free_port()
    found = Listening(f"http://127.0.0.1:{port}/alerts", folder / "drift.json", folder / "rulebook.log")
    variables = {
        "gpu_playbooks": str(ROOT / "playbooks"),
        "gpu_alerts_port": port,
        "gpu_alerts_token": TOKEN,
    }
    (folder / "vars.yml").write_text(yaml.safe_dump(variables))
    host = {
        "ansible_connection": "local",
        "gpu_cluster_connection": {"kubeconfig": str(cluster.kubeconfig)},
        "gpu_pools": POOLS,
        "gpu_drift_file": str(found.report),
        "gpu_drift_fail": False,  # ansible-rulebook prints a playbook that failed twice
    }
    (folder / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": {"localhost": host}}}))
    environment = {
        **os.environ,
        "JAVA_HOME": java,
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
        "ANSIBLE_HOME": str(folder / "home"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    command = [str(rulebook), "--rulebook", str(RULEBOOK), "-i", "hosts.yml", "--vars", "vars.yml"]
    with found.log.open("w") as log:
        running = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        until(lambda: opened(port) or running.poll() is not None, "the webhook listens", SECONDS)
        assert running.poll() is None, found.log.read_text()[-4000:]
        yield found
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGTERM)
        running.wait(60)


def opened(port: int) -> bool:
    with contextlib.closing(socket.socket()) as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def test_a_wrong_token_is_refused(listening: Listening) -> None:
    assert listening.send(alert("GPUOperatorReconciliationFailed"), token="wrong") == 401


def test_alerts_start_reports_and_nothing_is_written(cluster: Cluster, listening: Listening) -> None:
    sandbox = cluster.needs_sandbox()
    start = audit.position(sandbox.audit_log)
    node = cluster.client.list("v1", "nodes", labels="node-role.kubernetes.io/worker")[0]
    name = node["metadata"]["name"]
    alerts = [
        alert("GPUOperatorReconciliationFailed", status="resolved"),
        alert("GPUXidError", Hostname=name),
        alert("GPUOperatorReconciliationFailed"),
        alert("KubeNodeNotReady", node=name),
    ]
    assert listening.send(*alerts) == 200

    until(lambda: listening.says("Fail if something differs", "[Repair the node]"), "both reports", SECONDS)
    assert json.loads(listening.report.read_text())["code"] == "DRIFT-FOUND"
    text = listening.log.read_text()
    assert text.count("PLAY [Report drift]") == 1, "only the alert that fires starts a report"
    assert TOKEN not in text
    assert audit.writes(audit.read(sandbox.audit_log, start, "accelerators.openshift/")) == []
