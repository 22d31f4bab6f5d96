"""MachineAutoscalers, and limits that are merged and given back."""

from __future__ import annotations

import json
import typing as t
from dataclasses import replace

import pytest
from unit import pool_builders

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    autoscaler_limits as limits,
    machine_autoscaler,
    scaling,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import writes
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import autoscale
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Autoscale, Pool

Data = dict[str, t.Any]
SHARE: t.Final = {"t4": {"nvidia-t4": 8}}


def pool(least: int = 0, most: int = 4, **more: t.Any) -> Pool:
    own = {
        "name": "t4",
        "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["a", "b"]}],
        "autoscale": {"min": least, "max": most},
        **more,
    }
    return pool_builders.single({key: value for key, value in own.items() if value is not None}, "aws")


def scale(least: int, most: int = 4) -> Autoscale:
    return Autoscale(least, most)


def machine_set(name: str, replicas: int = 0, accelerator: str = "nvidia-t4", **annotations: str) -> Data:
    template = {"spec": {"metadata": {"labels": {"cluster-api/accelerator": accelerator}}}}
    labels = {**MANAGED_BY, "accelerators.openshift/pool": "t4"}
    return {
        "metadata": {"name": name, "namespace": "n", "labels": labels, "annotations": annotations},
        "spec": {"replicas": replicas, "template": template},
    }


def bounds(made: list[Data]) -> list[tuple[str, int, int]]:
    return [(one["metadata"]["name"], one["spec"]["minReplicas"], one["spec"]["maxReplicas"]) for one in made]


def test_any_zone_may_take_the_whole_pool_where_the_limit_holds_it() -> None:
    sets = [machine_set("a"), machine_set("b", 1)]
    assert bounds(machine_autoscaler.manifests(scale(1), sets, [], is_held=True)) == [
        ("a", 0, 4),
        ("b", 1, 4),
    ]


def test_else_each_zone_has_a_part() -> None:
    assert bounds(
        machine_autoscaler.manifests(scale(1, 3), [machine_set("a"), machine_set("b", 1)], [], is_held=False)
    ) == [("a", 1, 2), ("b", 0, 1)]
    assert bounds(
        machine_autoscaler.manifests(scale(0, 1), [machine_set("a"), machine_set("b")], [], is_held=False)
    ) == [("a", 0, 1)]


def test_minima_stay_where_they_are() -> None:
    sets = [machine_set("a"), machine_set("b", 1)]
    first = machine_autoscaler.manifests(scale(1), sets, [], is_held=True)
    moved = [machine_set("a", 3), machine_set("b", 1)]
    assert bounds(machine_autoscaler.manifests(scale(1), moved, first, is_held=True)) == [
        ("a", 0, 4),
        ("b", 1, 4),
    ]
    assert bounds(machine_autoscaler.manifests(scale(2), moved, first, is_held=True)) == [
        ("a", 2, 4),
        ("b", 0, 4),
    ]


def test_somebody_else_s_autoscaler_is_named() -> None:
    theirs = machine_autoscaler.build(machine_set("a"), 0, 1)
    theirs["metadata"]["labels"] = {}
    with pytest.raises(AcceleratorError) as caught:
        machine_autoscaler.check([machine_set("a")], [theirs])
    assert caught.value.code == "MACH-AUTOSCALER-FOREIGN"
    machine_autoscaler.check([machine_set("b")], [theirs])


def test_scaled_is_when_operator_and_autoscaler_are_at_it() -> None:
    judge = machine_autoscaler.Judge([machine_autoscaler.build(machine_set("a"), 0, 4)])
    running = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
    sizes: Data = {machine_autoscaler.MIN_SIZE: "0", machine_autoscaler.MAX_SIZE: "4"}
    taken = machine_set("a", **sizes)
    assert judge({"machine_sets": [taken], "deployments": [running]}).is_ready
    assert judge({"machine_sets": [machine_set("a")], "deployments": [running]}).reason == "NoBounds"
    waiting = judge({"machine_sets": [taken], "deployments": []})
    assert (waiting.reason, waiting.code) == ("NoAutoscaler", "MACH-AUTOSCALER")
    assert "deployment/cluster-autoscaler-operator" in waiting.remedy
    starting = judge({"machine_sets": [taken], "deployments": [{"status": {}}]})
    assert starting.remedy == (
        "Run `oc describe deployment cluster-autoscaler-default -n openshift-machine-api`."
    )


def test_gpus_are_counted_as_the_autoscaler_counts_them() -> None:
    assert limits.needs(pool(), [machine_set("a")]) == limits.needs(pool(), []) == {"nvidia-t4": 4}
    shared = replace(pool(), candidates=(replace(pool().candidates[0], expected={"nvidia.com/gpu": 4}),))
    assert limits.needs(shared, [machine_set("a")]) == {"nvidia-t4": 16}
    assert limits.needs(pool(accelerator="nvidia-mine"), [machine_set("a", accelerator="nvidia-mine")]) == {
        "nvidia-mine": 4
    }


def test_fixed_pools_count_where_their_label_is_limited() -> None:
    fixed = pool(name="fixed", autoscale=None, replicas=3)
    sets = {"t4": [machine_set("a")], "fixed": [machine_set("f")]}
    assert limits.counted([pool(), fixed], sets) == {"t4": {"nvidia-t4": 4}, "fixed": {"nvidia-t4": 3}}
    assert (
        limits.counted([pool(), fixed], sets | {"fixed": [machine_set("f", accelerator="nvidia-l4")]})[
            "fixed"
        ]
        == {}
    )
    assert limits.counted([fixed], sets) == {"fixed": {}}


def live(*gpus: tuple[str, int, int], **more: t.Any) -> Data:
    entries = [{"type": kind, "min": least, "max": most} for kind, least, most in gpus]
    return {
        "metadata": {"name": "default"},
        "spec": {"resourceLimits": {"maxNodesTotal": 9, **({"gpus": entries} if entries else {})}, **more},
    }


def merged(obj: Data, wanted: Data) -> Data:
    return limits.with_patch(obj, limits.merged(obj, wanted))


def sizes(obj: Data) -> dict[str, int]:
    return {one["type"]: one["max"] for one in autoscale.gpu_limits(obj)}


def test_a_limit_is_added_beside_the_others_and_taken_away_again() -> None:
    before = live(("nvidia-a100", 1, 16))
    patch = limits.merged(before, SHARE)
    assert patch["spec"]["resourceLimits"]["gpus"] == [
        {"type": "nvidia-a100", "min": 1, "max": 16},
        {"type": "nvidia-t4", "min": 0, "max": 8},
    ]
    after = limits.with_patch(before, patch)
    assert limits.merged(after, SHARE) == {}
    assert limits.holds(after, "t4")
    back = limits.merged(after, {"t4": {}})
    assert back["metadata"]["annotations"] == {limits.RECORD: None}
    assert autoscale.gpu_limits(limits.with_patch(after, back)) == autoscale.gpu_limits(before)


def test_a_low_limit_is_raised_and_put_back() -> None:
    after = merged(live(("nvidia-t4", 2, 3)), SHARE)
    assert autoscale.gpu_limits(after) == [{"type": "nvidia-t4", "min": 2, "max": 8}]
    assert sizes(merged(after, {"t4": {}})) == {"nvidia-t4": 3}


def test_a_high_limit_stays_and_holds_nobody() -> None:
    before = live(("nvidia-t4", 0, 16))
    assert "spec" not in limits.merged(before, SHARE)
    assert not limits.holds(merged(before, SHARE), "t4")


def test_what_somebody_has_changed_since_is_theirs() -> None:
    after = merged(live(), SHARE)
    for theirs, kept, left in ((12, 12, 12), (6, 8, 6)):
        changed = {
            **after,
            "spec": {"resourceLimits": {"gpus": [{"type": "nvidia-t4", "min": 0, "max": theirs}]}},
        }
        again = merged(changed, SHARE)
        assert sizes(again) == {"nvidia-t4": kept}
        assert sizes(merged(again, {"t4": {}})) == {"nvidia-t4": left}


def test_pools_of_one_label_share_a_limit_also_from_several_lists() -> None:
    after = merged(merged(live(), SHARE), {"other": {"nvidia-t4": 4}})
    assert sizes(after) == {"nvidia-t4": 12}
    assert not limits.holds(after, "t4")
    assert sizes(merged(after, {"t4": {"nvidia-t4": 2}})) == {"nvidia-t4": 6}
    assert sizes(merged(after, {"t4": {}})) == {"nvidia-t4": 4}


def test_a_broken_record_is_no_record() -> None:
    broken = live(("nvidia-t4", 0, 5))
    broken["metadata"]["annotations"] = {limits.RECORD: json.dumps({"nvidia-t4": 3})}
    assert sizes(merged(broken, SHARE)) == {"nvidia-t4": 8}


def test_ours_goes_with_the_last_pool_unless_somebody_uses_it() -> None:
    made = merged(limits.build(), SHARE)
    assert made["spec"] == {
        "scaleDown": {"enabled": True},
        "resourceLimits": {"gpus": [{"min": 0, "type": "nvidia-t4", "max": 8}]},
    }
    assert not limits.is_unused(made)
    assert limits.is_unused(merged(made, {"t4": {}}))
    theirs = {"manager": "oc", "operation": "Update", "fieldsV1": {"f:spec": {"f:scaleDown": {}}}}
    used = {**made, "metadata": {**made["metadata"], "managedFields": [theirs]}}
    assert not limits.is_unused(merged(used, {"t4": {}}))
    assert not limits.is_unused(merged(live(scaleDown={"enabled": True}), {}))


@pytest.mark.parametrize(
    ("metadata", "named"),
    [
        ({}, ""),
        ({"annotations": {"argocd.argoproj.io/tracking-id": "x"}}, "Argo CD"),
        ({"labels": {"kustomize.toolkit.fluxcd.io/name": "x"}}, "Flux"),
        (
            {
                "managedFields": [
                    {
                        "manager": "acm",
                        "operation": "Apply",
                        "fieldsV1": {"f:spec": {"f:resourceLimits": {"f:gpus": {}}}},
                    }
                ]
            },
            "acm",
        ),
        (
            {
                "managedFields": [
                    {
                        "manager": "oc",
                        "operation": "Update",
                        "fieldsV1": {"f:spec": {"f:resourceLimits": {"f:gpus": {}}}},
                    }
                ]
            },
            "",
        ),
        (
            {
                "managedFields": [
                    {"manager": "acm", "operation": "Apply", "fieldsV1": {"f:spec": {"f:scaleDown": {}}}}
                ]
            },
            "",
        ),
    ],
)
def test_who_keeps_the_limits(metadata: Data, named: str) -> None:
    one = live(("nvidia-a100", 0, 8))
    one["metadata"] |= metadata
    assert autoscale.limits_manager(one) == named
    assert autoscale.fixed_types(one) == (["nvidia-a100"] if named else None)
    if named:
        with pytest.raises(AcceleratorError) as caught:
            limits.check(one, limits.merged(one, SHARE))
        assert named in caught.value.message
        assert "{type: nvidia-t4, min: 0, max: 8}" in caught.value.remedy


def test_who_scaled_a_set_last() -> None:
    def by(manager: str) -> Data:
        scaled = {"manager": manager, "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
        return {"metadata": {"managedFields": [scaled], "resourceVersion": "7"}, "spec": {"replicas": 3}}

    assert scaling.scaled_by(by("cluster-autoscaler")) is None
    assert scaling.scaled_by(by("kubectl")) == scaling.Scaling("kubectl", "")
    manifest = {"metadata": {"name": "s"}, "spec": {"replicas": 5}}
    raised = writes.on_live(manifest, by("ca"), by("ca"))
    assert (raised["spec"]["replicas"], raised["metadata"]["resourceVersion"]) == (5, "7")
    raced = {**by("ca"), "spec": {"replicas": 2}}
    assert writes.on_live(manifest, raced, by("ca"))["spec"]["replicas"] == 3
