"""Instance types that users describe themselves."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.instance_types import (
    BUILT_IN,
    InstanceType,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.overrides import (
    VENDORS,
    extended,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError

NEW: t.Final[dict[str, t.Any]] = {
    "platform": "aws",
    "instance_type": "p9.48xlarge",
    "gpus": 8,
    "gpu_model": "B300",
}


def one(**entry: t.Any) -> InstanceType:
    found = extended([entry]).find(entry["platform"], entry["instance_type"])
    assert found is not None
    return found


def test_a_new_type() -> None:
    found = one(**NEW, vcpus=256, memory_gib=8192, arch="arm64", fabric="efa", rdma=True, nvlink=True)
    assert (found.gpus, found.gpu.model, found.gpu.memory_gib, found.vcpus, found.memory_gib, found.arch) == (
        8,
        "B300",
        268,
        256,
        8192,
        "arm64",
    )
    assert (found.fabric, found.rdma, found.nvlink, found.gpu.mig_capable) == ("efa", True, True, True)
    assert (found.as_of, found.to_dict()["source"]) == ("", "user")


def test_the_catalogue_itself_stays_as_it_is() -> None:
    extended([NEW])
    assert BUILT_IN.find("aws", "p9.48xlarge") is None


def test_an_entry_wins_over_the_catalogue_in_what_it_says() -> None:
    found = one(platform="aws", instance_type="p4d.24xlarge", vcpus=95)
    plain = BUILT_IN.find("aws", "p4d.24xlarge")
    assert plain is not None
    assert (found.vcpus, found.memory_gib, found.gpu, found.fabric) == (
        95,
        plain.memory_gib,
        plain.gpu,
        plain.fabric,
    )
    assert found.to_dict()["source"] == "user"


def test_azure_entries_reach_the_size_they_name() -> None:
    found = extended([{"platform": "azure", "instance_type": "NC24ads_A100_v4", "vcpus": 23}]).find(
        "azure", "Standard_NC24ads_A100_v4"
    )
    assert found is not None
    assert found.vcpus == 23


def test_a_flavor_of_ones_own_platform() -> None:
    found = one(platform="openstack", instance_type="gpu.large", gpus=2, gpu_model="a100", gpu_memory_gib=80)
    assert (found.gpu.model, found.gpu.mig_capable, found.accelerator) == ("A100", True, "nvidia-a100")


def test_a_model_that_nobody_knows_yet() -> None:
    found = one(**{**NEW, "gpu_model": "R100"}, gpu_memory_gib=288)
    assert (found.gpu.model, found.gpu.memory_gib, found.gpu.mig_capable, found.driver) == (
        "R100",
        288,
        False,
        "datacenter",
    )


def test_a_share_of_a_gpu() -> None:
    found = one(platform="vsphere", instance_type="vgpu-quarter", gpus=1, gpu_model="L4", gpu_share="1/4")
    assert (found.gpu.memory_gib, found.share, found.driver) == (6, "1/4", "grid")
    share = one(platform="vsphere", instance_type="vgpu-mig", gpus=1, gpu_model="H200", gpu_share="1/2")
    assert (share.gpu.memory_gib, share.gpu.mig_capable) == (70, False)


def test_another_vendor() -> None:
    found = one(platform="aws", instance_type="g4dn.xlarge", vendor="amd", gpu_model="V710")
    assert (found.gpu.vendor, found.gpu.memory_gib, found.driver) == ("amd", 24, "")
    assert set(VENDORS) == {"nvidia", "amd", "intel", "aws", "qualcomm", "fpga"}


@pytest.mark.parametrize(
    ("entries", "code", "path"),
    [
        ("p9.48xlarge", "POOL-TYPE", "catalogue:"),
        ({"aws": {}}, "POOL-TYPE", "catalogue:"),
        (["p9"], "POOL-TYPE", "catalogue[0]:"),
        ([{**NEW, "gpu": 8}], "POOL-UNKNOWN-KEY", "catalogue[0].gpu:"),
        ([{"instance_type": "x"}], "POOL-REQUIRED", "catalogue[0].platform:"),
        ([{**NEW, "platform": "asw"}], "POOL-VALUE", "catalogue[0].platform:"),
        ([{**NEW, "gpus": 0}], "POOL-VALUE", "catalogue[0].gpus:"),
        ([{**NEW, "gpus": "many"}], "POOL-TYPE", "catalogue[0].gpus:"),
        ([{**NEW, "gpu_share": "2/3"}], "POOL-VALUE", "catalogue[0].gpu_share:"),
        ([{**NEW, "gpu_model": "A B"}], "POOL-VALUE", "catalogue[0].gpu_model:"),
        ([{**NEW, "gpu_model": "A100"}], "POOL-REQUIRED", "catalogue[0].gpu_memory_gib:"),
        (
            [{"platform": "aws", "instance_type": "p9.x", "gpus": 1}],
            "POOL-REQUIRED",
            "catalogue[0].gpu_model:",
        ),
        ([NEW, NEW], "POOL-DUPLICATE", "catalogue[1].instance_type:"),
    ],
)
def test_entries_that_are_wrong(entries: t.Any, code: str, path: str) -> None:
    with pytest.raises(InputError) as caught:
        extended(entries)
    assert caught.value.code == code
    assert caught.value.message.startswith(path)


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(InputError) as caught:
        extended([{**NEW, "gpus": 0}, {"platform": "aws"}], path="types.yml")
    assert [line.partition(":")[0] for line in caught.value.evidence] == [
        "POOL-VALUE types.yml[0].gpus",
        "POOL-REQUIRED types.yml[1].instance_type",
    ]
