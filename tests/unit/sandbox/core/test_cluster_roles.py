# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ClusterRoles with an aggregationRule: their rules, and how often they are written."""

from __future__ import annotations

import typing as t

from unit.sandbox.fake_api import World

from openshift_sandbox.stand_ins.controller_manager.cluster_roles import SETTLED, AggregatedRoles

Object = dict[str, t.Any]


def to(name: str) -> dict[str, str]:
    return {f"rbac.authorization.k8s.io/aggregate-to-{name}": "true"}


def role(name: str, *resources: str, labels: dict[str, str] | None = None, of: str = "") -> Object:
    made: Object = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name, "labels": labels or {}},
        "rules": [{"apiGroups": [""], "resources": [one], "verbs": ["get"]} for one in resources],
    }
    return made | ({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": to(of)}]}} if of else {})


def resources(world: World, name: str) -> list[str]:
    live = world.api.objects["ClusterRole", "", name]
    return [one["resources"][0] for one in live.get("rules") or []]


def test_a_role_has_the_rules_of_all_roles_that_its_selector_names_each_once() -> None:
    world = World(AggregatedRoles())
    for one in (
        role("edit", of="edit"),
        role("b", "pods", "secrets", labels=to("edit")),
        role("a", "nodes", "pods", labels=to("edit")),
        role("other", "jobs", labels=to("admin")),
    ):
        world.api.create(one)
    world.settle(2 * SETTLED)
    assert resources(world, "edit") == ["nodes", "pods", "secrets"]
    assert resources(world, "other") == ["jobs"]


def test_roles_of_roles_are_filled_too_and_lose_what_a_role_no_longer_gives() -> None:
    world = World(AggregatedRoles())
    for one in (
        role("admin", of="admin"),
        role("view", labels=to("admin"), of="view"),
        role("a", "pods", labels=to("view")),
    ):
        world.api.create(one)
    world.settle(4 * SETTLED)
    assert (resources(world, "view"), resources(world, "admin")) == (["pods"], ["pods"])
    del world.api.objects["ClusterRole", "", "a"]
    world.settle(4 * SETTLED)
    assert (resources(world, "view"), resources(world, "admin")) == ([], [])


def test_many_roles_that_come_one_after_the_other_are_one_write() -> None:
    world = World(AggregatedRoles())
    world.api.create(role("view", of="view"))
    for number in range(5):
        world.api.create(role(f"r{number}", f"kind{number}", labels=to("view")))
        world.settle(SETTLED / 2, step=SETTLED / 2)
    assert resources(world, "view") == []
    world.settle(2 * SETTLED)
    assert resources(world, "view") == [f"kind{number}" for number in range(5)]
    assert len([one for one in world.api.writes if one[0] == "patch"]) == 1
