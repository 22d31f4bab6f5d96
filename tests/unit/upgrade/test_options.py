# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which driver, wave and window the options ask for, and what is refused."""

from __future__ import annotations

import datetime
import typing as t

import pytest
from unit.upgrade.in_memory.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import driver_branches
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import options
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.options import Triple, Window

DRIVER: t.Final = Triple("nvcr.io/nvidia", "driver", "580.173.02")


def test_a_branch_is_its_newest_version() -> None:
    given = params(version=None, repository=None, image=None, branch="580")
    assert options.wanted(given) == Triple("nvcr.io/nvidia", "driver", driver_branches.NEWEST["580"])


def test_a_name_chooses_every_group_of_its_pool() -> None:
    pools = [
        {"name": name, "node_selector": {"kind": kind}} for name, kind in (("a", "1"), ("a", "2"), ("b", "1"))
    ]
    assert options.chosen(pools, []) == pools
    assert options.chosen(pools, ["a"]) == pools[:2]
    by_label = {"name": "a", "node_selector": {"accelerators.openshift/pool": "a"}}
    assert options.chosen([], ["a"]) == [by_label]
    assert options.chosen([], []) == []


def test_an_unknown_pool_is_refused_with_those_that_exist() -> None:
    pools = [{"name": name, "node_selector": {"a": "b"}} for name in ("demo", "big")]
    with pytest.raises(InputError) as caught:
        options.chosen(pools, ["dmo", "big"])
    assert caught.value.code == "POOL-UNKNOWN"
    assert "no pool dmo (did you mean demo?) with GPUs of NVIDIA. It has demo, big." in caught.value.message
    assert caught.value.remedy == "Set gpu_upgrade_pools (module option only) to one of demo, big."


def test_a_branch_may_come_from_a_mirror() -> None:
    given = params(version=None, repository="registry.example.com/nvidia", image=None, branch="r580")
    found = options.wanted(given)
    assert found is not None
    assert found.repository == "registry.example.com/nvidia"


@pytest.mark.parametrize(
    ("given", "code", "path"),
    [
        ({"version": None, "branch": "777"}, "UPGRADE-BRANCH", "branch"),
        ({"branch": "580"}, "UPGRADE-TRIPLE", "branch"),
        ({"repository": None}, "UPGRADE-TRIPLE", "repository"),
        ({"image": ""}, "UPGRADE-TRIPLE", "image"),
        ({"version": None}, "UPGRADE-TRIPLE", "version"),
    ],
)
def test_a_driver_that_is_not_whole_is_refused(given: dict[str, t.Any], code: str, path: str) -> None:
    with pytest.raises(InputError) as caught:
        options.wanted(params(**given))
    assert caught.value.code == code
    assert caught.value.message.startswith(f"{path}: ")
    assert caught.value.layer == "input"


def test_no_driver_is_none() -> None:
    assert options.wanted(params(version=None, repository=None, image=None)) is None


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"wave": "0"}, "UPGRADE-WAVE"),
        ({"wave": "101%"}, "UPGRADE-WAVE"),
        ({"wave": "some"}, "UPGRADE-WAVE"),
        ({"window": "25:00-04:00"}, "UPGRADE-WINDOW"),
        ({"window": "tonight"}, "UPGRADE-WINDOW"),
        ({"window": "22:00-22:00"}, "UPGRADE-WINDOW"),
        ({"node_timeout": 0}, "INPUT-VALUE"),
        ({"probe": {"kind": "Pod", "metadata": {"name": "p"}}}, "UPGRADE-JOB"),
        ({"probe": {"kind": "Job"}}, "UPGRADE-JOB"),
    ],
)
def test_options_that_cannot_work_are_refused(given: dict[str, t.Any], code: str) -> None:
    options.check(params())
    with pytest.raises(InputError) as caught:
        options.check(params(**given))
    assert caught.value.code == code


def test_the_size_of_a_wave() -> None:
    assert options.wave_size("25%", 10, 10) == 3
    assert options.wave_size("1%", 10, 10) == 1
    assert options.wave_size("4", 2, 10) == 2
    with pytest.raises(InputError) as caught:
        options.wave_size("11", 3, 10)
    assert "the largest has 10 nodes" in caught.value.message


def test_an_image_of_the_driver() -> None:
    assert DRIVER.is_of("nvcr.io/nvidia/driver:580.173.02-rhel9.6")
    assert not DRIVER.is_of("nvcr.io/nvidia/driver:580.173.020-rhel9.6")
    assert DRIVER._replace(version="sha256:ab").path == "nvcr.io/nvidia/driver@sha256:ab"
    assert not Triple("", "", "").is_of("x")


def test_a_window_past_midnight() -> None:
    window = Window.of("22:00-04:00")
    assert window is not None
    noon = datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.UTC)
    assert not window.is_open(noon)
    assert window.is_open(noon.replace(hour=23))
    assert window.is_open(noon.replace(hour=3, minute=59))
    assert not window.is_open(noon.replace(hour=4))
    assert window.opens(noon) == noon.replace(hour=22)
    assert window.opens(noon.replace(hour=22)) == noon.replace(day=23, hour=22)
    assert Window.of(None) is None


@pytest.mark.parametrize(
    ("given", "variable"),
    [
        ({"version": "v595.91.07"}, "gpu_driver_version"),
        ({"version": "sha256:1"}, "gpu_driver_version"),
        ({"repository": "https://nvcr.io/nvidia"}, "gpu_driver_repository"),
        ({"image": "driver:595"}, "gpu_driver_image"),
    ],
)
def test_a_driver_that_no_registry_can_have_is_refused(given: dict[str, t.Any], variable: str) -> None:
    with pytest.raises(InputError) as caught:
        options.wanted(params(**given))
    assert caught.value.code == "INPUT-IMAGE"
    assert variable in caught.value.remedy
