# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One sandbox: its directory, ports, programs, kubeconfigs and processes."""

from __future__ import annotations

import random
import socket
import sys
import time
import typing as t
from pathlib import Path

from openshift_sandbox import scenario as scenarios
from openshift_sandbox.client import Client
from openshift_sandbox.processes import Processes
from openshift_sandbox.state import State

CHECKOUT: t.Final = Path(__file__).resolve().parents[2]
SOURCES: t.Final = CHECKOUT / "sandbox"
BUILD: t.Final = CHECKOUT / ".build"
DEFAULT: t.Final = CHECKOUT / ".sandbox"
# Below the kernel's ephemeral range, so that no outgoing connection takes a port while its owner restarts.
PORTS: t.Final = range(20000, 32000)


class SandboxError(Exception):
    """Something that the user can repair: the message says how."""


class Sandbox:
    """The files of one sandbox directory, and the processes that run for it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory.resolve()
        self.run = self.directory / "run"
        self.logs = self.directory / "logs"
        self.kubeconfig = self.directory / "kubeconfig"
        self.restricted = self.directory / "kubeconfig-restricted"
        self.audit_log = self.directory / "audit.log"
        self.state = State(self.directory)
        self.processes = Processes(self.directory)

    @property
    def exists(self) -> bool:
        """Whether `up` has begun in this directory."""
        return (self.directory / "state.json").exists()

    @property
    def scenario(self) -> scenarios.Scenario:
        """The effective scenario."""
        return scenarios.read(self.directory)

    @property
    def url(self) -> str:
        """The address of the API server."""
        return f"https://127.0.0.1:{self.port('kube-apiserver')}"

    def create(self) -> None:
        """Make the directory. Raises SandboxError when it holds files that belong to no sandbox."""
        if (
            self.directory.exists()
            and any(self.directory.iterdir())
            and not (self.directory / "state.lock").exists()
        ):
            raise SandboxError(
                f"{self.directory} holds files that are no sandbox's: name another directory with --dir"
            )
        for folder in (self.directory, self.run, self.logs):
            folder.mkdir(parents=True, exist_ok=True)

    def port(self, name: str) -> int:
        """Return the port of a server.

        It is chosen once and then kept, so that kubeconfigs stay valid after a repair.
        """
        known = self.state.get("ports", {}).get(name)
        if known:
            return int(known)
        with self.state.change() as state:
            return int(state["ports"].setdefault(name, _free_port(set(state["ports"].values()))))

    def binary(self, family: str, name: str) -> Path:
        """Return the path of a program. Raises SandboxError when it is not built."""
        path = BUILD / "bin" / family / name
        if not path.exists():
            raise SandboxError(
                f"{path} is not built yet: run `sandbox build` (once, 7 to 13 minutes on two cores)"
            )
        return path

    def component_kubeconfig(self, name: str) -> Path:
        """Return the kubeconfig of a component.

        Each has its own user, so that the audit log says who wrote what.
        """
        return self.run / f"{name}.kubeconfig"

    def client(self, user_agent: str = "sandbox") -> Client:
        """Return a client of the administrator with this user agent."""
        return Client(self.kubeconfig, user_agent)


def say(text: str, since: float | None = None) -> None:
    """Print one line of progress, with the seconds since a start."""
    elapsed = f"{time.monotonic() - since:5.1f} s  " if since is not None else ""
    print(f"{elapsed}{text}", file=sys.stderr, flush=True)


def _free_port(taken: set[int]) -> int:
    for _attempt in range(200):
        port = random.choice(PORTS)
        if port in taken:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise SandboxError(f"no free port between {PORTS.start} and {PORTS.stop}")
