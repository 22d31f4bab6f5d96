# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules about pods and taints. integration/test_gpu_admission.py has a real API server evaluate them."""

from __future__ import annotations

import typing as t

from unit.policy.builders import TAINT, TEAM, partition

from ansible_collections.accelerators.openshift.plugins.module_utils._policy import rules
from ansible_collections.accelerators.openshift.plugins.module_utils._policy.options import Partition

VALUE: t.Final = TAINT | {"value": "training"}
OTHER: t.Final = TAINT | {"value": "inference"}


def entries(*pools: Partition) -> dict[str, dict[str, t.Any]]:
    return {one.name: rules.entry(one) for one in pools}


def variables(found: rules.Entries) -> dict[str, str]:
    return {one["name"]: one["expression"] for one in rules.variables(found)}


def test_a_resource_that_only_pools_with_taints_offer_has_a_rule() -> None:
    found = entries(partition("a", TAINT), partition("b", TEAM))
    first, second = rules.rules(found, adds=False)
    assert first.expression == (
        '!("nvidia.com/gpu" in variables.asked) || (variables.toleratesTaint1) || (variables.toleratesTaint0)'
    )
    assert '"dedicated"' in variables(found)["toleratesTaint0"]
    assert first.message == (
        "The pod asks for nvidia.com/gpu and does not tolerate the taints of one of the pools a, b "
        "(nvidia.com/gpu:NoSchedule), so it does not run there. Add to its spec: "
        "tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]"
    )
    assert "GPU nodes of a." in second.message


def test_a_pool_without_a_taint_takes_every_pod() -> None:
    found = rules.rules(entries(partition("a", TAINT), partition("b")), adds=False)
    assert [one for one in found if "in variables.asked" in one.expression] == []
    assert rules.guarded(entries(partition("a"))) == []
    assert rules.rules(entries(partition("a")), adds=False) == []


def test_every_taint_of_a_pool_has_to_be_tolerated() -> None:
    (first, _unused) = rules.rules(entries(partition("a", TAINT, TEAM)), adds=False)
    assert "(variables.toleratesTaint1 && variables.toleratesTaint0)" in first.expression
    assert "operator: Equal, value: a, effect: NoSchedule}]" in first.message


def test_a_taint_of_a_team_is_neither_added_nor_guarded_against() -> None:
    found = entries(partition("a", TEAM))
    assert rules.added(found) == {}
    assert rules.patches(found) == ""
    assert len(rules.rules(found, adds=True)) == 1


def test_one_taint_is_added_to_pods_that_ask() -> None:
    found = entries(partition("a", TAINT), partition("b", TAINT, TEAM))
    assert rules.added(found) == {"nvidia.com/gpu": TAINT}
    assert rules.patches(found) == (
        "(has(object.spec.tolerations) ? [] : "
        '[JSONPatch{op: "add", path: "/spec/tolerations", value: []}]) + '
        '(variables.asked.exists(r, r in ["nvidia.com/gpu"]) && !variables.toleratesTaint1 ? '
        '[JSONPatch{op: "add", path: "/spec/tolerations/-", value: Object.spec.tolerations{'
        'key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule"}}] : [])'
    )


def test_an_added_toleration_has_the_value_of_the_taint() -> None:
    assert 'operator: "Equal", value: "training"' in rules.patches(entries(partition("a", VALUE)))


def test_pods_choose_between_pools_with_different_taints() -> None:
    assert rules.added(entries(partition("a", VALUE), partition("b", OTHER))) == {}
    apart = entries(partition("a", VALUE), partition("b", OTHER, resources=["nvidia.com/gpu.shared"]))
    assert rules.added(apart) == {"nvidia.com/gpu": VALUE, "nvidia.com/gpu.shared": OTHER}


def test_who_makes_pods_is_not_told_of_what_pods_get() -> None:
    (first, _unused) = rules.rules(entries(partition("a", TAINT)), adds=True)
    assert "(variables.toleratesTaint0 || request.kind.kind != 'Pod')" in first.expression
    (first, _unused) = rules.rules(entries(partition("a", TAINT, TEAM)), adds=True)
    assert "(variables.toleratesTaint1 || request.kind.kind != 'Pod') && variables.toleratesTaint0" in (
        first.expression
    )
