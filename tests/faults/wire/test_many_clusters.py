# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several clusters in one run of ansible-playbook, one of them dead."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sys
import time
import typing as t
from pathlib import Path

import pytest
import yaml
from faults.served import Served
from faults.wire.asking import TOKEN, manifest
from faults.wire.test_terminal import printed

SECONDS: t.Final = 45.0


def closed_port() -> str:
    """Return the URL of a port where nothing listens."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.long("It waits half a minute; the unit tests of the retries hold the times.")
def test_a_dead_cluster_ends_soon_and_does_not_hold_the_others(tmp_path: Path) -> None:
    dead = closed_port()
    with Served() as served:
        hosts = {"alive": {"url": served.url}, "dead": {"url": dead}}
        inventory = {"all": {"hosts": hosts}}
        first = {"objects": [manifest("first")], "host": "{{ url }}", **TOKEN}
        second = {"objects": [manifest("second")], "host": "{{ url }}", **TOKEN}
        variables = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        play = {
            "hosts": "alive:dead",
            "strategy": "free",
            "gather_facts": False,
            "vars": variables,
            "tasks": [{"accelerators.openshift.manifests": one} for one in (first, second)],
        }
        (tmp_path / "inventory.yml").write_text(json.dumps(inventory))
        (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
        started = time.monotonic()
        output = printed(tmp_path, "-i", "inventory.yml", "play.yml")
        assert 30 <= time.monotonic() - started <= SECONDS
        assert {name for *_kind, name in served.state.objects} == {"first", "second"}
    assert f"dead: waiting for {dead}: connection refused" in output
    assert "API-UNREACHABLE" in output
    assert output.index("changed: [alive]") < output.index("API-UNREACHABLE")
    assert re.search(r"alive +: ok=2 +changed=2 .*failed=0", output)
