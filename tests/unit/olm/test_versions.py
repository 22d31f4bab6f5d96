"""Versions that fit together: filters, defaults, GPUs that a driver leaves out, the user's facts."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import driver_branches
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import versions
from ansible_collections.accelerators.openshift.plugins.module_utils._olm.support import SUPPORT, write


def rows(facts: versions.Facts | None = None, **wanted: t.Any) -> list[dict[str, t.Any]]:
    return versions.rows(facts or versions.built_in(), wanted)


def test_one_row() -> None:
    assert rows(openshift="4.22.3", operator="v26.7.1", driver="595.58.03", gpu_model="H100") == [
        {
            "openshift": "4.22",
            "operator": "26.7",
            "driver_branch": "595",
            "driver_version": driver_branches.NEWEST["595"],
            "is_default": True,
            "generation": "Hopper",
            "kernel_modules": "either",
            "as_of": driver_branches.AS_OF,
            "source": "catalogue",
        }
    ]


def test_the_facts_are_those_of_the_checks() -> None:
    found: dict[str, set[str]] = {}
    for row in rows():
        found.setdefault(row["operator"], set()).add(row["openshift"])
    spans = SUPPORT[versions.PACKAGE]
    assert found == {
        write(release): {f"4.{minor}" for minor in range(first[1], last[1] + 1)}
        for release, (first, last) in spans.items()
    }


def test_the_newest_and_the_default_come_first() -> None:
    found = rows(generation="Ampere")
    assert (found[0]["operator"], found[0]["openshift"], found[0]["is_default"]) == ("26.7", "4.22", True)
    assert [row["is_default"] for row in rows(generation="Ampere", operator="26.3", openshift="4.20")] == [
        True
    ]


@pytest.mark.parametrize(
    ("generation", "branches"),
    [("Volta", {"580", "535"}), ("Blackwell", {"610", "595", "580"}), ("Ada", {"610", "595", "580", "535"})],
)
def test_a_driver_leaves_out_old_and_new_gpus(generation: str, branches: set[str]) -> None:
    assert {row["driver_branch"] for row in rows(operator="26.7", generation=generation)} == branches


def test_kernel_modules_are_those_of_the_model() -> None:
    assert {row["kernel_modules"] for row in rows(gpu_model="NVIDIA-GH200-480GB")} == {"open"}
    assert {row["kernel_modules"] for row in rows(generation="Hopper")} == {"either"}
    assert rows(generation="Volta", gpu_model="H100") == []


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("openshift", "four", "INPUT-VALUE"),
        ("operator", "new", "INPUT-VALUE"),
        ("driver", "58", "INPUT-VALUE"),
        ("gpu_model", "MI300X", "INPUT-VALUE"),
    ],
)
def test_wrong_options(option: str, value: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        versions.rows(versions.built_in(), {option: value})
    assert caught.value.code == code
    assert caught.value.message.startswith(f"{option}: ")


OWN: t.Final = {
    "as_of": "2027-02-01",
    "operators": [
        {"release": "27.1", "first_openshift": "4.21", "last_openshift": "4.23", "branches": ["615", "595"]}
    ],
    "drivers": ["615.20.01", "595.99.01"],
}


def test_facts_of_the_user() -> None:
    facts = versions.extended(OWN)
    found = rows(facts, openshift="4.23", generation="Hopper")
    assert [(row["driver_branch"], row["driver_version"], row["is_default"]) for row in found] == [
        ("615", "615.20.01", True),
        ("595", "595.99.01", False),
    ]
    assert {(row["source"], row["as_of"]) for row in found} == {("user", "2027-02-01")}
    assert driver_branches.NEWEST["595"] != "595.99.01"
    assert rows(operator="27.1") == []


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"as_of": None}, "facts.as_of"),
        ({"operatos": []}, "facts.operatos"),
        ({"operators": [{"release": 27.1}]}, "facts.operators[0].release"),
        ({"drivers": ["new"]}, "facts.drivers[0]"),
    ],
)
def test_wrong_facts_name_their_place(change: dict[str, t.Any], place: str) -> None:
    with pytest.raises(InputError) as caught:
        versions.extended({**OWN, **change})
    assert place in caught.value.message


def test_the_release_of_the_gpu_operator_is_that_of_its_newest_csv() -> None:
    csvs = [{"metadata": {"name": f"gpu-operator-certified.v{one}"}} for one in ("26.3.3", "26.7.0")]
    other = {"metadata": {"name": "nfd.v4.22.0-202608111344"}}
    assert versions.gpu_operator([*csvs, other]) == (26, 7)
    assert versions.gpu_operator([other]) is None
