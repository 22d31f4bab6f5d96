# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules refuse invalid input before the first request, never read it as something else."""

from __future__ import annotations

import os
import subprocess
import sys
import typing as t
from pathlib import Path

import pytest
import yaml
from integration.playbook import ROOT, Playbook
from integration.wire import Audit

Data = dict[str, t.Any]
POOL: t.Final[Data] = {
    "name": "never",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "replicas": 1,
}
EXISTING: t.Final[Data] = {
    "name": "there",
    "existing": {"node_selector": {"rack": "b2"}, "expected": {"nvidia.com/gpu": 1}},
}
SCALED: t.Final[Data] = {
    **{key: POOL[key] for key in ("name", "candidates")},
    "autoscale": {"min": 0, "max": 2},
}
OLD_NAMES: t.Final[Data] = yaml.safe_load((ROOT / "playbooks/tasks/refuse_old_names.yml").read_text())[0][
    "vars"
]["__gpu_old_names"]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({"pool": EXISTING}, "POOL-CONFLICT", "existing nodes"),
        (
            {"pool": POOL, "replicas": 4, "labels": {"team": "ml"}},
            "POOL-CONFLICT",
            "replicas, labels cannot be combined with pool",
        ),
        ({"pool": POOL, "market": "spot"}, "POOL-CONFLICT", "market cannot be combined with pool"),
        ({"pool": POOL, "max_surge": 0}, "INPUT-VALUE", "max_surge is 0"),
        ({"pool": POOL, "capacity_timeout": -1}, "INPUT-VALUE", "capacity_timeout is -1"),
        ({"name": "", "state": "absent"}, "POOL-VALUE", "name ''"),
        ({"name": "Never!", "state": "absent"}, "POOL-VALUE", "name 'Never!'"),
    ],
)
def test_gpu_machineset(playbook: Playbook, audit: Audit, options: Data, code: str, words: str) -> None:
    task = playbook.module("gpu_machineset", **options)
    assert (task["code"], task["layer"]) == (code, "input")
    assert words in task["msg"]
    assert audit.of(task) == []


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({"version": "580.173.02"}, "UPGRADE-TRIPLE", "repository: is missing"),
        ({"branch": "777"}, "UPGRADE-BRANCH", "branch: nobody publishes branch 777"),
        ({"branch": "580", "wave": "120%"}, "UPGRADE-WAVE", "wave: '120%'"),
        ({"branch": "580", "window": "tonight"}, "UPGRADE-WINDOW", "window: 'tonight'"),
    ],
)
def test_gpu_driver_upgrade(playbook: Playbook, audit: Audit, options: Data, code: str, words: str) -> None:
    task = playbook.module("gpu_driver_upgrade", **options)
    assert (task["code"], task["layer"]) == (code, "input")
    assert words in task["msg"]
    assert audit.of(task) == []


@pytest.mark.parametrize("replicas", ["two", "1.5", "", "-1"])
def test_a_pool_is_not_resized_to_what_is_no_number(playbook: Playbook, audit: Audit, replicas: str) -> None:
    run = playbook.playbook("resize_pool", gpu_pools=[POOL], gpu_pool="never", gpu_replicas=replicas)
    assert "gpu_pools[0].replicas: " in run.failure["msg"]
    assert audit.writes(*run.tasks) == []


@pytest.mark.parametrize(
    ("pool", "words"), [(SCALED, "autoscaler: change min and max"), (EXISTING, "existing nodes")]
)
def test_a_pool_whose_number_is_not_ours_is_not_resized(
    playbook: Playbook, audit: Audit, pool: Data, words: str
) -> None:
    run = playbook.playbook("resize_pool", gpu_pools=[pool], gpu_pool=pool["name"], gpu_replicas=2)
    assert words in run.failure["msg"]
    assert audit.of(*run.tasks) == []


@pytest.mark.parametrize("state", ["present", "absent"])
def test_the_role_takes_existing_nodes_as_their_user_writes_them(
    playbook: Playbook, audit: Audit, state: str
) -> None:
    options = {"gpu_node_pool_pools": [EXISTING], "gpu_node_pool_state": state}
    run = playbook.tasks(
        {"ansible.builtin.include_role": {"name": "accelerators.openshift.gpu_node_pool"}, "vars": options}
    )
    assert run.rc == 0, run.failure
    assert audit.writes(*run.tasks) == []


@pytest.mark.parametrize(
    ("name", "more"), [("resize_pool", {"gpu_pool": "own", "gpu_replicas": 2}), ("remove_gpus", {})]
)
def test_types_of_ones_own_are_known_when_a_pool_changes_or_goes(
    playbook: Playbook, name: str, more: Data
) -> None:
    own = POOL | {"name": "own", "candidates": [{"instance_type": "g9x.large", "zones": ["us-east-2a"]}]}
    catalogue = [
        {"cloud": "aws", "instance_type": "g9x.large", "gpus": 1, "gpu_model": "T4", "gpu_memory_gib": 16}
    ]
    run = playbook.playbook(name, "--check", gpu_pools=[own], gpu_instance_types_catalogue=catalogue, **more)
    assert run.rc == 0, run.output


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("enable_gpus", "roles"),
        ("plan", "roles"),
        ("drift", "roles"),
        ("after_openshift_update", "roles"),
        ("remove_gpus", "roles"),
        ("resize_pool", "nodes"),
        ("replace_node", "nodes"),
        ("repair_node", "nodes"),
        ("remove_pool", "nodes"),
        ("upgrade_driver", "nodes"),
        ("preflight_update", "update"),
        ("before_openshift_update", "update"),
    ],
)
def test_an_old_name_is_refused_and_the_new_one_named(
    playbook: Playbook, audit: Audit, name: str, group: str
) -> None:
    old = OLD_NAMES["cluster"] | OLD_NAMES[group]
    run = playbook.playbook(name, gpu_pools=[POOL], **dict.fromkeys(old, 0))
    said = ", ".join(f"{one} is now {new}" for one, new in old.items())
    assert run.failure["msg"] == f"Variables have new names: {said}. Nothing was changed."
    assert audit.of(*run.tasks) == []


@pytest.mark.parametrize(
    ("inventory", "is_refused"),
    [
        ({"pool": "web", "node": "a", "replicas": 3, "force": True, "wait_timeout": 5}, False),
        ({"cluster_connection": {"kubeconfig": "elsewhere"}}, True),
    ],
    ids=["their-own", "ours"],
)
def test_an_inventory_may_use_the_short_names_for_itself(
    tmp_path: Path, inventory: Data, is_refused: bool
) -> None:
    hosts = {"all": {"hosts": {"localhost": {"ansible_connection": "local", **inventory}}}}
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump(hosts))
    done = subprocess.run(
        [
            Path(sys.executable).parent / "ansible-playbook",
            *("-i", "hosts.yml", ROOT / "playbooks/remove_pool.yml"),
        ],
        cwd=tmp_path,
        env={
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
            "HOME": str(tmp_path),
            "LANG": "C.UTF-8",
            "PATH": os.environ["PATH"],
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    expected = (
        "cluster_connection is now gpu_cluster_connection"
        if is_refused
        else "INPUT-REQUIRED: Name the pool: -e gpu_pool=NAME"
    )
    assert done.returncode == 2, done.stderr
    assert expected in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"gpu_validation_max_nodes": "zero"}, "gpu_validation_max_nodes must be a whole number, not 'zero'"),
        ({"gpu_on_buzy": "drain"}, "did you mean gpu_on_busy?"),
    ],
)
def test_a_playbook_checks_what_a_user_set_before_its_first_request(
    playbook: Playbook, audit: Audit, given: Data, words: str
) -> None:
    run = playbook.playbook("enable_gpus", gpu_pools=[POOL], **given)
    assert run.failure["code"] == "INPUT-VARIABLE"
    assert words in run.failure["message"]
    assert audit.of(run.failure) == []
