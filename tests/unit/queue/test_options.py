# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What gpu_queue refuses before it sends a request, and what it reads."""

from __future__ import annotations

import typing as t

import pytest
from unit.queue.builders import GPU, existing, params, pools, queue, share

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._queue import options

Q: t.Final = "gpu_queues[0]"
MIXED: t.Final = {"nvidia.com/mig-1g.5gb": 7, "nvidia.com/mig-3g.20gb": 1}


@pytest.mark.parametrize(
    ("wanted", "code", "start"),
    [
        pytest.param(queue(pools=[]), "QUEUE-FLAVOR", f"{Q}.pools is empty", id="no flavor"),
        pytest.param(queue("q", share("trainin")), "QUEUE-FLAVOR", f"{Q}.pools[0].name", id="unknown pool"),
        pytest.param(queue("q", share(), share()), "QUEUE-FLAVOR", f"{Q}.pools", id="pool twice in a queue"),
        pytest.param(queue("Big Q"), "QUEUE-NAME", f"{Q}.name", id="name"),
        pytest.param(queue(cohort="a b"), "QUEUE-NAME", f"{Q}.cohort", id="cohort"),
        pytest.param(queue(local_queue="A"), "QUEUE-NAME", f"{Q}.local_queue", id="local queue"),
        pytest.param(
            queue(namespaces=[]), "QUEUE-NAMESPACE", f"{Q}.namespaces: the list is empty", id="no namespace"
        ),
        pytest.param(
            queue(namespaces=["a", "kube-system"]), "QUEUE-NAMESPACE", f"{Q}.namespaces[1]", id="platform"
        ),
        pytest.param(
            queue(namespaces=["a", "b", "a"]), "QUEUE-NAMESPACE", f"{Q}.namespaces[2]", id="namespace twice"
        ),
        pytest.param(
            queue("research", share(gpus=1, resources={"nvidia.com/gpu": 2})),
            "QUEUE-QUOTA",
            f"{Q}.pools[0].gpus",
            id="one device by two options",
        ),
        pytest.param(
            queue(preemption={"within_queue": "Never", "reclaim": "Any", "borrowing": "Never"}),
            "QUEUE-NO-COHORT",
            f"{Q}.preemption.reclaim",
            id="reclaims, and is in no cohort",
        ),
        pytest.param(queue(namespaces=["A"]), "QUEUE-NAMESPACE", f"{Q}.namespaces[0]", id="bad namespace"),
        pytest.param(
            queue(preemption={"within_queue": "Never", "reclaim": "Never", "borrowing": "LowerPriority"}),
            "QUEUE-RECLAIM",
            f"{Q}.preemption.borrowing",
            id="preempts to borrow, and never reclaims",
        ),
    ],
)
def test_what_is_refused(wanted: dict[str, t.Any], code: str, start: str) -> None:
    with pytest.raises(InputError) as caught:
        options.read(params(wanted))
    assert caught.value.code == code
    assert caught.value.message.startswith(start)
    assert caught.value.layer == "input"


@pytest.mark.parametrize(
    ("second", "start"),
    [
        pytest.param(queue("research", share(gpus=1)), "gpu_queues[1].name", id="one name twice"),
        pytest.param(
            queue("b", share(gpus=1), local_queue="research"),
            "gpu_queues[1].local_queue",
            id="local queue twice",
        ),
    ],
)
def test_two_queues_have_names_of_their_own(second: dict[str, t.Any], start: str) -> None:
    with pytest.raises(InputError) as caught:
        options.read(params(queue("research", share(gpus=1)), second))
    assert caught.value.code == "QUEUE-NAME"
    assert caught.value.message.startswith(start)


def test_claimed_devices_have_no_queues() -> None:
    with pytest.raises(InputError) as caught:
        options.read(params(queue(), claims=True))
    assert caught.value.code == "QUEUE-CLAIMS"
    assert options.read(params(claims=True)) == [], "the remedy says to remove the queues"


def test_a_pool_without_labels_would_be_every_node() -> None:
    (pool,) = pools(existing("all", {"a": "b"}))
    with pytest.raises(InputError, match="no labels"):
        options.read(params(queue("q", share("all", gpus=1)), pools=[pool | {"node_selector": {}}]))


def test_gpus_of_virtual_machines_are_no_part_of_a_queue() -> None:
    (pool,) = pools(existing("vms", {"a": "b"}))
    machines = {"workload": "vm_passthrough", "virtual_machines": {"device": "10de:1eb8"}}
    with pytest.raises(InputError, match="for virtual machines") as caught:
        options.read(params(queue("q", share("vms", gpus=1)), pools=[pool | machines]))
    assert (caught.value.code, caught.value.remedy) == (
        "QUEUE-FLAVOR",
        "Remove pool vms from gpu_queues[0].pools.",
    )


def test_a_queue_has_the_whole_pool_and_is_in_no_cohort_by_default() -> None:
    (found,) = options.read(params(queue()))
    assert found.shares[0].devices == {GPU: 16}
    assert (found.cohort, found.local_queue, found.most(GPU)) == ("", "research", 16)


def test_the_most_that_a_queue_admits() -> None:
    lender = queue("b", share(gpus=4), cohort="gpus")
    bounded, free = options.read(params(queue("a", share(gpus=4, borrow=2), cohort="gpus"), lender))
    assert bounded.most(GPU) == 6
    assert free.most(GPU) is None, "without a limit it borrows all that is free"


def test_a_pool_with_several_names_of_devices() -> None:
    planned = pools(existing("mig", {"a": "b"}, {**MIXED, "rdma/hca": 1}))
    (found,) = options.read(params(queue("q", share("mig", resources=MIXED)), pools=planned))
    assert found.shares[0].devices == MIXED
    assert options.others(found.shares[0].pool) == ["rdma/hca"]
