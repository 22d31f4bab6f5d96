# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nodes lose when their pool gets a kubelet configuration of its own."""

from __future__ import annotations

import typing as t

import pytest
from unit.tuning.operator_in_memory import GROUP, KINDS, Operator, config, node, pool, tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import (
    kubelet,
    machine_config,
    rollout_steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.contradictions import Cluster
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.options import Isolation

ISOLATED: t.Final = tuning(isolate=Isolation("0-1", "2-7"), memory_gib=1152)
ALIGNED: t.Final = tuning(isolate=Isolation("0-1", "2-7"), topology="single-numa-node", memory_gib=1152)


def workers(name: str = "big", **spec: t.Any) -> KubeObject:
    """Return a KubeletConfig of an administrator for the pool worker."""
    rule = {"key": f"pools.operator.{GROUP}/worker", "operator": "Exists"}
    selector = {"matchExpressions": [rule]}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "KubeletConfig",
        "metadata": {"name": name},
        "spec": {"machineConfigPoolSelector": selector, **spec},
    }


def worker() -> KubeObject:
    found = pool("worker")
    found["metadata"]["labels"] = {f"pools.operator.{GROUP}/worker": ""}
    return found


def lost(asked: t.Any, *configs: KubeObject, served: bool = False) -> str:
    cluster = Cluster([worker()], list(configs), [], [], [])
    return kubelet.lost(cluster, asked, machine_config.manifests(asked, served))


@pytest.mark.parametrize("asked", [ISOLATED, tuning(topology="restricted"), ALIGNED])
@pytest.mark.parametrize("served", [False, True])
def test_each_field_for_the_workers_is_named(asked: t.Any, served: bool) -> None:
    text = lost(asked, workers(kubeletConfig={"maxPods": 500, "podPidsLimit": 16384}), served=served)
    assert "KubeletConfig big: maxPods: 500, podPidsLimit: 16384." in text
    assert text.startswith("pools[0].tuning: the nodes of pool training do not get")


def test_fields_inside_maps_and_the_tls_profile_count() -> None:
    given = {
        "evictionHard": {"memory.available": "2Gi", "nodefs.available": "10%"},
        "featureGates": {"A": True},
    }
    text = lost(ALIGNED, workers(kubeletConfig=given, tlsSecurityProfile={"type": "Modern"}))
    assert "KubeletConfig big: evictionHard.memory.available: 2Gi, tlsSecurityProfile: Modern." in text


def test_a_reserve_stays_where_the_pool_sets_none() -> None:
    given = {"systemReserved": {"memory": "8Gi", "cpu": "2"}}
    assert lost(tuning(topology="best-effort"), workers(kubeletConfig=given)) == ""
    assert "systemReserved.cpu: 2, systemReserved.memory: 8Gi" in lost(ALIGNED, workers(kubeletConfig=given))


def test_nothing_is_lost() -> None:
    given = workers(kubeletConfig={"maxPods": 500})
    assert lost(tuning(), given) == "", "the pool leaves the file of the kubelet alone"
    given["spec"]["machineConfigPoolSelector"] = {"matchLabels": {"other": ""}}
    assert lost(ISOLATED, given) == ""
    assert lost(ISOLATED, workers(autoSizingReserved=True)) == ""


def test_the_values_of_a_performance_profile_are_those_of_its_controller() -> None:
    """Its controller always sets a reserve, and the Memory Manager where the topology is strict."""
    always = {"cpuManagerPolicy", "cpuManagerReconcilePeriod", "topologyManagerPolicy", "reservedSystemCPUs"}
    always |= {"evictionHard", "kubeReserved", "systemReserved"}
    (loose,) = machine_config.manifests(ISOLATED, served=True)
    (strict,) = machine_config.manifests(ALIGNED, served=True)
    assert set(machine_config.profile_kubelet(loose)) == always
    found = machine_config.profile_kubelet(strict)
    assert set(found) == {*always, "memoryManagerPolicy", "reservedMemory"}
    assert (found["systemReserved"], found["reservedSystemCPUs"]) == ({"memory": "500Mi"}, "0-1")


@pytest.mark.parametrize(("memory", "kept"), [(8, 1), (64, 4), (128, 8), (1152, 28), (2048, 46)])
def test_the_reserve_of_a_node_by_its_size(memory: int, kept: int) -> None:
    assert kubelet.reserve(memory) == kept


def sized(is_automatic: bool) -> KubeObject:
    found = config("01-worker-kubelet", "worker")
    text = f"data:,NODE_SIZING_ENABLED%3D{str(is_automatic).lower()}%0A"
    file = {"path": "/etc/node-sizing-enabled.env", "contents": {"source": text}}
    found["spec"]["config"] = {"storage": {"files": [file]}}
    return found


@pytest.mark.parametrize("is_automatic", [True, False])
def test_a_fixed_reserve_is_said_before_the_first_write(is_automatic: bool) -> None:
    operator = Operator(node("n1"), sized(is_automatic), kinds=(*KINDS, "PerformanceProfile"))
    api = operator.api(check_mode=True)
    rollout_steps.ensure(api, [ISOLATED], "fail")
    assert any("28 GiB of 1152 GiB" in one for one in api.warnings) is is_automatic
    rollout_steps.ensure(operator.api(), [ISOLATED], "fail")
    again = operator.api()
    rollout_steps.ensure(again, [ISOLATED], "fail")
    assert again.warnings == []


def test_the_reserve_stays_where_the_pool_sets_none() -> None:
    operator = Operator(node("n1"), sized(True))
    api = operator.api()
    rollout_steps.ensure(api, [tuning(topology="best-effort")], "fail")
    assert api.warnings == []


def test_lost_fields_are_said_in_each_run() -> None:
    operator = Operator(node("n1"), workers(kubeletConfig={"maxPods": 500}))
    operator.must("MachineConfigPool", "worker")["metadata"]["labels"] = worker()["metadata"]["labels"]
    for _time in range(2):
        api = operator.api()
        rollout_steps.ensure(api, [tuning(topology="restricted")], "fail")
        assert [one for one in api.warnings if "maxPods: 500" in one]
