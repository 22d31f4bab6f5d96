# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Prometheus on this machine, without a cluster, asked as the collection asks it."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import typing as t
from pathlib import Path

import pytest
from integration.patience import until

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import connect
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.querier import (
    Querier,
    opened,
)
from openshift_sandbox import build
from openshift_sandbox.programs import prometheus
from openshift_sandbox.sandbox import BUILD


def program(name: str) -> Path:
    """Return prometheus or promtool. Skip where they are not built."""
    if not build.built(prometheus.FAMILY):
        pytest.skip("Prometheus is not built: run `sandbox build --with prometheus`")
    return BUILD / "bin" / prometheus.FAMILY / name


def free_port() -> int:
    with contextlib.closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Running(t.NamedTuple):
    """A Prometheus that answers. api: of a cluster that no test asks anything."""

    url: str
    api: Api

    @property
    def querier(self) -> Querier:
        return opened(self.api, self.url)

    def answers(self, expression: str) -> bool:
        """Return whether an expression has data."""
        return bool(self.querier.instant(expression))


@contextlib.contextmanager
def running(folder: Path) -> t.Iterator[Running]:
    """Run Prometheus in a folder that has its prometheus.yml."""
    port = free_port()
    command = prometheus.command(program("prometheus"), folder, port)
    with (folder / "prometheus.log").open("w") as log:
        child = subprocess.Popen([*map(str, command)], cwd=folder, stdout=log, stderr=log)
    try:
        until(lambda: child.poll() is not None or prometheus.answers(prometheus.url(port)), "it answers", 60)
        assert child.poll() is None, (folder / "prometheus.log").read_text()[-2000:]
        api = connect({"host": "https://127.0.0.1:1", "api_key": "of-no-cluster"}, "gpu_use")
        yield Running(prometheus.url(port), api)
    finally:
        child.terminate()
        child.wait(30)
