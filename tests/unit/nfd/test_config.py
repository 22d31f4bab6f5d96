"""The configuration of nfd-worker: PCI classes are added, and nothing is lost."""

from __future__ import annotations

import typing as t

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import config
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd.config import (
    merge_classes,
    merge_config,
)


@pytest.mark.parametrize(
    ("existing", "wanted", "expected"),
    [
        ([], ["02"], ["02"]),
        (["0200"], ["02"], ["0200", "02"]),
        (["02"], ["0200", "0207"], ["02"]),
        (["03", "0b40", "12"], ["03", "12"], ["03", "0b40", "12"]),
        ([12, "03"], ["12"], ["12", "03"]),
    ],
)
def test_classes_match_by_prefix_and_none_is_lost(
    existing: list[t.Any], wanted: list[str], expected: list[str]
) -> None:
    assert merge_classes(existing, wanted) == expected


def test_a_configuration_that_has_everything_stays_as_written() -> None:
    config = (
        "# by the network team\nsources:\n"
        "  pci: {deviceClassWhitelist: ['02', '03', '12'], deviceLabelFields: [vendor]}\n"
    )
    assert merge_config(config, ["0200", "03"], ["vendor"]) is config


def test_what_is_missing_is_added_and_the_rest_kept() -> None:
    config = (
        "core: {sleepInterval: 30s}\nsources:\n  usb: {deviceClassWhitelist: ['0e']}\n"
        "  pci:\n    deviceClassWhitelist: ['0c03']\n"
    )
    merged = yaml.safe_load(merge_config(config, ["02", "03"], ["vendor"]))
    assert merged["core"] == {"sleepInterval": "30s"}
    assert merged["sources"]["usb"] == {"deviceClassWhitelist": ["0e"]}
    assert merged["sources"]["pci"] == {
        "deviceClassWhitelist": ["0c03", "02", "03"],
        "deviceLabelFields": ["vendor"],
    }


def test_setting_the_list_keeps_what_the_worker_took_before() -> None:
    assert yaml.safe_load(merge_config("", ["02"], ["vendor"]))["sources"]["pci"]["deviceClassWhitelist"] == [
        "03",
        "0b40",
        "12",
        "02",
    ]


@pytest.mark.parametrize("config", ["a: [", "- list", "just text"])
def test_a_broken_configuration_is_not_replaced(config: str) -> None:
    with pytest.raises(InputError) as caught:
        merge_config(config, ["02"], ["vendor"])
    assert caught.value.code == "NFD-CONFIG"


@pytest.mark.parametrize("entry", ["0x02", "0B40", "", "02 "])
def test_what_is_no_pci_class(entry: str) -> None:
    with pytest.raises(InputError) as caught:
        config.check_classes(["02", entry])
    assert "pci_classes[1]" in caught.value.message


def test_classes_are_explained() -> None:
    words = {
        one["class"]: one["lets_through"]
        for one in config.explain_classes(["0200", "02", "0302", "0b40", "ff"])
    }
    assert words["0200"] == "nothing more: 02 covers it"
    assert "InfiniBand (0207)" in words["02"]
    assert "no word" in words["ff"]
    assert "an InfiniBand adapter is 0207" in config.explain_classes(["0200"])[0]["lets_through"]
