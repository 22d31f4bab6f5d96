"""The rollout of a pool's PerformanceProfile, on a machine-config operator in memory."""

from __future__ import annotations

import dataclasses
import typing as t

import pytest
from unit.tuning.operator_in_memory import KINDS, Operator, node, tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import rollout_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.options import (
    HugePages,
    Isolation,
)

WHOLE = tuning(isolate=Isolation("0-1", "2-7"), topology="single-numa-node", huge_pages=(HugePages("1G", 8),))
WITH_PROFILES = (*KINDS, "PerformanceProfile")


def test_a_performance_profile_is_one_rollout_too() -> None:
    operator = Operator(node("n1"), node("n2"), kinds=WITH_PROFILES)
    rollout_steps.ensure(operator.api(), [WHOLE], "fail")
    assert sorted(operator.reboots) == ["n1", "n2"]
    assert operator.names("PerformanceProfile") == ["gpu-training"]
    assert operator.names("KubeletConfig") == []
    operator.server.requests.clear()
    rollout_steps.ensure(operator.api(), [WHOLE], "fail")
    assert operator.server.writes() == []
    operator.reboots.clear()
    rollout_steps.remove(operator.api(), ["training"], "fail")
    assert sorted(operator.reboots) == ["n1", "n2"]
    assert operator.names("PerformanceProfile") == []


@pytest.mark.parametrize(
    "other",
    [
        {"huge_pages": (HugePages("1G", 16),)},
        {"huge_pages": ()},
        {"huge_pages": (HugePages("1G", 8), HugePages("2M", 64, 0))},
        {"huge_pages": (HugePages("1G", 8, 0), HugePages("2M", 64, 0))},
        {"huge_pages": (HugePages("1G", 8), HugePages("2M", 64, 0), HugePages("2M", 32))},
        {"huge_pages": (HugePages("2M", 64, 0), HugePages("1G", 8))},
        {"huge_pages": (HugePages("2M", 8),)},
        {"kernel_arguments": ("iommu=pt", "pci=realloc")},
        {"isolate": Isolation("0-3", "4-7")},
    ],
    ids=lambda other: str(*other),
)
def test_nodes_reboot_when_tuned_has_told_the_kernel_arguments_of_the_new_profile(
    other: dict[str, t.Any],
) -> None:
    operator = Operator(node("n1"), kinds=WITH_PROFILES)
    rollout_steps.ensure(operator.api(), [WHOLE], "fail")
    operator.reboots.clear()
    operator.tuned_is_late = 20
    rollout_steps.ensure(operator.api(), [dataclasses.replace(WHOLE, **other)], "fail")
    assert operator.reboots == ["n1"]
    for _time in range(20):  # more requests, and nothing is left to roll out
        operator.api().list(known("Node"))
    assert operator.reboots == ["n1"]


def test_each_pool_is_asked_only_for_its_own_kernel_arguments() -> None:
    names = ("a", "b", "c")
    operator = Operator(*(node(f"n-{one}", pool=one) for one in names), kinds=WITH_PROFILES)
    label = "accelerators.openshift/pool"
    pools = [dataclasses.replace(WHOLE, name=one, label={label: one}) for one in names]
    rollout_steps.ensure(operator.api(), pools, "fail")
    assert sorted(operator.reboots) == ["n-a", "n-b", "n-c"]
    asked = [path for method, path, _query in operator.server.requests if method == "GET"]
    told = [path.rpartition("/")[2] for path in asked if "50-nto-" in path]
    # Once for the kernel arguments, and once as a source of the pool's configuration.
    assert sorted(told) == sorted(2 * [f"50-nto-gpu-{one}" for one in names])


def test_a_pool_whose_configuration_is_whole_does_not_wait_for_another_one() -> None:
    label = "accelerators.openshift/pool"
    operator = Operator(node("n-a", pool="a"), node("n-b"), kinds=WITH_PROFILES)
    plain = dataclasses.replace(tuning(), name="a", label={label: "a"})
    rollout_steps.ensure(operator.api(), [plain, WHOLE], "fail")
    operator.reboots.clear()
    operator.tuned_is_late = 20
    other = ("iommu=pt", "pci=realloc")
    pools = [dataclasses.replace(one, kernel_arguments=other) for one in (plain, WHOLE)]
    rollout_steps.ensure(operator.api(), pools, "fail")
    assert sorted(operator.reboots) == ["n-a", "n-b"]


def test_a_performance_profile_of_an_empty_pool_waits_for_no_configuration() -> None:
    operator = Operator(kinds=WITH_PROFILES)
    (found,) = rollout_steps.ensure(operator.api(seconds=5.0), [WHOLE], "fail")
    assert found["ready"] is True
    assert operator.must("MachineConfigPool", "gpu-training")["spec"]["paused"] is False


def test_without_isolated_cpus_other_objects_take_over_in_one_rollout() -> None:
    operator = Operator(node("n1"), kinds=WITH_PROFILES)
    rollout_steps.ensure(operator.api(), [WHOLE], "fail")
    operator.reboots.clear()
    rollout_steps.ensure(operator.api(), [tuning()], "fail")
    assert operator.reboots == ["n1"]
    assert operator.names("PerformanceProfile") == []
    assert operator.names("MachineConfig") == [
        "00-worker",
        "50-nto-gpu-training",
        "50-performance-gpu-training",
        "99-gpu-training-generated-kubelet",
        "99-gpu-training-kernel",
    ]
