# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of Kueue."""

from __future__ import annotations

import typing as t

import pytest
from unit.queue.builders import GPU, existing, params, pools, queue, share

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import kueue
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool
from ansible_collections.accelerators.openshift.plugins.module_utils._queue import manifest, options

Data = dict[str, t.Any]
MIG: t.Final = "nvidia.com/mig-1g.5gb"


def pool(*taints: Data) -> Pool:
    (raw,) = pools(existing("training", {"tier": "a"}))
    return Pool.from_result(raw | {"taints": list(taints)})


def taint(effect: str, value: str | None = None) -> Data:
    return {"key": "gpu", "value": value, "effect": effect}


@pytest.mark.parametrize(
    ("given", "tolerate", "spec"),
    [
        pytest.param([], True, {}, id="no taint"),
        pytest.param([taint("PreferNoSchedule")], True, {}, id="a soft taint keeps nobody out"),
        pytest.param(
            [taint("NoSchedule", "a"), taint("NoExecute")],
            True,
            {
                "tolerations": [
                    {"key": "gpu", "operator": "Equal", "value": "a", "effect": "NoSchedule"},
                    {"key": "gpu", "operator": "Exists", "effect": "NoExecute"},
                ]
            },
            id="tolerations",
        ),
        pytest.param(
            [taint("NoSchedule", "a")],
            False,
            {"nodeTaints": [{"key": "gpu", "value": "a", "effect": "NoSchedule"}]},
            id="taints",
        ),
    ],
)
def test_the_flavor_of_a_pool(given: list[Data], tolerate: bool, spec: Data) -> None:
    found = manifest.flavor("v1beta2", pool(*given), tolerate)
    assert found["metadata"] == {"name": "training"}
    assert found["spec"] == {"nodeLabels": {"tier": "a"}, **spec}


def test_every_flavor_has_an_amount_of_every_resource_in_one_order() -> None:
    planned = pools(existing("whole", {"a": "1"}), existing("cut", {"a": "2"}, {MIG: 7, "rdma/hca": 1}))
    wanted = queue("q", share("whole", gpus=8), share("cut", resources={MIG: 14, "cpu": 32}))
    (read,) = options.read(params(wanted, pools=planned))
    found = manifest.group(read)
    assert found["coveredResources"] == [GPU, MIG, "cpu", "memory", "ephemeral-storage", "rdma/hca"]
    amounts = {one["name"]: [entry["nominalQuota"] for entry in one["resources"]] for one in found["flavors"]}
    assert amounts == {
        "whole": ["8", "0", "1M", "1Pi", "1Pi", "0"],
        "cut": ["0", "14", "32", "1Pi", "1Pi", "1M"],
    }
    for one in found["flavors"]:
        assert [entry["name"] for entry in one["resources"]] == found["coveredResources"]


def test_limits_are_for_devices_alone() -> None:
    wanted = [
        queue("a", share(gpus=8, borrow=2, lend=1), cohort="gpus"),
        queue("b", share(gpus=1), cohort="gpus"),
    ]
    read, _other = options.read(params(*wanted))
    first, *others = manifest.group(read)["flavors"][0]["resources"]
    assert first == {"name": GPU, "nominalQuota": "8", "borrowingLimit": "2", "lendingLimit": "1"}
    assert all(set(one) == {"name", "nominalQuota"} for one in others)


def test_a_queue_says_who_may_use_it_and_what_it_preempts() -> None:
    preemption = {"within_queue": "LowerPriority", "reclaim": "Any", "borrowing": "Never"}
    wanted = queue(
        namespaces=["team-b", "team-a"], strategy="StrictFIFO", preemption=preemption, cohort="all"
    )
    (read,) = options.read(params(wanted))
    spec = manifest.cluster_queue("v1beta2", read)["spec"]
    (chosen,) = spec["namespaceSelector"]["matchExpressions"]
    assert chosen["values"] == ["team-a", "team-b"]
    assert spec["queueingStrategy"] == "StrictFIFO"
    assert spec["preemption"] == {
        "withinClusterQueue": "LowerPriority",
        "reclaimWithinCohort": "Any",
        "borrowWithinCohort": {"policy": "Never"},
    }
    assert "stopPolicy" not in spec
    assert spec["cohortName"] == "all"
    (alone,) = options.read(params(queue()))
    assert "cohortName" not in manifest.cluster_queue("v1beta2", alone)["spec"]


def test_what_a_live_queue_says() -> None:
    groups = [{"flavors": [{"name": "a"}]}, {"flavors": [{"name": "b"}]}]
    assert kueue.flavors_of({"spec": {"resourceGroups": groups}}) == ["a", "b"]
    assert kueue.flavors_of({}) == []
    assert manifest.cohort_of({"spec": {"cohort": "old"}}) == "old"
    assert manifest.cohort_of({"spec": {"cohortName": "new"}}) == "new"
    assert manifest.cohort_of({}) == ""
