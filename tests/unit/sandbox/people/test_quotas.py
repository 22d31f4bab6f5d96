# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A colleague's quota: created once, also in a namespace that appears later, only where a scenario asks."""

from __future__ import annotations

import typing as t

from unit.sandbox.fake_api import FakeApi, World

from openshift_sandbox.stand_ins.people.quotas import NAME, NO_POD, EditedQuotas, ForeignQuotas

HARD = {"requests.nvidia.com/gpu": "1"}


def test_a_namespace_is_capped_once() -> None:
    world = World(
        ForeignQuotas(), troubles=[{"type": "namespace_quota", "namespace": "gpu-validation", "hard": HARD}]
    )
    world.settle(2)
    assert world.api.get("ResourceQuota", NAME, "gpu-validation")["spec"] == {"hard": HARD}
    assert len(world.api.writes) == 2


def test_nothing_is_capped_without_trouble() -> None:
    world = World(ForeignQuotas())
    world.settle(2)
    assert world.api.writes == []


def test_a_quota_is_edited_once() -> None:
    world, sent = World(EditedQuotas(), troubles=[{"type": "quota_voids_itself", "namespace": "a"}]), []
    for namespace in ("a", "b"):
        metadata = {"name": "gpu-quota", "namespace": namespace}
        world.api.create({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {}})

    def checked(_api: FakeApi, *request: t.Any) -> dict[str, t.Any]:
        sent.append(request)
        return {}

    world.api.checked = checked.__get__(world.api)  # type: ignore[attr-defined]
    world.settle(3)
    (request,) = sent
    assert request[1:3] == (
        "/api/v1/namespaces/a/resourcequotas/gpu-quota",
        {"spec": {"scopeSelector": NO_POD}},
    )
    assert request[4] == {"fieldManager": "kubectl-edit"}
