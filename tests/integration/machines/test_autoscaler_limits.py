# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of the ClusterAutoscaler: the collection adds to existing limits and takes back what it added."""

from __future__ import annotations

import typing as t

from cluster import Cluster
from integration.machines.scaled_pool import autoscaler, bounds, pool
from integration.playbook import Playbook
from integration.wire import Audit

Data = dict[str, t.Any]
# The API server adds this default to a ClusterAutoscaler.
DEFAULTS: t.Final = {"enforceNodeGroupMinSize": "Disabled"}


def limits(burst: int) -> Data:
    """Return limits of a ClusterAutoscaler; burst: the largest number of GPUs of the type it-burst."""
    return {
        "maxNodesTotal": 40,
        "gpus": [{"type": "nvidia-a100", "min": 1, "max": 16}, {"type": "it-burst", "min": 1, "max": burst}],
    }


def create_autoscaler(cluster: Cluster, spec: Data, **metadata: t.Any) -> None:
    cluster.client.create(
        {
            "apiVersion": "autoscaling.openshift.io/v1",
            "kind": "ClusterAutoscaler",
            "metadata": {"name": "default", **metadata},
            "spec": spec,
        }
    )


def test_limits_are_merged_and_given_back(
    cluster: Cluster, playbook: Playbook, audit: Audit, unscaled: None
) -> None:
    theirs = {"scaleDown": {"enabled": False}, "resourceLimits": limits(burst=2)}
    create_autoscaler(cluster, theirs)
    run = playbook.tasks(
        {"accelerators.openshift.gpu_machineset": {"pool": pool()}},
        {"accelerators.openshift.gpu_autoscaler": {"pools": [pool()]}, "register": "made"},
        {"ansible.builtin.debug": {"var": "made.warnings"}},
    )
    assert run.rc == 0, run.output[-3000:]
    now = autoscaler(cluster)
    assert now is not None
    assert now["spec"] == {**theirs, **DEFAULTS, "resourceLimits": limits(burst=4)}
    assert "scaleDown.enabled is not true" in run.tasks[-1]["made.warnings"][0]
    assert audit.writes(playbook.module("gpu_autoscaler", pools=[pool()])) == []

    gone = playbook.module("gpu_machineset", name="it-burst", state="absent")
    assert not gone.failed, gone.result
    left = autoscaler(cluster)
    assert left is not None
    assert left["spec"] == theirs | DEFAULTS
    assert "accelerators.openshift/gpu-limits" not in (left["metadata"].get("annotations") or {})
    assert bounds(cluster) == []


def test_limits_that_argo_cd_keeps_are_not_written(
    cluster: Cluster, playbook: Playbook, audit: Audit, unscaled: None
) -> None:
    tracking = "infra:autoscaling.openshift.io/ClusterAutoscaler:/default"
    spec = {
        "scaleDown": {"enabled": True},
        "resourceLimits": {"gpus": [{"type": "nvidia-a100", "min": 0, "max": 16}]},
    }
    create_autoscaler(cluster, spec, annotations={"argocd.argoproj.io/tracking-id": tracking})
    planned = playbook.module("gpu_plan", pools=[pool()])
    assert (planned["code"], planned["problems"][0]["path"]) == (
        "POOL-ACCELERATOR",
        "gpu_pools[0].accelerator",
    )
    assert len(audit.of(planned)) == (2 if audit.log else 0)

    run = playbook.tasks(
        {"accelerators.openshift.gpu_machineset": {"pool": pool()}},
        {"accelerators.openshift.gpu_autoscaler": {"pools": [pool()]}},
    )
    assert run.failure["code"] == "MACH-AUTOSCALER-FOREIGN"
    assert "Argo CD" in run.failure["msg"]
    assert "{type: it-burst, min: 0, max: 4}" in run.failure["remedy"]
    assert audit.writes(run.failure) == []


def test_a_pool_without_machine_sets_cannot_be_scaled(playbook: Playbook) -> None:
    assert playbook.module("gpu_autoscaler", pools=[pool("it-nothing")])["code"] == "MACH-NO-SETS"
    foretold = playbook.module("gpu_autoscaler", check=True, pools=[pool("it-nothing")])
    assert (foretold.failed, len(foretold["autoscalers"])) == (False, 2), foretold.result
