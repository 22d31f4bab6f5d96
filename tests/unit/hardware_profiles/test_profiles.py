# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hardware profiles of pools and queues: what they offer, to whom, and their objects in each kind."""

from __future__ import annotations

import typing as t

import pytest
from unit.queue.builders import GPU, TAINT, existing, pools as planned

from ansible_collections.accelerators.openshift.plugins.module_utils._hardware_profiles import profiles
from ansible_collections.accelerators.openshift.plugins.module_utils._hardware_profiles.profiles import (
    Profile,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool

Data = dict[str, t.Any]
P4D: t.Final[Data] = {
    "name": "training",
    "candidates": [{"instance_type": "p4d.24xlarge", "zones": ["us-east-2a"]}],
    "replicas": 2,
}
T4: t.Final[Data] = {
    "name": "inference",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "replicas": 1,
}
SELECTOR: t.Final = {"accelerators.openshift/pool": "training"}
OURS: t.Final = {"app.kubernetes.io/managed-by": "accelerators.openshift"}


def pools(*described: Data) -> list[Pool]:
    return [Pool.from_result(raw) for raw in planned(*described)]


def made(*described: Data, queues: t.Sequence[Data] = ()) -> list[Profile]:
    return profiles.profiles(pools(*described), queues)


def counts(profile: Profile, name: str) -> tuple[t.Any, t.Any, t.Any]:
    """Return the lowest, the default and the highest amount of a resource; None for what is not said."""
    (found,) = (entry for entry in profile.identifiers if entry["identifier"] == name)
    return found["minCount"], found["defaultCount"], found.get("maxCount")


def built(profile: Profile, number: int) -> Data:
    """Return the object of the profile in one of the kinds, the newest first."""
    return profiles.build(profile, profiles.KINDS[number][:2], "ai", ["training", "inference"], True)


def test_a_pool_offers_its_gpus_and_three_quarters_of_a_node() -> None:
    (profile,) = made(P4D)
    assert (profile.name, profile.title, profile.resource) == ("training", "A100 (training)", GPU)
    assert profile.description == f"Up to 8 {GPU} for a pod, on nodes of pool training."
    assert [entry["resourceType"] for entry in profile.identifiers] == ["CPU", "Memory", "Accelerator"]
    assert counts(profile, GPU) == (1, 1, 8)
    assert counts(profile, "cpu") == (1, 9, 72)
    assert counts(profile, "memory") == ("1Gi", "108Gi", "864Gi")


def test_the_highest_amounts_fit_on_each_instance_type_of_a_pool() -> None:
    both = {
        **P4D,
        "candidates": [*P4D["candidates"], {"instance_type": "g4dn.12xlarge", "zones": ["us-east-2a"]}],
    }
    (profile,) = made(both)
    assert profile.title == "A100 or T4 (training)"
    assert counts(profile, GPU) == (1, 1, 4)
    assert counts(profile, "cpu") == (1, 9, 36)


def test_nodes_of_unknown_size_have_a_default_and_no_limit() -> None:
    (profile,) = made(existing("training", SELECTOR, {GPU: 8, "rdma/rdma_shared_device_a": 63}))
    assert profile.title == "GPU (training)"
    assert counts(profile, GPU) == (1, 1, 8)
    assert counts(profile, "cpu") == (1, 2, None)
    assert counts(profile, "memory") == ("1Gi", "4Gi", None)


@pytest.mark.parametrize("way", ["time_slicing", "mps"])
def test_a_pod_gets_one_share_of_a_shared_gpu(way: str) -> None:
    (profile,) = made({**T4, "sharing": {way: {"replicas": 4}}})
    assert counts(profile, profile.resource) == (1, 1, 1)
    assert counts(profile, "memory") == ("1Gi", "3Gi", "12Gi")
    assert profile.description.endswith("Several pods share each GPU.")


def test_a_renamed_share_is_named_in_the_title() -> None:
    (profile,) = made({**T4, "sharing": {"time_slicing": {"replicas": 4, "rename": True}}})
    assert (profile.resource, profile.title) == ("nvidia.com/gpu.shared", "T4 gpu.shared (inference)")


def test_each_partition_of_a_pool_has_a_profile() -> None:
    sharing = {"mig": {"layout": {"1g.5gb": 4, "3g.20gb": 1}, "strategy": "mixed"}}
    found = made({**P4D, "sharing": sharing})
    assert [(profile.name, counts(profile, profile.resource)[2]) for profile in found] == [
        ("training-mig-1g-5gb", 32),
        ("training-mig-3g-20gb", 8),
    ]
    assert found[0].title == "A100 mig-1g.5gb (training)"
    # 72 cores for 40 partitions.
    assert counts(found[0], "cpu") == (1, 1, 72)


def test_pools_of_virtual_machines_have_no_profile() -> None:
    machines = existing(
        "machines", {"vm": "yes"}, workload="vm_passthrough", virtual_machines={"device": "10DE:20B0"}
    )
    assert [profile.name for profile in made(P4D, machines)] == ["training"]


def test_a_queue_offers_its_pools_instead_of_them() -> None:
    queue = {
        "name": "research",
        "pools": [{"name": "training"}, {"name": "inference"}],
        "local_queue": "gpus",
    }
    batch = {**T4, "name": "batch"}
    found = made(P4D, T4, batch, queues=[queue])
    assert [(profile.name, profile.queue) for profile in found] == [("batch", ""), ("research", "gpus")]
    assert found[1].title == "A100 or T4 (queue gpus)"
    assert counts(found[1], GPU) == (1, 1, 1)
    assert built(found[1], 0)["spec"]["scheduling"] == {"type": "Queue", "kueue": {"localQueueName": "gpus"}}


def test_a_queue_with_the_name_of_another_pool_gets_another_name() -> None:
    found = made(P4D, T4, queues=[{"name": "inference", "pools": [{"name": "training"}]}])
    assert [(profile.name, profile.queue) for profile in found] == [
        ("inference", ""),
        ("inference-queue", "inference"),
    ]


@pytest.mark.parametrize("queue", [{}, {"name": "q", "pools": ["training"]}, {"name": "q", "pools": None}])
def test_a_queue_that_gpu_queue_refuses_offers_nothing(queue: Data) -> None:
    assert [profile.name for profile in made(P4D, queues=[queue])] == ["training"]


@pytest.mark.parametrize("number", [0, 1])
def test_the_newest_kind_has_nodes_and_texts_in_annotations(number: int) -> None:
    (profile,) = made({**P4D, "taints": [TAINT, {"key": "soft", "effect": "PreferNoSchedule"}]})
    obj = built(profile, number)
    assert (obj["apiVersion"], obj["kind"]) == profiles.KINDS[number][:2]
    assert obj["metadata"] == {
        "name": "training",
        "namespace": "ai",
        "annotations": {
            "accelerators.openshift/pools": "training",
            "accelerators.openshift/list-of-pools": "inference,training",
            "opendatahub.io/display-name": profile.title,
            "opendatahub.io/description": profile.description,
        },
    }
    tolerations = [{"key": GPU, "operator": "Equal", "value": "present", "effect": "NoSchedule"}]
    assert obj["spec"] == {
        "identifiers": profile.identifiers,
        "scheduling": {"type": "Node", "node": {"nodeSelector": SELECTOR, "tolerations": tolerations}},
    }


def test_older_kinds_have_their_texts_in_the_spec() -> None:
    (profile,) = made({**P4D, "taints": [TAINT]})
    texts = {"displayName": profile.title, "description": profile.description, "enabled": True}
    tolerations = [{"key": GPU, "operator": "Equal", "value": "present", "effect": "NoSchedule"}]
    older = {"identifiers": profile.identifiers, "nodeSelector": SELECTOR, "tolerations": tolerations}
    assert built(profile, 2)["spec"] == {**texts, **older}
    assert built(profile, 3)["spec"] == {**texts, "identifier": GPU, "tolerations": tolerations}


def live(offers: str, every: str, labels: Data | None = None) -> Data:
    notes = {profiles.OFFERS: offers, profiles.LIST: every}
    return {"metadata": {"name": "p", "labels": OURS if labels is None else labels, "annotations": notes}}


@pytest.mark.parametrize(
    ("obj", "is_of_list", "is_offered"),
    [
        pytest.param(live("a", "a,b"), True, True, id="a pool of the list"),
        pytest.param(live("c", "b,c"), True, False, id="a pool that left the list"),
        pytest.param(live("a,b", "a,b"), True, False, id="a queue of two pools"),
        pytest.param(live("c", "c,d"), False, False, id="another file of pools"),
        pytest.param(live("a", "a,b", {}), False, False, id="of others"),
        pytest.param({"metadata": {"name": "p", "labels": OURS}}, False, False, id="by the module manifests"),
    ],
)
def test_which_profiles_go(obj: Data, is_of_list: bool, is_offered: bool) -> None:
    assert profiles.of_list(obj, {"a", "b"}) is is_of_list
    assert profiles.offers_only(obj, {"a"}) is is_offered
