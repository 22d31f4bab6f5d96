# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What on the cluster is in the way of queues."""

from __future__ import annotations

import typing as t

import pytest
from unit.queue.builders import node, params, queue, share

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._queue import manifest, options, refusals

Data = dict[str, t.Any]


def wanted(*queues: Data) -> list[options.Queue]:
    return options.read(params(*queues))


def flavor(**spec: t.Any) -> Data:
    return {"kind": "ResourceFlavor", "metadata": {"name": "training"}, "spec": spec}


def test_a_foreign_object_that_is_the_same_is_no_trouble() -> None:
    refusals.foreign(None, flavor(nodeLabels={"a": "b"}), "report")
    refusals.foreign(flavor(nodeLabels={"a": "b"}, more=1), flavor(nodeLabels={"a": "b"}), "report")
    refusals.foreign(flavor(nodeLabels={"a": "c"}), flavor(nodeLabels={"a": "b"}), "take")
    with pytest.raises(AcceleratorError) as caught:
        refusals.foreign(flavor(nodeLabels={"a": "c"}), flavor(nodeLabels={"a": "b"}), "report")
    assert caught.value.code == "QUEUE-FOREIGN"
    assert "differs in nodeLabels" in caught.value.message
    assert "gpu_policy_adopt: take" in caught.value.remedy


def test_a_local_queue_of_the_same_cluster_queue_is_no_trouble() -> None:
    (one,) = manifest.local_queues("v1beta2", *wanted(queue()))
    refusals.moved(None, one, "gpu_queues[0]")
    refusals.moved(one, one, "gpu_queues[0]")
    with pytest.raises(AcceleratorError, match="leads to ClusterQueue other"):
        refusals.moved({**one, "spec": {"clusterQueue": "other"}}, one, "gpu_queues[0]")


def test_one_pool_in_two_queues_is_one_flavor() -> None:
    found = wanted(queue("a", share(gpus=1)), queue("b", share(gpus=1)))
    labels = dict(found[0].shares[0].pool.node_selector)
    marked = node("n1")
    marked["metadata"]["labels"] = labels
    refusals.two_flavors(found, [marked])


@pytest.mark.parametrize(
    ("live", "cohorts"),
    [
        pytest.param("gpus", (), id="a queue of others"),
        pytest.param("other", ("gpus",), id="a Cohort with GPUs of its own"),
    ],
)
def test_somebody_lends(live: str, cohorts: t.Collection[str]) -> None:
    group = {"flavors": [{"name": "training"}]}
    other = {"metadata": {"name": "theirs"}, "spec": {"cohortName": live, "resourceGroups": [group]}}
    refusals.borrowing_from_itself(
        wanted(queue("a", share(gpus=1, borrow=1), cohort="gpus")), [other], cohorts
    )


def test_nobody_lends() -> None:
    found = wanted(queue("a", share(gpus=1, borrow=1), cohort="gpus"))
    itself = manifest.cluster_queue("v1beta2", found[0])
    with pytest.raises(InputError, match="would borrow from itself"):
        refusals.borrowing_from_itself(found, [itself], ())
    none = wanted(queue("a", share(gpus=1, borrow=0), cohort="gpus"))
    refusals.borrowing_from_itself(none, [], ())
