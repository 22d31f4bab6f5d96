# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which machine set of a zone a new GPU set is copied from, and what is said about the others."""

from __future__ import annotations

import typing as t

import pytest
from unit.machines.builders import Data, lived, plan, worker

from ansible_collections.accelerators.openshift.plugins.module_utils._machines import source_set
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.machine import MachineError
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import registry

AWS: t.Final = registry.PLATFORMS["AWS"]
ZONE: t.Final = "us-east-2a"
ARCH: t.Final = "capacity.cluster-autoscaler.kubernetes.io/labels"


def other(name: str, **provider: t.Any) -> Data:
    one = worker(ZONE, **provider)
    one["metadata"]["name"] = name
    return one


def template(one: Data) -> Data:
    found: Data = one["spec"]["template"]
    return found


def windows() -> Data:
    one = other("a-windows")
    template(one)["metadata"]["labels"]["machine.openshift.io/os-id"] = "Windows"
    return one


def infra() -> Data:
    one = other("a-infra")
    template(one)["spec"]["metadata"] = {"labels": {"node-role.kubernetes.io/infra": ""}}
    return one


def gpu() -> Data:
    one = other("a-gpu")
    one["metadata"]["annotations"] = {"machine.openshift.io/GPU": "4"}
    return one


def going() -> Data:
    one = other("a-going")
    one["metadata"]["deletionTimestamp"] = "2026-11-22T10:00:00Z"
    return one


def tainted() -> Data:
    one = other("a-tainted")
    template(one)["spec"]["taints"] = [{"key": "team", "effect": "NoSchedule"}]
    return one


def of_arch(name: str, arch: str) -> Data:
    one = other(name)
    one["metadata"]["annotations"] = {ARCH: f"kubernetes.io/arch={arch}"}
    return one


def find(*sets: Data, arch: str = "amd64", **more: t.Any) -> source_set.Source:
    return source_set.find(sets, AWS, ZONE, arch, zones=[ZONE], **more)


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (windows(), "makes Windows machines"),
        (other("a-data", userDataSecret={"name": "windows-user-data"}), "makes Windows machines"),
        (infra(), "makes machines of the role infra"),
        (gpu(), "makes machines with GPUs"),
        (going(), "is being deleted"),
        (tainted(), "gives its machines taints"),
        (of_arch("a-arm", "arm64"), "makes arm64 machines"),
    ],
    ids=lambda one: one["metadata"]["name"] if isinstance(one, dict) else "",
)
def test_a_set_that_does_not_fit_is_passed_over_and_named(one: Data, why: str) -> None:
    name = one["metadata"]["name"]
    found = find(one, of_arch("b-worker", "amd64"))
    assert found.machine_set["metadata"]["name"] == "b-worker"
    assert f"Not taken: {name} {why}." in found.warning


def test_without_another_one_the_reason_is_in_the_error() -> None:
    with pytest.raises(MachineError) as caught:
        find(windows(), gpu())
    assert caught.value.code == "MACH-NO-REFERENCE"
    assert "a-gpu makes machines with GPUs; a-windows makes Windows machines" in caught.value.message


def test_a_set_of_another_architecture_is_better_than_none() -> None:
    assert find(of_arch("a-arm", "arm64")).machine_set["metadata"]["name"] == "a-arm"


def test_usual_sets_need_no_warning() -> None:
    assert find(worker(ZONE), *lived(plan())).warning == ""


def test_a_named_set_is_taken_as_it_is() -> None:
    found = find(infra(), worker(ZONE), named=["a-infra"])
    assert (found.machine_set["metadata"]["name"], found.warning) == ("a-infra", "")


def test_a_named_set_of_another_zone_of_the_pool_says_nothing_about_this_one() -> None:
    here, there = worker(ZONE), worker("us-east-2b")
    found = source_set.find(
        [here, there], AWS, ZONE, "amd64", [there["metadata"]["name"]], [ZONE, "us-east-2b"]
    )
    assert found.machine_set is here
