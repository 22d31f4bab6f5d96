# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Those who wait for a node: a playbook, kubectl wait, and a raw watch."""

from __future__ import annotations

import json
import subprocess
import threading
import time
import typing as t
from pathlib import Path

import measure
from bench_cluster import BenchCluster

from playbooks import BIN, KUBECTL, Surroundings

PATIENCE: t.Final = 60.0


class Told:
    """A playbook that waits for one node after the other, and the moments that its callback wrote down."""

    def __init__(self, where: Surroundings, name: str, tasks: list[dict[str, t.Any]]) -> None:
        self._log = where.directory / f"{name}.jsonl"
        self._log.unlink(missing_ok=True)
        environment = where.environment | {
            "ANSIBLE_CALLBACKS_ENABLED": "moments",
            "BENCH_MOMENTS": str(self._log),
        }
        self._output = (where.directory / f"{name}.log").open("wb")
        argv: list[str | Path] = [
            BIN / "ansible-playbook",
            "-i",
            where.directory / "inventory.yml",
            where.write(f"wait-{name}", tasks),
        ]
        self._child = subprocess.Popen(
            argv, env=environment, stdin=subprocess.DEVNULL, stdout=self._output, stderr=subprocess.STDOUT
        )

    def of(self, task: str) -> dict[str, t.Any]:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and (self._child.poll() is None or self._log.exists()):
            lines = (
                [
                    json.loads(line)
                    for line in self._log.read_text().splitlines(keepends=True)
                    if line.endswith("\n")
                ]
                if self._log.exists()
                else []
            )
            for line in lines:
                if line["task"] == task:
                    return dict(line)
            time.sleep(0.02)
        raise measure.RunError(Path(self._output.name).read_text()[-3000:])

    def close(self) -> None:
        if self._child.poll() is None:
            self._child.terminate()
        self._child.wait()
        self._output.close()


class Exit:
    """kubectl wait: the moment of its exit is when a script goes on."""

    def __init__(self, where: Surroundings, name: str) -> None:
        argv: list[str | Path] = [KUBECTL, "wait", "--for=condition=Ready", f"node/{name}", "--timeout=300s"]
        self._child = subprocess.Popen(
            argv, env=where.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        self._moment = 0.0
        self._thread = threading.Thread(target=self._wait)
        self._thread.start()

    def _wait(self) -> None:
        self._child.wait()
        self._moment = time.monotonic()

    def seen(self) -> float:
        self._thread.join()
        return self._moment


class Raw:
    """The floor: one watch read byte by byte as it comes, nothing interpreted before the word is in it."""

    def __init__(self, cluster: BenchCluster, name: str) -> None:
        query = {"watch": "true", "resourceVersion": "0", "fieldSelector": f"metadata.name={name}"}
        self._moment = 0.0
        self._answer = cluster.client.stream("/api/v1/nodes", query)
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        received = b""
        while b"KubeletReady" not in received:
            received += self._answer.read1(1 << 16)
        self._moment = time.monotonic()

    def seen(self) -> float:
        self._thread.join(PATIENCE)
        self._answer.close()
        return self._moment
