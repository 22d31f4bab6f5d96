# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deployments of placeholder pods, and which of them are ours."""

from __future__ import annotations

import pytest
from unit.policy.builders import TAINT, partition

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.placeholders import is_placeholder
from ansible_collections.accelerators.openshift.plugins.module_utils._policy import spare

TWO = partition("training", TAINT, spare=2, resources=["nvidia.com/gpu.shared"])


def live(pool: str = "training", name: str = "", **status: int) -> KubeObject:
    """Return a Deployment of ours as the cluster has it."""
    found = spare.build(partition(pool, spare=1), "gpu-spare", "pause")
    found["metadata"]["labels"] = {**found["metadata"]["labels"], **MANAGED_BY}
    found["metadata"]["name"] = name or found["metadata"]["name"]
    return found | {"status": status}


def test_each_placeholder_holds_one_device_on_a_node_of_the_pool() -> None:
    made = spare.build(TWO, "gpu-spare", "pause")
    pod = made["spec"]["template"]["spec"]
    assert (made["metadata"]["name"], made["spec"]["replicas"]) == ("gpu-spare-training", 2)
    assert pod["containers"][0]["resources"]["limits"]["nvidia.com/gpu.shared"] == "1"
    assert pod["nodeSelector"] == {"accelerators.openshift/pool": "training"}
    assert [one["key"] for one in pod["tolerations"]] == ["nvidia.com/gpu"]
    assert (pod["priorityClassName"], pod["terminationGracePeriodSeconds"]) == ("gpu-spare", 0)


def test_a_pod_of_the_deployment_is_a_placeholder_once_it_has_its_priority() -> None:
    template = spare.build(TWO, "gpu-spare", "pause")["spec"]["template"]
    assert spare.is_spare(template)
    assert not is_placeholder(template)
    assert is_placeholder({**template, "spec": {**template["spec"], "priority": -10}})


def test_a_deployment_of_others_stays() -> None:
    foreign = live()
    del foreign["metadata"]["labels"]["app.kubernetes.io/managed-by"]
    assert list(spare.ours([live(), live("other", name="mine"), foreign])) == ["training"]
    with pytest.raises(AcceleratorError) as raised:
        spare.refuse_foreign([foreign], [TWO])
    assert raised.value.code == "POLICY-FOREIGN"
    spare.refuse_foreign([foreign], [TWO._replace(spare=0)])


def test_the_namespace_is_ours_by_its_purpose() -> None:
    place = spare.namespace("gpu-spare")
    assert not spare.is_made_for_spare(place)
    place["metadata"]["labels"] |= MANAGED_BY
    assert spare.is_made_for_spare(place)
    assert not spare.is_made_for_spare(None)


def test_the_result_counts_what_runs() -> None:
    assert spare.summarize(TWO, live(readyReplicas=1)) == {"name": "training", "spare": 2, "running": 1}
    assert spare.summarize(TWO, None)["running"] == 0
