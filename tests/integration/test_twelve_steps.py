# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Twelve steps of the modules that need no other: create, again, modify, again, delete, again.

Each step runs in check mode and for real; `twelve_steps.py` says which run as an ordinary module too.
"""

from __future__ import annotations

import typing as t

import pytest
from integration.twelve_steps import OTHER_WAY, Case, Walks

Data = dict[str, t.Any]


def manifest(kind: str, name: str, api_version: str = "v1", **more: t.Any) -> Data:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **more}


SPACE = manifest("Namespace", "it-{way}-objects")
MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "it-{way}-objects"},
}
CLASS = manifest("PriorityClass", "it-{way}-high", "scheduling.k8s.io/v1", value=1000)
SRIOV = {"name": "sriov-network-operator", "namespace": "it-{way}-sriov", "channel": "stable"}
QUOTA = {"namespace": "it-{way}-quota", "create_namespace": True}
POOL = {"name": "it-{way}-pool", "instance_type": "g4dn.xlarge", "zones": ["us-east-2a"], "replicas": 1}

RIGHTS = {"playbooks": ["resize_pool"], "namespace": "it-{way}-rights"}
SHARED: t.Final = {"namespace": "default", "config_map": "it-{way}-shared"}
APART: t.Final = {"spare_namespace": "it-{way}-spare"}
TUNED = {"name": "it-{way}-tuned"}
SCALED = {
    "name": "it-{way}-scaled",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "accelerator": "it-{way}-gpu",
}

CASES = [
    Case(
        "gpu_quota",
        create=QUOTA | {"gpus": 2, "prove": True},
        modify=QUOTA | {"hard": {"requests.nvidia.com/gpu": 4, "requests.cpu": "1000m"}},
        delete={"namespace": "it-{way}-quota", "state": "absent"},
        varies=frozenset({"warnings"}),  # they depend on whether a GPU node exists yet
        whole=True,
    ),
    Case(
        "manifests",
        create={"objects": [MAP | {"data": {"a": "1"}}, CLASS, SPACE]},
        modify={"objects": [MAP | {"data": {"a": "2"}}, CLASS, SPACE]},
        delete={"objects": [MAP, CLASS, SPACE], "state": "absent"},
    ),
    Case(
        "olm_operator",
        create=SRIOV,
        modify=SRIOV | {"channel": "4.22"},
        delete=SRIOV | {"state": "absent"},
        varies=frozenset({"diff"}),  # OLM writes its own names and uids into it
    ),
    Case(
        "gpu_machineset",
        create=POOL,
        modify=POOL | {"replicas": 2},
        delete={"name": "it-{way}-pool", "state": "absent"},
        varies=frozenset({"diff", "foreseen"}),  # they name the drained nodes
    ),
    Case(
        "node_tuning",
        create={"pools": [TUNED | {"tuning": {"profile": "accelerator"}}]},
        modify={"pools": [TUNED | {"tuning": {"profile": "accelerator", "sysctl": {"vm.swappiness": 1}}}]},
        delete={"pools": [TUNED], "state": "absent"},
    ),
    Case(
        "gpu_sharing",
        create={**SHARED, "pools": [{"name": "it-shared", "sharing": {"time_slicing": {"replicas": 4}}}]},
        modify={**SHARED, "pools": [{"name": "it-shared", "sharing": {"mps": {"replicas": 4}}}]},
        delete={**SHARED, "pools": [{"name": "it-shared"}], "state": "absent"},
    ),
    Case(
        "gpu_partition",
        create={**APART, "pools": [{"name": "it-{way}-apart", "spare": 1}]},
        modify={**APART, "pools": [{"name": "it-{way}-apart", "spare": 2}]},
        delete={**APART, "pools": [{"name": "it-{way}-apart"}], "state": "absent"},
    ),
    Case(
        "gpu_machineset",
        create={"pool": SCALED | {"autoscale": {"min": 0, "max": 2}, "health": True}},
        modify={"pool": SCALED | {"autoscale": {"min": 0, "max": 4}, "health": {"paused": True}}},
        delete={"pool": SCALED, "state": "absent"},
    ),
]

GRANT = Case(
    "access_grant",
    create=RIGHTS,
    modify=RIGHTS | {"subjects": [{"kind": "Group", "name": "it-{way}-operators"}]},
    delete=RIGHTS | {"state": "absent"},
)


BOTH_WAYS: t.Final = [
    pytest.param(case, id=case.module, marks=[OTHER_WAY] if case.module != "gpu_quota" else [])
    for case in CASES
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.module)
def test_twelve_steps(case: Case, walks: Walks) -> None:
    walks.check(case, in_process=True)


@pytest.mark.parametrize("case", BOTH_WAYS)
def test_twelve_steps_as_an_ordinary_module(case: Case, walks: Walks) -> None:
    walks.check(case, in_process=False)
    walks.compare(case)


@pytest.mark.long("credentials/test_access_grant.py grants rights and takes them in every run")
def test_twelve_steps_of_rights(walks: Walks) -> None:
    for in_process in (True, False):
        walks.check(GRANT, in_process)
    walks.compare(GRANT)
