# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run Prometheus, and the server that stands in for its operator, its exporters and the monitoring API."""

from __future__ import annotations

import sys
import time
import typing as t
import urllib.request
from pathlib import Path

from openshift_sandbox.pki import Authority
from openshift_sandbox.programs import own_server
from openshift_sandbox.sandbox import Sandbox, SandboxError
from openshift_sandbox.scenario import Scenario

FAMILY: t.Final = "prometheus"
NAME: t.Final = "prometheus"
# The server of the stand-ins: its port of this name is the monitoring API, the other one has the exporters.
SERVER: t.Final = "monitoring"
EXPORTERS: t.Final = "exporters"
MANAGED: t.Final = "openshift-config-managed"
READY_SECONDS: t.Final = 60.0


def wanted(scenario: Scenario) -> bool:
    """Return whether the scenario's cluster has a Prometheus."""
    return bool(scenario.cluster.get("prometheus"))


def folder(sandbox: Sandbox) -> Path:
    """Return the folder of the configuration, the rules and the data."""
    return sandbox.run / NAME


def url(port: int) -> str:
    """Return the address of a server of this machine, without TLS."""
    return f"http://127.0.0.1:{port}"


def command(program: Path, place: Path, port: int) -> list[str | Path]:
    """Return the command that runs Prometheus in a folder, with its configuration in prometheus.yml."""
    return [
        program,
        *("--config.file", place / "prometheus.yml", "--storage.tsdb.path", place / "data"),
        *("--storage.tsdb.retention.time", "15d"),
        *("--web.listen-address", f"127.0.0.1:{port}", "--web.enable-lifecycle", "--log.level", "warn"),
    ]


def start(sandbox: Sandbox) -> None:
    """Start both, and publish the address of the monitoring API as its operator does.

    Raises SandboxError when one of them does not answer.
    """
    place, authority = folder(sandbox), Authority(sandbox.run / "pki")
    place.mkdir(exist_ok=True)
    authority.server(SERVER)
    if not (place / "prometheus.yml").exists():
        (place / "prometheus.yml").write_text("global: {}\n")
    argv = command(sandbox.binary(FAMILY, "prometheus"), place, sandbox.port(NAME))
    sandbox.processes.start(NAME, argv)
    wait_ready(sandbox)
    sandbox.processes.start(
        SERVER,
        [sys.executable, "-m", "openshift_sandbox.stand_ins.monitoring.server", "--dir", sandbox.directory],
    )
    own_server.wait_ready(sandbox, SERVER, "the monitoring API is silent")
    client = sandbox.client("cluster-monitoring-operator")
    address = f"https://127.0.0.1:{sandbox.port(SERVER)}"
    certificate = authority.certificate.read_text()
    for name, data in (
        ("monitoring-shared-config", {"thanosPublicURL": address, "prometheusPublicURL": address}),
        ("default-ingress-cert", {"ca-bundle.crt": certificate}),
    ):
        metadata = {"name": name, "namespace": MANAGED}
        client.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


def wait_ready(sandbox: Sandbox) -> None:
    """Wait until Prometheus answers. Raises SandboxError, or ProcessDied when it ended."""
    deadline = time.monotonic() + READY_SECONDS
    while not answers(url(sandbox.port(NAME))):
        sandbox.processes.check(NAME)
        if time.monotonic() > deadline:
            raise SandboxError(
                f"Prometheus is not ready after {READY_SECONDS:.0f} s; see {sandbox.logs / f'{NAME}.log'}"
            )
        time.sleep(0.1)


def answers(address: str) -> bool:
    """Return whether a Prometheus is ready."""
    try:
        with urllib.request.urlopen(f"{address}/-/ready", timeout=5.0) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
