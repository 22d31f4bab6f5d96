# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource, backend nvidiadriver: the twelve steps, and another owner's ClusterPolicy."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, must_get
from integration.playbook import Playbook
from integration.stack.driver_gaps import NEW, OLD, POLICIES, POOLS, QUICK, driver
from integration.twelve_steps import Case, Walks
from integration.wire import Audit

Data = dict[str, t.Any]
SCENARIO: t.Final = "gpu-nodes"
pytestmark = pytest.mark.long(
    "a driver for each pool and not one for all, which test_cluster_policy.py and test_truth.py have"
)
OPERATORS: t.Final = {"nfd": "openshift-nfd", "gpu-operator-certified": "nvidia-gpu-operator"}

BACKEND: t.Final = "nvidiadriver"
# Times, names of pods, and labels that outlive the stack for a while differ between runs.
TIMED: t.Final = frozenset({"driver_version", "since", "evidence", "lines"})
WANTED: t.Final[Data] = {"backend": BACKEND, "pools": POOLS, **QUICK}


CHANGED: t.Final = WANTED | {
    "mig": {"strategy": "mixed"},
    "nvidia_drivers": [{"name": "inference", **driver(OLD)}, {"name": "training"}],
}
STEPS: t.Final = Case(
    "special_resource", WANTED, CHANGED, {"backend": BACKEND, "state": "absent"}, varies=TIMED
)


def test_twelve_steps(walks: Walks) -> None:
    walks.check(STEPS, in_process=True)


def test_somebody_elses_policy_that_does_not_let_them_drive(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    assert not playbook.module("special_resource", backend=BACKEND, state="absent", **QUICK).failed
    spec: Data = {
        key: {}
        for key in (
            "operator",
            "daemonsets",
            "driver",
            "toolkit",
            "devicePlugin",
            "dcgmExporter",
            "dcgm",
            "nodeStatusExporter",
            "gfd",
        )
    }
    cluster.client.create(
        {
            "apiVersion": POLICIES[0],
            "kind": "ClusterPolicy",
            "metadata": {"name": "gpu-cluster-policy"},
            "spec": spec,
        }
    )
    try:
        made = playbook.module("special_resource", **WANTED)
        assert (made["code"], audit.writes(made)) == ("GPU-NVD-DISABLED", []), made.result
        taken = playbook.module("special_resource", **WANTED, adopt="take", driver=driver(NEW))
        assert not taken.failed, taken.result
        live = must_get(cluster.client, *POLICIES, "gpu-cluster-policy")
        assert live["spec"]["driver"]["useNvidiaDriverCRD"] is True
        assert "app.kubernetes.io/managed-by" not in (live["metadata"].get("labels") or {})
    finally:
        cluster.client.delete(*POLICIES, "gpu-cluster-policy")
        playbook.module("special_resource", backend=BACKEND, state="absent", **QUICK)
