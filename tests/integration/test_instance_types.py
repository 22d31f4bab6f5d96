# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lookup gpu_instance_types in a play without a cluster: its examples, the user's file, errors."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import pytest
import yaml
from integration.playbook import Playbook

from ansible_collections.accelerators.openshift.plugins.lookup import gpu_instance_types

QUERY: t.Final = "query('accelerators.openshift.gpu_instance_types', "


@pytest.fixture
def playbook(tmp_path: Path) -> Playbook:
    return Playbook(tmp_path, tmp_path / "no-kubeconfig")


def debug(expression: str, **variables: t.Any) -> dict[str, t.Any]:
    return {"ansible.builtin.debug": {"msg": "{{ " + QUERY + expression + ") }}"}, "vars": variables}


def test_the_examples_run(playbook: Playbook) -> None:
    run = playbook.tasks(*yaml.safe_load(gpu_instance_types.EXAMPLES))
    assert run.rc == 0, run.output
    gpus, a100, big, near, own = (task["msg"] for task in run.tasks)
    assert int(gpus) == 8
    assert a100 == ["p4d.24xlarge", "p4de.24xlarge"]
    assert {"p4d.24xlarge", "Standard_ND96isr_H100_v5"} <= set(big)
    assert "g5.48xlarge" not in big
    assert [one["instance_type"] for one in near][:1] == ["Standard_ND96isr_H100_v5"]
    assert [one["meets"] for one in near] == [True, False, False]
    assert [(one["platform"], one["gpus"], one["mig_capable"], one["source"]) for one in own] == [
        ("openstack", 2, True, "user")
    ]


@pytest.mark.parametrize("dump", [yaml.safe_dump, json.dumps], ids=["yaml", "json"])
def test_a_file_by_option_and_by_variable(
    playbook: Playbook, tmp_path: Path, dump: t.Callable[[t.Any], str]
) -> None:
    path = tmp_path / "types-of-ours"
    path.write_text(
        dump(
            [
                {
                    "platform": "aws",
                    "instance_type": "p9.48xlarge",
                    "gpus": 8,
                    "gpu_model": "B300",
                    "rdma": True,
                }
            ]
        )
    )
    run = playbook.tasks(
        debug("'p9.48xlarge', catalogue=file", file=str(path)),
        debug("'p9.48xlarge'", gpu_instance_types_catalogue=str(path)),
    )
    assert run.rc == 0, run.output
    assert [
        [(one["gpus"], one["gpu_memory_gib"], one["rdma"], one["as_of"]) for one in task["msg"]]
        for task in run.tasks
    ] == [[(8, 268, True, None)]] * 2


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("nearest='eight H100'", "INPUT-GPU-MODEL"),
        ("gpu_modle='A100'", "Did you mean gpu_model?"),
    ],
)
def test_what_is_wrong_is_said(playbook: Playbook, expression: str, says: str) -> None:
    run = playbook.tasks(debug(expression))
    assert run.rc != 0
    assert says in run.output.replace("\n", " ")
