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
        {"accelerators.openshift.gpu_machineset": {"pool": pool()}, "register": "made"},
        {"ansible.builtin.debug": {"var": "made.warnings"}},
    )
    assert run.rc == 0, run.output[-3000:]
    now = autoscaler(cluster)
    assert now is not None
    assert now["spec"] == {**theirs, **DEFAULTS, "resourceLimits": limits(burst=4)}
    assert "scaleDown.enabled is not true" in run.tasks[-1]["made.warnings"][0]
    assert audit.writes(playbook.module("gpu_machineset", pool=pool())) == []

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

    refused = playbook.module("gpu_machineset", pool=pool())
    assert refused["code"] == "MACH-AUTOSCALER-LIMITS"
    assert "Argo CD" in refused["msg"]
    assert "{type: it-burst, min: 0, max: 4}" in refused["remedy"]
    assert audit.writes(refused) == []


def test_check_mode_foretells_the_bounds_of_a_new_pool(playbook: Playbook) -> None:
    foretold = playbook.module("gpu_machineset", check=True, pool=pool("it-nothing"))
    assert (foretold.failed, len(foretold["autoscalers"])) == (False, 2), foretold.result


def test_pools_with_one_label_share_a_limit_from_the_first_run_on(
    cluster: Cluster, playbook: Playbook, audit: Audit, unscaled: None
) -> None:
    """The first pool that is handed over counts the second, which has no machine sets yet."""
    both = [pool(), pool("it-other", accelerator="it-burst")]
    for one in both:
        made = playbook.module("gpu_machineset", pool=one, other_pools=both)
        assert not made.failed, made.result
        assert made["limits"] == [{"type": "it-burst", "min": 0, "max": 8}]
    assert bounds(cluster) == [(0, 2)] * 4
    for one in both:
        assert audit.writes(playbook.module("gpu_machineset", pool=one, other_pools=both)) == []
    assert not playbook.module("gpu_machineset", name="it-other", state="absent").failed
