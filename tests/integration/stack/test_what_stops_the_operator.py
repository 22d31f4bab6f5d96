# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource says what stops the GPU operator itself: a label that it misses, and an older policy."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook
from integration.sandbox import gpu_cluster as gpus
from integration.stack.driver_gaps import POLICIES, POOLS
from integration.wire import Audit

from openshift_sandbox import faults

Data = dict[str, t.Any]
SCENARIO: t.Final = "gpu-nodes"
pytestmark = pytest.mark.long("what is read of a policy's status and of labels, which unit tests have too")
OPERATORS: t.Final = {"nfd": "openshift-nfd", "gpu-operator-certified": "nvidia-gpu-operator"}
SYSTEM: t.Final = "feature.node.kubernetes.io/system-os_release.ID"
WANTED: t.Final[Data] = {"pools": POOLS, "grace": 5, "wait_timeout": 120}


def test_a_label_that_the_operator_misses_is_the_cause_with_its_text(
    cluster: Cluster, playbook: Playbook
) -> None:
    sandbox, lost = cluster.needs_sandbox(), {"label": SYSTEM}
    faults.add(sandbox, "nfd_label_lost", lost)
    try:
        # While the nodes still have it, the operator starts drivers.
        until(lambda: not cluster.client.list("v1", "nodes", labels=SYSTEM), "nodes without the label")
        found = playbook.module("special_resource", **WANTED)
    finally:
        faults.clear(sandbox, "nfd_label_lost", lost)
    assert (found.failed, found["code"]) == (True, "GPU-CP-RECONCILE"), found.result
    assert f"unable to retrieve OS name from label {SYSTEM}" in found["msg"]
    assert "oc delete pod -n openshift-nfd -l app=nfd-worker" in found["remedy"]
    stages = {one["name"]: one["verdict"] for one in found["special_resource"]["stages"]}
    assert (stages["crd"], stages["driver"]) == ("failed", "waiting")
    whole = playbook.module("special_resource", **WANTED | {"grace": 60})
    assert not whole.failed, whole.result


def test_a_younger_policy_is_refused_before_the_first_write(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    [first] = cluster.client.list(*POLICIES)
    until(lambda: gpus.policy_status(cluster.client).get("state") == "ready", "the policy is ready")
    second = {"apiVersion": POLICIES[0], "kind": "ClusterPolicy", "metadata": {"name": "a-younger-one"}}
    cluster.client.create({**second, "spec": first["spec"]})
    refused = playbook.module("special_resource", name="a-younger-one", **WANTED)
    assert (refused["code"], audit.writes(refused)) == ("GPU-CP-IGNORED", []), refused.result
    assert f"`oc delete clusterpolicy {first['metadata']['name']} a-younger-one`" in refused["remedy"]
    again = playbook.module("special_resource", **WANTED)
    assert (again.failed, again.changed) == (False, False), again.result
    cluster.client.delete(*POLICIES, "a-younger-one")
