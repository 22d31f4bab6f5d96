"""What forbids the sets of a GPU pool, and which way out is named."""

from __future__ import annotations

import typing as t

import pytest
from unit.machines.builders import Data, cluster, lived, plan, worker

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError

HOST: t.Final = {"baremetal": {"host_selector": {"gpu": "t4"}}}


def code(**more: t.Any) -> str:
    with pytest.raises(AcceleratorError) as caught:
        plan(**more)
    assert caught.value.remedy
    return caught.value.code


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"zones": ["us-east-2z"]}, "MACH-NO-REFERENCE"),
        ({"live": []}, "MACH-NO-REFERENCE"),
        ({"source_machine_set": ["nobody"]}, "MACH-SOURCE"),
        (
            {"live": [worker("us-east-2b")], "source_machine_set": ["demo-x7k2p-worker-us-east-2b"]},
            "MACH-SOURCE",
        ),
        ({"instance_type": "g5g.xlarge"}, "MACH-ARCH"),
        ({"on": cluster("None")}, "MACH-NO-API"),
        ({"on": cluster("External")}, "MACH-NO-API"),
        ({"on": cluster(topology="External")}, "MACH-NO-API"),
        (
            {
                "on": cluster("BareMetal"),
                "instance_type": None,
                "zones": [],
                "candidates": [{"instance_type": "gpu-host", "gpus": 1, "gpu_model": "T4", **HOST}],
                "image": "registry.example.com/rhcos",
            },
            "POOL-CONFLICT",
        ),
        (
            {
                "on": cluster("PowerVS"),
                "instance_type": None,
                "candidates": [{"instance_type": "s922", "gpus": 1}],
            },
            "POOL-REQUIRED",
        ),
    ],
    ids=str,
)
def test_what_forbids_a_pool(more: Data, expected: str) -> None:
    assert code(**more) == expected


def test_zones_with_a_reference_are_named() -> None:
    with pytest.raises(AcceleratorError, match="us-east-2z") as caught:
        plan([worker("us-east-2a"), worker("us-east-2c")], zones=["us-east-2z"])
    assert "us-east-2a, us-east-2c" in caught.value.remedy


def test_a_reference_that_would_do_is_named() -> None:
    with pytest.raises(AcceleratorError) as caught:
        plan(source_machine_set=["nobody"])
    assert (
        caught.value.remedy
        == "Set gpu_node_pool_source_machine_set (module option source_machine_set) to a machine set of the "
        "zone (demo-x7k2p-worker-us-east-2a), or remove it, or correct zones."
    )


def test_gpu_and_infrastructure_sets_are_no_reference() -> None:
    infra = worker()
    infra["spec"]["template"]["spec"]["taints"] = [{"key": "infra", "effect": "NoSchedule"}]
    gpu = worker()
    gpu["spec"]["template"]["spec"]["metadata"]["labels"] = {"cluster-api/accelerator": "nvidia-t4"}
    assert code(live=[infra, gpu, *lived(plan(name="other"))]) == "MACH-NO-REFERENCE"


def test_a_foreign_set_is_left_alone() -> None:
    live = lived(plan())
    del live[0]["metadata"]["labels"]["app.kubernetes.io/managed-by"]
    assert code(live=live) == "MACH-FOREIGN"


def test_another_instance_type_is_never_written_over() -> None:
    assert code(live=[worker(), *lived(plan())], instance_type="g4dn.2xlarge") == "POOL-DRIFT"


def test_a_misspelt_field_of_a_patch_never_reaches_the_api() -> None:
    with pytest.raises(AcceleratorError) as caught:
        plan(provider_spec_patch={"capacityReservationID": "cr-0123456789abcdef0"})
    assert caught.value.code == "POOL-PROVIDER-FIELD"
    assert "capacityReservationId" in caught.value.remedy


def test_a_mirrored_set_is_not_ours_to_write() -> None:
    (mine,) = lived(plan())
    mine["spec"]["authoritativeAPI"] = "ClusterAPI"
    with pytest.raises(AcceleratorError) as caught:
        plan([mine])
    assert caught.value.code == "MACH-MIRRORED"
