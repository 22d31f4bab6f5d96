# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What sharing.mig asks for, which partitions a GPU has, and which fit on it together."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.gpus import GPUS
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import partitions
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.partitions import (
    GeometryError,
    Node,
)

A100: t.Final = GPUS["A100-40"]
TWO: t.Final = Node("two", 2, A100)
GPU: t.Final = "nvidia.com/gpu"
WHOLE: t.Final = {"devices": [0], "mig-enabled": False}
SEVEN: t.Final = {"devices": [1], "mig-enabled": True, "mig-devices": {"1g.5gb": 7}}


@pytest.mark.parametrize(
    ("layout", "fits"),
    [
        ({"1g.5gb": 4, "3g.20gb": 1}, True),  # the large one lies behind the small ones
        ({"4g.20gb": 1, "3g.20gb": 1}, True),
        ({"2g.10gb": 3, "1g.5gb": 1}, True),
        ({"1g.10gb": 4}, True),
        ({"1g.5gb": 6, "1g.5gb+me": 1}, True),
        ({"3g.20gb": 1, "1g.10gb": 1, "2g.10gb": 1, "1g.5gb": 1}, False),
        ({"1g.10gb": 3, "2g.10gb": 1, "1g.5gb": 1}, False),
        ({"1g.5gb": 8}, False),
        ({"2g.10gb": 4}, False),
        ({"1g.5gb+me": 2}, False),
        ({"2g.10gb+me": 1}, False),
        ({"7g.40gb": 1, "1g.5gb": 1}, False),
    ],
)
def test_which_partitions_fit_on_one_gpu(layout: dict[str, int], fits: bool) -> None:
    if fits:
        assert partitions.entries({"layout": layout}, TWO)[0]["mig-devices"] == layout
        return
    with pytest.raises(GeometryError) as caught:
        partitions.entries({"layout": layout}, TWO)
    assert caught.value.where.startswith("mig.layout")


# The layouts of the default configuration of GPU operator 26.7.0 for each GPU, by its name in the catalogue.
DEFAULTS: t.Final = {
    "A100-40": "1g.5gb:7 1g.5gb+me:1 1g.10gb:4 2g.10gb:3 3g.20gb:2 4g.20gb:1 7g.40gb:1 "
    "1g.5gb:2,2g.10gb:1,3g.20gb:1",
    "H100-80": "1g.10gb:7 1g.10gb+me:1 1g.20gb:4 2g.20gb:3 3g.40gb:2 4g.40gb:1 7g.80gb:1 "
    "1g.10gb:2,2g.20gb:1,3g.40gb:1",
    "A30": "1g.6gb:4 1g.6gb+me:1 2g.12gb:2 2g.12gb+me:1 4g.24gb:1 1g.6gb:2,2g.12gb:1",
    "H100-94": "1g.12gb:7 1g.12gb+me:1 1g.24gb:4 2g.24gb:3 3g.47gb:2 4g.47gb:1 7g.94gb:1 "
    "1g.12gb:2,2g.24gb:1,3g.47gb:1",
    "GH200-96": "1g.12gb:7 1g.24gb:4 2g.24gb:3 3g.48gb:2 4g.48gb:1 7g.96gb:1 1g.12gb:2,2g.24gb:1,3g.48gb:1",
    "GH200-144": "1g.18gb:7 1g.18gb+me:1 1g.36gb:4 2g.36gb:3 3g.72gb:2 4g.72gb:1 7g.144gb:1 "
    "1g.18gb:2,2g.36gb:1,3g.72gb:1",
    "H200": "1g.18gb:7 1g.18gb+me:1 1g.35gb:4 2g.35gb:3 3g.71gb:2 4g.71gb:1 7g.141gb:1 "
    "1g.18gb:2,2g.35gb:1,3g.71gb:1",
    "B200": "1g.23gb:7 1g.23gb+me:1 1g.45gb:4 2g.45gb:3 3g.90gb:2 4g.90gb:1 7g.180gb:1 "
    "1g.23gb:2,2g.45gb:1,3g.90gb:1",
    "B300": "1g.34gb:7 1g.34gb+me:1 1g.67gb:4 2g.67gb:3 3g.135gb:2 4g.135gb:1 7g.269gb:1 "
    "1g.34gb:2,2g.67gb:1,3g.135gb:1",
    "GB200-186": "1g.23gb:7 1g.47gb:4 2g.47gb:3 3g.93gb:2 4g.93gb:1 7g.186gb:1 1g.23gb:2,2g.47gb:1,3g.93gb:1",
    "GB200-189": "1g.24gb+me:1 1g.47gb:4 2g.47gb:3 3g.95gb:2 4g.95gb:1 7g.189gb:1",
    "GB300": "1g.35gb:7 1g.35gb+me:1 1g.70gb:4 2g.70gb:3 3g.139gb:2 4g.139gb:1 7g.278gb:1 "
    "1g.35gb:2,2g.70gb:1,3g.139gb:1",
    "RTX-PRO-6000": "1g.24gb:4 1g.24gb+me:1 1g.24gb+gfx:4 1g.24gb+me.all:1 1g.24gb-me:4 2g.48gb:2 "
    "2g.48gb+gfx:2 2g.48gb+me.all:1 2g.48gb-me:2 4g.96gb:1 4g.96gb+gfx:1 1g.24gb:2,2g.48gb:1",
}


@pytest.mark.parametrize(("name", "text"), DEFAULTS.items())
def test_every_default_layout_of_the_operator_is_accepted_for_its_gpu(name: str, text: str) -> None:
    for words in text.split():
        pairs = (one.split(":") for one in words.split(","))
        layout = {profile: int(number) for profile, number in pairs}
        for node in (Node("one", 1, GPUS[name]), Node("existing nodes", 1)):
            assert partitions.entries({"layout": layout}, node)[0]["mig-devices"] == layout


@pytest.mark.parametrize(
    ("name", "layout", "fits"),
    [
        ("RTX-PRO-4500", {"1g.16gb": 2}, True),
        ("RTX-PRO-4500", {"1g.16gb+gfx": 1, "1g.16gb-me": 1}, True),
        ("RTX-PRO-4500", {"1g.16gb+me.all": 1, "1g.16gb-me": 1}, True),
        ("RTX-PRO-4500", {"1g.16gb+me.all": 1, "1g.16gb": 1}, False),
        ("RTX-PRO-4500", {"1g.16gb": 3}, False),
        ("RTX-PRO-4500", {"1g.16gb+me": 1}, False),
        ("RTX-PRO-4500", {"2g.32gb": 1, "1g.16gb": 1}, False),
        ("RTX-PRO-5000", {"1g.24gb+me": 1, "1g.24gb": 1}, True),
        ("RTX-PRO-5000", {"1g.24gb": 4}, False),
        ("RTX-PRO-5000", {"2g.48gb+me.all": 1}, False),
        ("RTX-PRO-6000", {"2g.48gb+me": 1}, False),
        ("RTX-PRO-6000", {"4g.96gb-me": 1}, False),
        ("RTX-PRO-6000", {"2g.48gb+gfx": 1, "1g.24gb": 1, "1g.24gb-me": 1}, True),
        ("RTX-PRO-6000", {"1g.24gb+me.all": 1, "1g.24gb-me": 3}, True),
        ("RTX-PRO-6000", {"1g.24gb+me.all": 1, "2g.48gb": 1}, False),
        ("RTX-PRO-6000", {"1g.24gb+me.all": 1, "1g.24gb+me": 1}, False),
        ("GH200-144", {"3g.71gb": 2}, False),
        ("GB200-189", {"3g.93gb": 2}, False),
        ("H100-80", {"1g.10gb+gfx": 1}, False),
    ],
)
def test_the_variants_of_newer_gpus(name: str, layout: dict[str, int], fits: bool) -> None:
    one = Node("one", 1, GPUS[name])
    if fits:
        assert partitions.resources({"layout": layout}, one) == {
            f"nvidia.com/mig-{profile.replace('+', '.')}": number for profile, number in layout.items()
        }
        return
    with pytest.raises(GeometryError):
        partitions.entries({"layout": layout}, one)


def test_nvidias_table_is_named_only_for_a_gpu_that_is_in_it() -> None:
    for node, words in (
        (Node("one", 1, GPUS["RTX-PRO-6000"]), "has no MIG profile '2g.48gb+me' (NVIDIA's table of"),
        (Node("existing nodes", 1), "this collection knows no GPU with a MIG profile '2g.48gb+me' (as of"),
    ):
        with pytest.raises(GeometryError, match=r"2g\.48gb") as caught:
            partitions.entries({"profile": "2g.48gb+me"}, node)
        assert words in caught.value.message


def test_the_media_engines_have_a_resource_of_their_own() -> None:
    mig = {"layout": {"1g.5gb+me": 1}}
    assert partitions.resources(mig, TWO) == {"nvidia.com/mig-1g.5gb.me": 2}


def test_a_half_of_an_a30_can_have_the_media_engines() -> None:
    assert partitions.entries({"layout": {"2g.12gb+me": 1, "2g.12gb": 1}}, Node("a30", 1, GPUS["A30"]))


def test_a_configuration_of_ones_own_names_each_gpu() -> None:
    mig = {"config": [WHOLE, SEVEN]}
    assert partitions.entries(mig, TWO) == [WHOLE, SEVEN]
    assert partitions.resources(mig, TWO) == {GPU: 1, "nvidia.com/mig-1g.5gb": 7}


def test_a_later_entry_wins() -> None:
    every = {"devices": "all", "mig-enabled": True, "mig-devices": {"7g.40gb": 1}}
    assert partitions.resources({"config": [every, WHOLE]}, TWO) == {GPU: 1, "nvidia.com/mig-7g.40gb": 1}
    assert partitions.resources({"config": [every], "strategy": "single"}, TWO) == {GPU: 2}


@pytest.mark.parametrize(
    ("config", "where"),
    [
        ([SEVEN], "mig.config"),
        ([{**WHOLE, "devices": [2]}], "mig.config[0].devices"),
        ([{**WHOLE, "devices": "0"}], "mig.config[0].devices"),
        ([{**WHOLE, "devices": []}], "mig.config[0].devices"),
        ([WHOLE, {**SEVEN, "mig-devices": {}}], "mig.config[1].mig-devices"),
        ([{**WHOLE, "mig-devices": {"1g.5gb": 1}}], "mig.config[0].mig-devices"),
        ([{**SEVEN, "mig-devices": {"4g.20gb": 2}}], "mig.config[0].mig-devices"),
        ([{**SEVEN, "mig-devices": {"1g.6gb": 2}}], "mig.config[0].mig-devices.1g.6gb"),
    ],
)
def test_a_configuration_of_ones_own_is_checked(config: list[t.Any], where: str) -> None:
    with pytest.raises(GeometryError) as caught:
        partitions.resources({"config": config}, TWO)
    assert (caught.value.where, bool(caught.value.remedy)) == (where, True)


def test_one_strategy_needs_one_size() -> None:
    with pytest.raises(GeometryError) as caught:
        partitions.resources({"config": [WHOLE, SEVEN], "strategy": "single"}, TWO)
    assert caught.value.where == "mig.strategy"


@pytest.mark.parametrize(
    ("mig", "found"),
    [
        ({"profile": "1g.5gb"}, {"1g.5gb": 7}),
        ({"layout": {"3g.20gb": 1, "1g.5gb": 1}}, {"3g.20gb": 1, "1g.5gb": 1}),
    ],
)
def test_the_model_of_existing_nodes_is_not_known(mig: dict[str, t.Any], found: dict[str, int]) -> None:
    assert partitions.entries(mig, Node("existing nodes", 2))[0]["mig-devices"] == found


@pytest.mark.parametrize(
    ("mig", "where"),
    [
        ({"slices": 7}, "mig.slices"),
        ({"profile": "1g.10gb"}, "mig.profile"),  # four of an A100-40, seven of an A100-80
        ({"profile": "1g.7gb"}, "mig.profile"),
        ({"layout": {"1g.5gb": 1, "1g.6gb": 1}}, "mig.layout"),
    ],
)
def test_what_needs_the_model_is_refused_without_it(mig: dict[str, t.Any], where: str) -> None:
    with pytest.raises(GeometryError) as caught:
        partitions.entries(mig, Node("existing nodes", 2))
    assert caught.value.where == where


def test_the_gpu_of_a_planned_candidate() -> None:
    assert partitions.gpu_of("A100", 80) is GPUS["A100-80"]
    assert partitions.gpu_of("A100", 81) is None


def test_names_of_the_devices_that_a_configuration_makes() -> None:
    whole = {"devices": [0], "mig-enabled": False}
    cut = {"devices": [1], "mig-enabled": True, "mig-devices": {"1g.5gb+me": 1, "3g.20gb": 1}}
    found = partitions.names({"config": []}, [whole, cut])
    assert found == {"nvidia.com/gpu", "nvidia.com/mig-1g.5gb.me", "nvidia.com/mig-3g.20gb"}
    assert partitions.names({"profile": "3g.20gb"}, [cut]) == {"nvidia.com/gpu"}
