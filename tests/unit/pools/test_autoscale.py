"""Pools that the autoscaler scales: what their plan has, and what it must know first."""

from __future__ import annotations

import typing as t

import pytest
from unit import pool_builders
from unit.pools.builders import Data, candidate, pool, problems

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import autoscale


def scaled(least: int = 0, most: int = 2, **more: t.Any) -> Data:
    return pool(replicas=None, autoscale={"min": least, "max": most}, **more)


def test_the_autoscaler_must_know_the_label() -> None:
    assert problems([scaled()], accelerator_limits=["nvidia-a100"]) == [
        ("POOL-ACCELERATOR", "gpu_pools[0].accelerator")
    ]
    assert pool_builders.plan([scaled()], cloud="aws", accelerator_limits=["nvidia-t4"])["pools"]


def test_what_the_autoscaler_lacks_is_told() -> None:
    with pytest.raises(InputError, match="type 'nvidia-t4': the autoscaler would not count these") as caught:
        pool_builders.plan([scaled()], cloud="aws", accelerator_limits=["nvidia-l4", "nvidia-a100"])
    assert "Add {type: nvidia-t4, min: 0, max: N}" in caught.value.remedy
    assert caught.value.remedy.endswith(
        "set accelerator to a type that has a limit (nvidia-a100, nvidia-l4)."
    )
    with pytest.raises(InputError, match=r"those of g4ad\.xlarge have another name \(amd\), so"):
        pool_builders.plan([scaled(candidates=candidate("g4ad.xlarge"), accelerator="amd-v520")], cloud="aws")


@pytest.mark.parametrize(
    ("kind", "key", "manager"),
    [
        ("labels", "argocd.argoproj.io/instance", "Argo CD"),
        ("labels", "helm.toolkit.fluxcd.io/name", "Flux"),
        ("annotations", "meta.helm.sh/release-name", "Helm"),
    ],
)
def test_limits_of_another_manager_are_fixed(kind: str, key: str, manager: str) -> None:
    limits = [{"type": "nvidia-t4", "min": 0, "max": 8}]
    live = {"metadata": {kind: {key: "x"}}, "spec": {"resourceLimits": {"gpus": limits}}}
    assert (autoscale.limits_manager(live), autoscale.fixed_types(live)) == (manager, ["nvidia-t4"])
    assert autoscale.fixed_types({**live, "metadata": {}}) is None


def test_a_scaled_pool_starts_with_its_minimum_and_may_have_no_nodes() -> None:
    plan = pool_builders.plan([scaled(quota=[{"namespace": "a", "gpus": 1}])], cloud="aws")
    (planned,) = plan["pools"]
    assert (planned["replicas"], planned["min_replicas"], planned["autoscale"]) == (
        0,
        0,
        {"min": 0, "max": 2},
    )
    assert [one["min_nodes"] for one in [*plan["groups"], *plan["validations"]]] == [0, 0]
    assert plan["expected_labels"][0]["min_nodes"] == 0
    assert "offer 2 nvidia.com/gpu" in plan["remarks"][0]
    assert pool_builders.plan([planned], cloud="aws") == plan | {"remarks": plan["remarks"]}


def test_bare_metal_must_say_what_a_host_is_made_of() -> None:
    kind = candidate("hgx", gpus=8, gpu_model="H100")
    kind[0] |= {"zones": [], "baremetal": {"host_selector": {"gpu": "h100"}}}
    assert problems([scaled(candidates=kind)], cloud="baremetal") == [
        ("POOL-SIZE", "gpu_pools[0].candidates[0].vcpus")
    ]
    assert pool_builders.plan(
        [scaled(candidates=[kind[0] | {"vcpus": 128, "memory_gib": 1024}])], cloud="baremetal"
    )["pools"]
    assert pool_builders.plan([scaled(least=1, candidates=kind)], cloud="baremetal")["pools"]
