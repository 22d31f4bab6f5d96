# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of ansible-playbook prints: no terminal escapes, and little of a message of any length."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
import yaml
from faults.served import Exchange, Served
from faults.wire.asking import TOKEN, manifest
from integration.playbook import ROOT
from unit.fake_server import FakeServer, status

CLEAR: t.Final = "\x1b[2J\x1b]0;title\x07\x9b31m"
WRITTEN: t.Final = r"\x1b[2J\x1b]0;title\x07\x9b31m"
IN_PROCESS: t.Final = {"ANSIBLE_CALLBACKS_ENABLED": "accelerators.openshift.verdict"}
ORDINARY: t.Final = {**IN_PROCESS, "ACCELERATORS_IN_PROCESS": "0"}


def printed(folder: Path, *arguments: str, **environment: str) -> str:
    """Return what ansible-playbook prints on both streams."""
    program = Path(sys.executable).parent / "ansible-playbook"
    own = {
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
        "ANSIBLE_HOME": str(folder / "ansible"),
        "ANSIBLE_FORCE_COLOR": "0",
        "KUBECONFIG": "",
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = subprocess.run(
        [str(program), "-i", "localhost,", *arguments],
        env={**os.environ, **own, **environment},
        cwd=folder,
        capture_output=True,
        check=False,
    )
    return (done.stdout + done.stderr).decode()


def has_control_characters(text: str) -> bool:
    return any(not char.isprintable() for char in text.replace("\n", "").replace("\t", ""))


def test_an_extra_var_with_terminal_escapes_is_written_out(tmp_path: Path) -> None:
    def act(exchange: Exchange) -> None:
        if "selfsubjectaccessreviews" in exchange.path:
            granted = {"kind": "SelfSubjectAccessReview", "status": {"allowed": True}}
            exchange.reply(201, json.dumps(granted).encode(), ("Content-Type", "application/json"))
        else:
            exchange.answer()

    with Served(state=FakeServer("Node", "Machine", "Lease"), act=act) as served:
        extra = {"gpu_node": CLEAR, "gpu_cluster_connection": {"host": served.url, **TOKEN}}
        playbook = ROOT / "playbooks/replace_node.yml"
        output = printed(tmp_path, str(playbook), "-e", json.dumps(extra), **IN_PROCESS)
    assert f"There is no node and no machine {WRITTEN}" in output
    assert not has_control_characters(output)


@pytest.mark.parametrize("environment", [IN_PROCESS, ORDINARY], ids=["in process", "ordinary"])
def test_a_message_of_the_server_is_written_out_and_cut(tmp_path: Path, environment: dict[str, str]) -> None:
    def act(exchange: Exchange) -> None:
        answer = status(422, "Invalid", f"data: {CLEAR}{'x' * 3_000_000}")
        exchange.reply(422, answer.read(), ("Content-Type", "application/json"))

    with Served(act=act) as served:
        task = {"accelerators.openshift.manifests": {"objects": [manifest()], "host": served.url, **TOKEN}}
        variables = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        play = {"hosts": "localhost", "gather_facts": False, "vars": variables, "tasks": [task]}
        (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
        output = printed(tmp_path, "play.yml", **environment)
    assert f"was rejected: data: {WRITTEN}" in output
    assert not has_control_characters(output)
    assert len(output) < 20_000
