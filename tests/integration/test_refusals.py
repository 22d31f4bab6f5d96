# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules refuse invalid input before the first request, never read it as something else."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml
from integration.playbook import Playbook
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
    "name": "scaled",
    "candidates": POOL["candidates"],
    "autoscale": {"min": 0, "max": 2},
}


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({"pool": EXISTING}, "POOL-CONFLICT", "existing nodes"),
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
        ({"branch": "777"}, "UPGRADE-BRANCH", "branch: nobody publishes branch 777"),
        ({"branch": "580", "window": "tonight"}, "UPGRADE-WINDOW", "window: 'tonight'"),
    ],
)
def test_gpu_driver_upgrade(playbook: Playbook, audit: Audit, options: Data, code: str, words: str) -> None:
    task = playbook.module("gpu_driver_upgrade", **options)
    assert (task["code"], task["layer"]) == (code, "input")
    assert words in task["msg"]
    assert audit.of(task) == []


@pytest.mark.parametrize("replicas", ["two", "-1"])
def test_a_pool_is_not_resized_to_what_is_no_number(playbook: Playbook, audit: Audit, replicas: str) -> None:
    run = playbook.playbook("resize_pool", gpu_pools=[POOL], gpu_pool="never", gpu_replicas=replicas)
    assert "gpu_pools[0].replicas: " in run.failure["msg"]
    assert audit.writes(*run.tasks) == []


@pytest.mark.parametrize(
    ("name", "given", "code", "words"),
    [
        ("resize_pool", {}, "INPUT-VARIABLE", "gpu_pool and gpu_replicas"),
        ("resize_pool", {"gpu_pool": "never", "gpu_replicas": ""}, "INPUT-VARIABLE", "gpu_replicas"),
        ("resize_pool", {"gpu_pool": "nevr", "gpu_replicas": 2}, "POOL-UNKNOWN", "did you mean never?"),
        ("resize_pool", {"gpu_pool": "scaled", "gpu_replicas": 2}, "POOL-CONFLICT", "autoscaler decides"),
        ("resize_pool", {"gpu_pool": "there", "gpu_replicas": 2}, "POOL-CONFLICT", "existing nodes"),
        ("before_openshift_update", {}, "INPUT-VARIABLE", "gpu_update_version"),
        ("before_openshift_update", {"gpu_update_pools": "paus"}, "INPUT-VARIABLE", "did you mean pause?"),
        ("rbac", {"gpu_rbac_token_file": "a"}, "INPUT-VARIABLE", "gpu_rbac_token_playbook"),
        (
            "enable_gpus",
            {"gpu_report_dir": "/dev/null/below"},
            "INPUT-REPORT",
            "Not a directory: /dev/null/below",
        ),
    ],
)
def test_a_playbook_refuses_a_run_that_says_too_little_before_its_first_request(
    playbook: Playbook, audit: Audit, name: str, given: Data, code: str, words: str
) -> None:
    run = playbook.playbook(name, gpu_pools=[POOL, SCALED, EXISTING], **given)
    assert run.failure["code"] == code
    assert words in run.failure["message"]
    assert run.failure["remedy"]
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
        {"platform": "aws", "instance_type": "g9x.large", "gpus": 1, "gpu_model": "T4", "gpu_memory_gib": 16}
    ]
    run = playbook.playbook(name, "--check", gpu_pools=[own], gpu_instance_types_catalogue=catalogue, **more)
    assert run.rc == 0, run.output


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


def test_a_playbook_without_tags_refuses_a_tag(playbook: Playbook, audit: Audit) -> None:
    run = playbook.playbook("repair_node", "--tags gpu_node", gpu_node="a")
    assert run.failure["message"].startswith(
        "--tags gpu_node: no task of repair_node.yml has it. Its tags: none."
    )
    assert audit.of(*run.tasks) == []


def test_a_list_of_pools_that_the_inventory_has_for_others_is_named(
    playbook: Playbook, audit: Audit, tmp_path: Path
) -> None:
    hosts = {"east": {"gpu_pools": [POOL]}, "west": {"gpu_pools": "{{ a_later_result }}"}, "empty": {}}
    groups: Data = {"production": {"hosts": {"east": {}, "west": {}}}}
    inventory = tmp_path / "inventory.yml"
    inventory.write_text(yaml.safe_dump({"all": {"hosts": hosts, "children": groups}}))
    run = playbook.playbook("enable_gpus", f"-i {inventory}")
    assert run.failure["code"] == "POOL-NONE"
    assert run.failure["remedy"].startswith("Add -e gpu_clusters=production to the command: ")
    assert run.failure["remedy"] in run.failure["msg"]
    assert audit.of(*run.tasks) == []
