# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tenants on an API server in memory: writes, second runs, refusals, and what is taken away."""

from __future__ import annotations

import typing as t

import pytest
from unit.access.test_grant_steps import World

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind, known

TITLE: t.Final = "accelerators-openshift-tenant-vision"
KINDS: t.Final = ("Role", "RoleBinding", "ResourceQuota")
VISION: t.Final[dict[str, t.Any]] = {
    "name": "vision",
    "namespaces": ["train"],
    "subjects": [{"kind": "Group", "name": "eyes"}],
    "priority_classes": ["gpu-batch"],
}
MINE: t.Final = [f"ResourceQuota train/{TITLE}", f"Role train/{TITLE}", f"RoleBinding train/{TITLE}"]


def of_tenants(world: World) -> list[str]:
    return sorted(one for one in world.has(*KINDS) if "tenant" in one)


@pytest.fixture
def world() -> World:
    """Return a cluster with two namespaces of tenants, and a priority class."""
    made = World("train", "test")
    for kind in map(known, ("Role", "ResourceQuota", "PriorityClass")):
        made.server.served[kind.api_version, kind.plural] = kind
    priority: KubeObject = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 5}
    made.server.put({**priority, "metadata": {"name": "gpu-batch"}})
    return made


def test_a_tenant_gets_its_objects_and_a_second_run_writes_nothing(world: World) -> None:
    found = world.run(tenants=[VISION])
    assert of_tenants(world) == MINE
    assert "tenant vision in train" in found["table"][-1]
    assert world.run(tenants=[VISION]) == found
    assert world.server.writes() == []


def test_check_mode_writes_nothing(world: World) -> None:
    world.run(check_mode=True, tenants=[VISION])
    assert world.server.writes() == []
    assert sum("tenant" in str(one) for one in world.api.changes) == len(MINE)


def test_what_the_list_no_longer_has_is_taken_away(world: World) -> None:
    other = {**VISION, "name": "speech", "namespaces": ["test"]}
    world.run(tenants=[{**VISION, "namespaces": ["train", "test"]}, other])
    world.run(tenants=[{**VISION, "priority_classes": []}])
    assert of_tenants(world) == MINE[1:]
    world.run()
    assert of_tenants(world) == MINE[1:], "without the option tenants stay"
    world.run(tenants=[])
    assert of_tenants(world) == []


def test_absent_takes_away_those_that_it_names_or_all(world: World) -> None:
    other = {**VISION, "name": "speech", "namespaces": ["test"]}
    world.run(tenants=[VISION, other])
    world.run(state="absent")
    assert len(of_tenants(world)) == 6, "it names a playbook, and no tenant"
    world.run(state="absent", tenants=[other])
    assert of_tenants(world) == MINE
    world.run(state="absent", playbooks=[])
    assert of_tenants(world) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"namespaces": ["train", "missing"]}, "gpu_rbac_tenants[0].namespaces[1]"),
        ({"priority_classes": ["missing"]}, "gpu_rbac_tenants[0].priority_classes[0]"),
    ],
)
def test_what_the_cluster_lacks_is_refused_before_the_first_write(
    world: World, change: dict[str, t.Any], path: str
) -> None:
    with pytest.raises(InputError) as caught:
        world.run(tenants=[{**VISION, **change}])
    assert caught.value.message.startswith(f"{path}: the cluster has no")
    assert world.server.writes() == []


def test_an_object_of_others_is_refused(world: World) -> None:
    role: KubeObject = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "rules": []}
    world.server.put({**role, "metadata": {"name": TITLE, "namespace": "train"}})
    with pytest.raises(AcceleratorError) as caught:
        world.run(tenants=[VISION])
    assert caught.value.code == "API-CONFLICT"
    assert world.server.writes() == []


def test_a_missing_queue_is_a_warning(world: World) -> None:
    world.run(tenants=[{**VISION, "queues": ["gpus"]}])
    assert world.api.warnings == [
        "The cluster does not serve Kueue, so the queues of tenants have no meaning yet."
    ]
    kind = Kind("kueue.x-k8s.io/v1beta1", "LocalQueue", "localqueues")
    world.server.served[kind.api_version, kind.plural] = kind
    world.run(tenants=[{**VISION, "queues": ["gpus"]}])
    assert world.api.warnings == ["Namespace train has no LocalQueue gpus."]
