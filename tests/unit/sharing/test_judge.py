# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node is right if it offers GPUs times replicas under the right name and says so."""

from __future__ import annotations

import pytest
from unit.sharing.builders import FOUR, MPS, NEW, OLD, node, plugin, with_label

from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import judge, profile
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.options import Partition, Shared

POOL = Shared("inference", {"accelerators.openshift/pool": "inference"}, FOUR)
TOLD = {"gpu__replicas": "4", "gpu__sharing_strategy": "time-slicing"}


@pytest.mark.parametrize(
    ("gpus", "marks", "is_ready"),
    [
        (4, TOLD, True),
        (1, TOLD, False),
        (4, {}, False),
        (4, TOLD | {"gpu__sharing_strategy": "mps"}, False),
    ],
)
def test_shares_of_a_node(gpus: int, marks: dict[str, str], is_ready: bool) -> None:
    found = judge.judge_node(with_label(node("n", gpus=gpus), **marks), POOL)
    assert found.is_ready is is_ready
    assert is_ready or found.code == "GPU-SHARING-SHARES"
    # The plugin offers the devices, and GPU feature discovery labels them: either may keep an old profile.
    for words in ("nvidia-device-plugin-daemonset,gpu-feature-discovery", "spec.nodeName=n`"):
        assert is_ready or words in found.remedy


@pytest.mark.parametrize(
    ("strategy", "device", "offers"),
    [
        ("mixed", "nvidia.com/mig-3g.20gb", 2),
        ("mixed", "nvidia.com/mig-3g.20gb", 4),
        ("single", "nvidia.com/gpu", 4),
    ],
)
def test_shares_of_partitions(strategy: str, device: str, offers: int) -> None:
    config = [{"devices": "all", "mig-enabled": True, "mig-devices": {"3g.20gb": 2}}]
    sharing = {"mig": {"config": config, "strategy": strategy}, "time_slicing": {"replicas": 2}}
    cut = Partition("", config, {device: 4})
    pool = Shared("inference", POOL.label, sharing, partitions=(cut,))
    one = node("n")
    one["status"]["allocatable"] = {"nvidia.com/gpu": "0"} | {device: str(offers)}
    assert not judge.judge_node(one, pool).is_ready
    marks = {f"{device}.replicas": "2", f"{device}.sharing-strategy": "time-slicing"}
    one["metadata"]["labels"] |= marks
    assert judge.judge_node(one, pool).is_ready is (offers == 4)
    assert pool.profile.count(f"- name: {device}\n      replicas: 2\n") == 1


def test_what_the_pool_expects_counts_more_than_what_is_discovered() -> None:
    asked = Shared("inference", {}, FOUR, {"nvidia.com/gpu": 8})
    assert judge.shares(node("n"), asked) == {"nvidia.com/gpu": 8}
    renamed = Shared("inference", {}, {"mps": {"replicas": 2, "rename": True}})
    assert judge.shares(node("n"), renamed) == {"nvidia.com/gpu.shared": 2}


def test_every_node_counts_whose_plugin_reads_the_config_map() -> None:
    good = with_label(node("good", gpus=4), **TOLD)
    late, other = node("late"), node("other", pool="training")
    pods = [plugin("good"), plugin("late", "elsewhere"), plugin("other")]
    judged = judge.Judge([POOL], "gpu-sharing")
    assert judged({"nodes": [good, late, other], "pods": pods}).is_ready
    verdict = judged({"nodes": [good, late], "pods": [plugin("good"), plugin("late")]})
    assert not verdict.is_ready
    assert verdict.details == ("node late of pool inference offers nvidia.com/gpu 1 of 4",)


def test_only_pods_that_started_before_the_write_are_stale() -> None:
    pods = [plugin("a", since=OLD), plugin("b", since="2026-11-23T08:00:01Z")]
    assert [one["spec"]["nodeName"] for one in judge.stale(pods, NEW)] == ["a"]


def test_time_slicing_ends_no_pod_and_mps_does() -> None:
    nodes = [with_label(node("n"), device_plugin__config="gpu-inference")]
    sliced, served = {"gpu-inference": profile.text(FOUR)}, {"gpu-inference": profile.text(MPS)}
    eight = Shared("inference", POOL.label, {"time_slicing": {"replicas": 8}})
    whole, mps = Shared("inference", POOL.label), Shared("inference", POOL.label, MPS)
    assert judge.questions(nodes, [eight], sliced) == []
    assert judge.questions(nodes, [whole], sliced) == []
    assert judge.questions(nodes, [mps], served) == []
    for pool, before in ((mps, sliced), (mps, {}), (whole, served), (eight, served)):
        (question,) = judge.questions(nodes, [pool], before)
        assert question.labels == "kubernetes.io/hostname in (n)"


def test_the_result_names_what_pods_request() -> None:
    found = judge.summarize(POOL, [with_label(node("n", gpus=4), **TOLD), node("m")])
    assert found == {
        "name": "inference",
        "profile": "gpu-inference",
        "replicas": 4,
        "resource": "nvidia.com/gpu",
        "nodes": [{"name": "n", "ready": True}, {"name": "m", "ready": False}],
    }
