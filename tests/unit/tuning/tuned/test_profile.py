"""The text of a pool's TuneD profile."""

from __future__ import annotations

import pytest
from unit.tuning.builders import tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned import profile

OWN = """[main]
include=openshift-node
[vm]
transparent_hugepages=always
[sysctl]
vm.swappiness=5 # little
"""


def test_a_shipped_profile_builds_on_openshifts() -> None:
    text = profile.text(tuning(profile="accelerator"))
    assert text.startswith(
        "[main]\nsummary=GPU pool training: profile accelerator\ninclude=openshift-node\n\n[cpu]\n"
    )
    assert "\nreadahead=>4096\n" in text
    assert profile.parse(text)["sysctl"]["vm.dirty_ratio"] == "40"
    assert "include=other\n" in profile.text(tuning(profile="accelerator"), "other")


def test_a_profile_has_the_settings_of_its_base_and_replaces_some() -> None:
    found = profile.settings(tuning(profile="inference"))
    assert found["cpu"]["governor"] == "performance"
    assert found["cpu"]["force_latency"] == "cstate.id_no_zero:1|3"
    assert found["sysctl"]["vm.swappiness"] == "1"


def test_sysctls_of_the_pool_come_last() -> None:
    found = profile.settings(tuning(profile="accelerator", sysctl={"vm.swappiness": "1", "fs.file-max": "9"}))
    assert (found["sysctl"]["vm.swappiness"], found["sysctl"]["fs.file-max"]) == ("1", "9")
    alone = profile.text(tuning(sysctl={"fs.file-max": "9"}))
    assert alone.endswith("settings of its own\ninclude=openshift-node\n\n[sysctl]\nfs.file-max=9\n")


def test_a_text_of_the_users_own_stays_as_it_is() -> None:
    assert profile.text(tuning(profile="ours", data=OWN)) == OWN


def test_sysctls_go_into_a_text_of_the_users_own() -> None:
    found = profile.parse(profile.text(tuning(profile="ours", data=OWN, sysctl={"vm.swappiness": "1"})))
    assert found == {
        "main": {"include": "openshift-node"},
        "vm": {"transparent_hugepages": "always"},
        "sysctl": {"vm.swappiness": "1"},
    }


def test_a_text_of_the_users_own_includes_the_parent_too() -> None:
    found = profile.parse(profile.text(tuning(profile="ours", data=OWN), "parent"))
    assert found["main"] == {"include": "parent,openshift-node"}
    assert found["vm"] == {"transparent_hugepages": "always"}


@pytest.mark.parametrize(
    ("include", "names"),
    [("openshift-node", ["openshift-node"]), ("a, -b;c", ["a", "-b", "c"]), ("", [])],
)
def test_what_a_profile_includes(include: str, names: list[str]) -> None:
    assert profile.includes({"main": {"include": include}} if include else {}) == names
