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
)
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.selection import entries
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.plugin_utils._lookups import known_only

OPTIONS: t.Final = yaml.safe_load(gpu_instance_types.DOCUMENTATION)["options"]


def test_what_an_entry_says() -> None:
    found = entries(["g4dn.xlarge"], {})
    assert found == yaml.safe_load(gpu_instance_types.RETURN)["_list"]["sample"]


def test_an_option_that_does_not_exist() -> None:
    with pytest.raises(InputError, match="gpu_modle") as caught:
        known_only("gpu_instance_types", ["gpu_modle"], OPTIONS)
    assert caught.value.remedy.startswith("Did you mean gpu_model?")


@pytest.fixture
def lookup(monkeypatch: pytest.MonkeyPatch, tmp_path: t.Any) -> gpu_instance_types.LookupModule:
    monkeypatch.chdir(tmp_path)
    loader = DataLoader()
    loader.set_basedir(str(tmp_path))
    return gpu_instance_types.LookupModule(loader=loader)


def test_a_failure_has_no_cause_whose_message_ansible_would_repeat(
    lookup: gpu_instance_types.LookupModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "set_options", lambda **_more: None)
    monkeypatch.setattr(lookup, "get_options", lambda: {**dict.fromkeys(OPTIONS), "catalogue": None})
    with pytest.raises(AnsibleLookupError, match="is not a known GPU instance type") as caught:
        lookup.run(["g4dn.xlarg"])
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    "text",
    [
        "- {platform: aws, instance_type: p4d.24xlarge, vcpus: 95}",
        '[{"platform": "aws", "instance_type": "p4d.24xlarge", "vcpus": 95}]',
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
    (tmp_path / "types.yml").write_text("- {platform: aws")
    with pytest.raises(InputError) as caught:
        lookup.catalogue("types.yml", {})
    assert caught.value.code == "INPUT-CATALOGUE"


def test_an_error_of_a_file_names_the_file(lookup: gpu_instance_types.LookupModule, tmp_path: t.Any) -> None:
    (tmp_path / "types.yml").write_text("- {platform: aws, instance_type: p9.large, gpus: 0, gpu_model: L4}")
    with pytest.raises(InputError) as caught:
        lookup.catalogue("types.yml", {})
    assert caught.value.message.startswith("types.yml[0].gpus: ")


def test_the_documentation_names_what_exists() -> None:
    assert tuple(OPTIONS["platform"]["choices"]) == CLOUDS + OWN_CLOUDS
    assert set(OPTIONS["vendor"]["choices"]) == set(VENDORS)
    described = " ".join(OPTIONS["catalogue"]["description"])
    assert all(f"C({key})" in described for key in ENTRY)
    assert set(ENTRY) <= set(InstanceType.to_dict(BUILT_IN.everything()[0]))


def test_errors_reach_the_play_as_lookup_errors() -> None:
    module = gpu_instance_types.LookupModule()
    module.set_options = lambda **_more: None
    module.get_options = lambda: dict.fromkeys(OPTIONS)
    with pytest.raises(
        AnsibleLookupError, match=r"POOL-INSTANCE-TYPE: instance_type: p4d\.24xlarg .* Nearest: p4d\.24xlarge"
    ):
        module.run(["p4d.24xlarg"])
