"""The lookup of the offline catalogue."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from ansible.errors import AnsibleLookupError
from ansible.parsing.dataloader import DataLoader

from ansible_collections.accelerators.openshift.plugins.lookup import gpu_instance_types
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.instance_types import (
    BUILT_IN,
    CLOUDS,
    InstanceType,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.overrides import (
    ENTRY,
    OWN_CLOUDS,
    VENDORS,
    extended,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError

OPTIONS: t.Final = yaml.safe_load(gpu_instance_types.DOCUMENTATION)["options"]


def names(*terms: str, **options: t.Any) -> list[str]:
    assert set(options) <= set(OPTIONS)
    return [str(one["instance_type"]) for one in gpu_instance_types.entries(list(terms), options)]


def test_by_name_in_the_order_asked_for() -> None:
    assert names("p4d.24xlarge", "g4dn.xlarge") == ["p4d.24xlarge", "g4dn.xlarge"]
    assert names("nc24ads_a100_v4", "n1-standard-4+nvidia-tesla-t4:1") == [
        "Standard_NC24ads_A100_v4",
        "n1-standard-4+nvidia-tesla-t4:1",
    ]


@pytest.mark.parametrize("model", ["A100", "a100", "nvidia-a100", "NVIDIA A100"])
def test_by_model(model: str) -> None:
    assert names(cloud="aws", gpu_model=model) == ["p4d.24xlarge", "p4de.24xlarge"]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"cloud": "aws", "vendor": "intel"}, ["dl1.24xlarge"]),
        ({"cloud": "aws", "gpu_model": "T4", "gpus": 4}, ["g4dn.12xlarge"]),
        ({"cloud": "aws", "gpu_model": "T4", "min_gpus": 4}, ["g4dn.12xlarge", "g4dn.metal"]),
        ({"cloud": "aws", "min_gpu_memory_gib": 200}, ["p6-b300.48xlarge"]),
        (
            {"cloud": "ibm", "min_gpu_memory_total_gib": 1128, "vendor": "nvidia"},
            ["gx4d-232x3840x8b300", "gx3d-160x1792x8h200"],
        ),
        ({"cloud": "aws", "arch": "arm64", "mig": True}, ["p6e-gb200.36xlarge"]),
        ({"cloud": "ibm", "rdma": True}, ["gx3d-160x1792x8h100", "gx3d-160x1792x8h200"]),
        ({"cloud": "ibm", "mig": True, "rdma": False, "min_gpus": 8}, ["gx4d-232x3840x8b300"]),
        ({"cloud": "gcp", "confidential": True}, ["a3-highgpu-1g", "g4-standard-48"]),
        (
            {"cloud": "azure", "gpu_model": "A10", "fractional": True},
            ["Standard_NV6ads_A10_v5", "Standard_NV12ads_A10_v5", "Standard_NV18ads_A10_v5"],
        ),
        ({"cloud": "aws", "gpu_model": "A100", "nearest": "A100 80GB", "most": 1}, ["p4de.24xlarge"]),
        ({"cloud": "oci", "gpu_model": "T4"}, []),
    ],
)
def test_filters(options: dict[str, t.Any], found: list[str]) -> None:
    assert names(**options) == found


def test_a_filter_also_holds_for_names() -> None:
    assert names("p4d.24xlarge", "g4dn.xlarge", mig=True) == ["p4d.24xlarge"]


def test_without_names_the_result_is_sorted() -> None:
    found = gpu_instance_types.entries([], {})
    assert [one["cloud"] for one in found] == sorted(one["cloud"] for one in found)
    assert names(cloud="gcp", gpu_model="L4") == [
        f"g2-standard-{size}" for size in (4, 8, 12, 16, 32, 24, 48, 96)
    ]


def test_what_an_entry_says() -> None:
    found = gpu_instance_types.entries(["g4dn.xlarge"], {})
    assert found == yaml.safe_load(gpu_instance_types.RETURN)["_list"]["sample"]


def test_a_wish_says_what_is_met() -> None:
    found = gpu_instance_types.entries([], {"nearest": "16x H100 80GB", "cloud": "aws"})
    assert len(found) == 5
    assert {key: found[0][key] for key in ("instance_type", "meets", "differs", "nodes")} == {
        "instance_type": "p5.48xlarge",
        "meets": False,
        "differs": ["8 GPUs fewer"],
        "nodes": 2,
    }


@pytest.mark.parametrize(
    ("terms", "options", "code"),
    [
        (["g4dn.xlrage"], {"cloud": "aws"}, "POOL-INSTANCE-TYPE"),
        (["g4dn.xlarge"], {"cloud": "azure"}, "POOL-INSTANCE-TYPE"),
        ([], {"gpu_model": "A1000"}, "INPUT-GPU-MODEL"),
        ([], {"nearest": "8"}, "INPUT-WISH"),
        ([], {"most": 0}, "INPUT-OPTION"),
    ],
)
def test_errors_have_codes(terms: list[str], options: dict[str, t.Any], code: str) -> None:
    with pytest.raises(InputError) as caught:
        gpu_instance_types.entries(terms, options)
    assert caught.value.code == code


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        names("g4dn.xlrage", cloud="aws")
    assert caught.value.remedy.startswith("Nearest: g4dn.xlarge")


def test_an_option_that_does_not_exist() -> None:
    with pytest.raises(InputError, match="gpu_modle") as caught:
        gpu_instance_types.known_only(["gpu_modle"], OPTIONS)
    assert caught.value.remedy.startswith("Did you mean gpu_model?")


@pytest.fixture
def lookup(monkeypatch: pytest.MonkeyPatch, tmp_path: t.Any) -> gpu_instance_types.LookupModule:
    monkeypatch.chdir(tmp_path)
    loader = DataLoader()
    loader.set_basedir(str(tmp_path))
    return gpu_instance_types.LookupModule(loader=loader)


@pytest.mark.parametrize(
    "text",
    [
        "- {cloud: aws, instance_type: p4d.24xlarge, vcpus: 95}",
        '[{"cloud": "aws", "instance_type": "p4d.24xlarge", "vcpus": 95}]',
    ],
)
def test_a_file_of_ones_own(lookup: gpu_instance_types.LookupModule, tmp_path: t.Any, text: str) -> None:
    (tmp_path / "types.yml").write_text(text)
    found = lookup.catalogue("types.yml", {}).find("aws", "p4d.24xlarge")
    assert found is not None
    assert found.vcpus == 95


def test_a_file_that_is_not_there(lookup: gpu_instance_types.LookupModule) -> None:
    with pytest.raises(InputError) as caught:
        lookup.catalogue("missing.yml", {})
    assert caught.value.code == "INPUT-CATALOGUE"
    assert "missing.yml" in caught.value.message


def test_a_file_that_is_no_yaml(lookup: gpu_instance_types.LookupModule, tmp_path: t.Any) -> None:
    (tmp_path / "types.yml").write_text("- {cloud: aws")
    with pytest.raises(InputError) as caught:
        lookup.catalogue("types.yml", {})
    assert caught.value.code == "INPUT-CATALOGUE"


def test_an_error_of_a_file_names_the_file(lookup: gpu_instance_types.LookupModule, tmp_path: t.Any) -> None:
    (tmp_path / "types.yml").write_text("- {cloud: aws, instance_type: p9.large, gpus: 0, gpu_model: L4}")
    with pytest.raises(InputError) as caught:
        lookup.catalogue("types.yml", {})
    assert caught.value.message.startswith("types.yml[0].gpus: ")


def test_the_documentation_names_what_exists() -> None:
    assert tuple(OPTIONS["cloud"]["choices"]) == CLOUDS + OWN_CLOUDS
    assert set(OPTIONS["vendor"]["choices"]) == set(VENDORS)
    described = " ".join(OPTIONS["catalogue"]["description"])
    assert all(f"C({key})" in described for key in ENTRY)
    assert set(ENTRY) <= set(InstanceType.to_dict(BUILT_IN.everything()[0]))


def test_types_of_ones_own_are_found_by_their_model() -> None:
    own = extended([{"cloud": "openstack", "instance_type": "gpu.large", "gpus": 2, "gpu_model": "R100"}])
    found = gpu_instance_types.entries([], {"gpu_model": "r100"}, own)
    assert [one["instance_type"] for one in found] == ["gpu.large"]
    assert gpu_instance_types.entries([], {"nearest": "2x R100"}, own)[0]["instance_type"] == "gpu.large"


def test_errors_reach_the_play_as_lookup_errors() -> None:
    module = gpu_instance_types.LookupModule()
    module.set_options = lambda **_more: None
    module.get_options = lambda: dict.fromkeys(OPTIONS)
    with pytest.raises(
        AnsibleLookupError, match=r"POOL-INSTANCE-TYPE: p4d\.24xlarg .* Nearest: p4d\.24xlarge"
    ):
        module.run(["p4d.24xlarg"])
