# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Partitions of a live node beside those of its pool."""

from __future__ import annotations

import dataclasses
import typing as t

import pytest
from unit.sharing.builders import node, params, with_label

from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import mig_judge, options
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.options import Shared

GPU, PART = "nvidia.com/gpu", "nvidia.com/mig-1g.5gb"


@pytest.mark.parametrize(
    ("offers", "expected", "lacks"),
    [
        ({GPU: "0", PART: "7"}, {PART: 7}, []),
        ({GPU: "1", PART: "7"}, {PART: 7}, [f"{GPU} 1 of 0"]),
        ({PART: "6"}, {PART: 7}, [f"{PART} 6 of 7"]),
        ({PART: "7", "nvidia.com/mig-2g.10gb": "1"}, {PART: 7}, ["nvidia.com/mig-2g.10gb 1 of 0"]),
        ({GPU: "8", "nvidia.com/nic": "3"}, {GPU: 7}, [f"{GPU} 8 of 7"]),
        ({GPU: "8"}, {}, []),
    ],
)
def test_every_resource_is_counted(
    offers: dict[str, str], expected: dict[str, int], lacks: list[str]
) -> None:
    one = node("n")
    one["status"]["allocatable"] = offers
    assert mig_judge.lacking(one, expected) == lacks


def pool(**sharing: object) -> Shared:
    return options.read(params(("inference", sharing))["pools"])[0]


SLICED: t.Final = {"mig": {"layout": {"1g.5gb": 7}}, "time_slicing": {"replicas": 4}}


@pytest.mark.parametrize(
    ("offers", "replicas", "lacks"),
    [
        ("28", "4", []),
        ("7", "1", []),  # the device plugin does not share the partitions yet
        ("14", "2", []),  # it still shares them as the pool wanted before
        ("6", "1", [f"{PART} 6 of 28"]),
        ("14", "4", [f"{PART} 14 of 28"]),
    ],
)
def test_partitions_that_pods_will_share_are_there(offers: str, replicas: str, lacks: list[str]) -> None:
    (cut,) = options.read(params(("inference", SLICED))["pools"])
    cut = dataclasses.replace(cut, partitions=(cut.partitions[0]._replace(expected={PART: 28}),))
    one = node("n")
    one["metadata"]["labels"][f"{PART}.replicas"] = replicas
    one["status"]["allocatable"] = {GPU: "0", PART: offers}
    assert mig_judge.missing(one, cut) == lacks


def test_a_label_of_others_is_not_the_concern_of_a_pool_with_whole_gpus() -> None:
    one = with_label(node("n"), mig__config="all-1g.5gb")
    assert mig_judge.differing([one], [pool()]) == []
    cut = pool(mig={"profile": "1g.5gb"})
    assert [found for _node, found in mig_judge.differing([one], [cut])] == [cut]
    assert mig_judge.wanted(one, cut) == cut.mig_config(one)


def test_a_node_is_done_once_its_label_and_its_state_say_so() -> None:
    cut = pool(mig={"profile": "1g.5gb"})
    one = node("n")
    assert not mig_judge.is_done(one, cut)
    one["metadata"]["labels"]["nvidia.com/mig.config"] = cut.mig_config(one)
    assert not mig_judge.is_done(one, cut)
    assert mig_judge.is_done(with_label(one, mig__config__state="success"), cut)


def test_a_node_without_a_stack_is_not_at_work() -> None:
    one = node("n")
    assert mig_judge.is_at_work(one)
    del one["metadata"]["labels"]["nvidia.com/gpu.count"]
    assert mig_judge.is_at_work(one)
    one["status"]["allocatable"] = {GPU: "0"}
    assert not mig_judge.is_at_work(with_label(one, mig__config__state="failed"))
    assert mig_judge.is_at_work(with_label(one, mig__config__state="rebooting"))
