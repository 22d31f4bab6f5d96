# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a sandbox at one moment, which the sandbox gets back: as fast as a start, and exact."""

from __future__ import annotations

import shutil
import signal
import socket
from pathlib import Path

from integration.patience import until

from openshift_sandbox import lifecycle
from openshift_sandbox.sandbox import Sandbox, SandboxError


class Snapshot:
    """What etcd holds now."""

    def __init__(self, sandbox: Sandbox, directory: Path) -> None:
        self.sandbox = sandbox
        self.data = directory / "etcd"
        sandbox.processes.signal("etcd", signal.SIGSTOP)
        try:
            shutil.copytree(sandbox.directory / "etcd", self.data, ignore=shutil.ignore_patterns("*.tmp"))
        finally:
            sandbox.processes.signal("etcd", signal.SIGCONT)

    def restore(self) -> None:
        """Give the sandbox this state, and wait until it is ready."""
        sandbox = self.sandbox
        sandbox.processes.kill_all()
        until(lambda: all(map(is_free, sandbox.state.get("ports").values())), "the ports of the sandbox free")
        shutil.rmtree(sandbox.directory / "etcd")
        shutil.copytree(self.data, sandbox.directory / "etcd")
        try:
            lifecycle.up(sandbox, sandbox.state.get("scenario"))
        except SandboxError:  # on a busy machine something was not ready in time
            lifecycle.up(sandbox, sandbox.state.get("scenario"))


def is_free(port: int) -> bool:
    """Return whether a server can listen there: a killed process holds it until all its threads ended."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
