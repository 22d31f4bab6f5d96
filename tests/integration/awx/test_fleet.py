# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What docs/fleet.md says about plays of users over many clusters. The plans need no cluster."""

from __future__ import annotations

import re
import sys
import typing as t
from pathlib import Path

import ansible_runner
import pytest
import yaml
from integration.playbook import ROOT

Data = dict[str, t.Any]

POOLS: t.Final[list[Data]] = yaml.safe_load((ROOT / "examples/demo.yml").read_text())["gpu_pools"]
LIVE: t.Final[Data] = {"pools": POOLS}
# A plan of these pools fails, as a cluster does that is down.
DEAD: t.Final[Data] = {"pools": [{"name": "demo"}]}


def run(folder: Path, hosts: t.Mapping[str, Data], **keywords: t.Any) -> t.Any:
    """Plan the pools of each host in a play with these keywords."""
    task = {"accelerators.openshift.gpu_plan": {"pools": "{{ pools }}", "platform": "aws"}}
    (folder / "project").mkdir()
    play = {"name": "Plan", "hosts": "all", "connection": "local", "gather_facts": False, "tasks": [task]}
    (folder / "project/play.yml").write_text(yaml.safe_dump([{**play, **keywords}]))
    return ansible_runner.run(
        private_data_dir=str(folder),
        playbook="play.yml",
        inventory={"all": {"hosts": dict(hosts), "vars": {"ansible_python_interpreter": sys.executable}}},
        envvars={"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"},
        quiet=True,
        timeout=300,
    )


def last_line(ended: t.Any) -> str:
    return str(ended.stdout.read().strip().splitlines()[-1])


@pytest.mark.parametrize("strategy", ["free", "linear"])
def test_throttle_and_a_strategy_leave_every_cluster_its_turn(tmp_path: Path, strategy: str) -> None:
    ended = run(tmp_path, {"a": DEAD, "b": LIVE, "c": LIVE}, strategy=strategy, throttle=1)
    assert ended.rc == 2
    assert re.fullmatch(
        r"3 clusters: 2 done \(0 changed\), 1 failed: a \([A-Z-]+\)", found := last_line(ended)
    ), found


def test_a_batch_that_fails_ends_the_run_for_all_others(tmp_path: Path) -> None:
    ended = run(tmp_path, {"a": DEAD, "b": LIVE, "c": LIVE}, serial=1)
    assert ended.rc == 2
    assert set(ended.stats["processed"]) == {"a"}
