"""Contradictions between tuning and cluster: each with its code, and what is no contradiction."""

from __future__ import annotations

import typing as t

import pytest
from unit.tuning.operator_in_memory import GROUP, LABEL, node, pool, tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import (
    contradictions,
    machine_config,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.contradictions import Cluster
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.options import Isolation, Tuning

ISOLATED: t.Final = tuning(isolate=Isolation("0-1", "2-7"))


def cluster(**more: t.Any) -> Cluster:
    given: dict[str, t.Any] = {
        "pools": [pool("worker"), pool("master")],
        "kubelets": [],
        "profiles": [],
        "configs": [],
        "nodes": [node("n1")],
    }
    return Cluster(**given | more)


def refused(found: Cluster, *tunings: Tuning) -> AcceleratorError:
    with pytest.raises(AcceleratorError) as caught:
        contradictions.check(found, tunings or [ISOLATED])
    assert "Nothing was changed." in caught.value.message
    assert caught.value.remedy
    return caught.value


def kubelet(name: str, selector: KubeObject, **metadata: t.Any) -> KubeObject:
    return {
        "kind": "KubeletConfig",
        "metadata": {"name": name, **metadata},
        "spec": {"machineConfigPoolSelector": selector},
    }


def test_no_contradiction() -> None:
    other = {"matchLabels": {f"pools.operator.{GROUP}/worker": ""}}
    own = kubelet(
        "gpu-training", {"matchLabels": machine_config.pool_selector("training")}, labels=MANAGED_BY
    )
    made = {**machine_config.pool(ISOLATED)}
    made["metadata"] = {**made["metadata"], "labels": {**made["metadata"]["labels"], **MANAGED_BY}}
    found = cluster(
        pools=[pool("worker"), pool("master"), pool("infra"), made], kubelets=[kubelet("w", other), own]
    )
    contradictions.check(found, [ISOLATED])


def test_two_pools_on_one_node() -> None:
    other = tuning(name="inference", label={"node-role.kubernetes.io/worker": ""}, path="pools[1].tuning")
    problem = refused(cluster(), tuning(), other)
    assert problem.code == "REBOOT-TWO-POOLS"
    assert "pools[1].tuning: pools training and inference both select n1" in problem.message


@pytest.mark.parametrize(
    "kind", ["MachineConfigPool", "KubeletConfig", "PerformanceProfile", "MachineConfig"]
)
def test_an_object_of_others_with_our_name(kind: str) -> None:
    name = "99-gpu-training-kernel" if kind == "MachineConfig" else "gpu-training"
    lists = {
        "MachineConfigPool": "pools",
        "KubeletConfig": "kubelets",
        "PerformanceProfile": "profiles",
        "MachineConfig": "configs",
    }
    one: KubeObject = {"kind": kind, "metadata": {"name": name}, "spec": {}}
    problem = refused(cluster(**{lists[kind]: [one]}))
    assert problem.code == "REBOOT-FOREIGN"
    assert f"{kind} {name} exists" in problem.message


def test_a_pool_of_others_that_selects_our_nodes() -> None:
    gpus = {"matchExpressions": [{"key": "node-role.kubernetes.io/gpu", "operator": "Exists"}]}
    nodes = [node("n1", labels={"node-role.kubernetes.io/gpu": ""})]
    found = cluster(pools=[pool("worker"), pool("gpu", nodeSelector=gpus)], nodes=nodes)
    problem = refused(found)
    assert problem.code == "REBOOT-FOREIGN-POOL"
    assert "MachineConfigPool gpu selects n1 too" in problem.message


def test_a_pool_of_others_that_would_select_future_nodes() -> None:
    found = cluster(pools=[pool("worker"), pool("gpu")], nodes=[])
    assert "its future nodes" in refused(found).message


def test_nodes_of_the_control_plane() -> None:
    nodes = [node("n1", labels={"node-role.kubernetes.io/master": ""})]
    assert refused(cluster(nodes=nodes)).code == "REBOOT-CONTROL-PLANE"


def test_a_kubelet_config_of_others_for_our_pool() -> None:
    rule = {"key": f"pools.operator.{GROUP}/gpu-training", "operator": "Exists"}
    problem = refused(cluster(kubelets=[kubelet("mine", {"matchExpressions": [rule]})]))
    assert problem.code == "REBOOT-KUBELET-TWICE"
    assert "KubeletConfig mine" in problem.message
    contradictions.check(cluster(kubelets=[kubelet("mine", {"matchExpressions": [rule]})]), [tuning()])


def test_a_performance_profile_of_others_for_our_nodes() -> None:
    profile = {"kind": "PerformanceProfile", "metadata": {"name": "low"}, "spec": {"nodeSelector": LABEL}}
    problem = refused(cluster(profiles=[profile]))
    assert problem.code == "REBOOT-KUBELET-TWICE"
    assert "PerformanceProfile low" in problem.message


def test_the_kubelet_config_of_our_performance_profile_is_ours() -> None:
    profile = {
        "kind": "PerformanceProfile",
        "metadata": {"name": "gpu-training", "labels": dict(MANAGED_BY)},
        "spec": {"nodeSelector": LABEL},
    }
    made = kubelet("performance-gpu-training", {"matchLabels": machine_config.pool_selector("training")})
    contradictions.check(cluster(profiles=[profile], kubelets=[made]), [ISOLATED])


def test_a_paused_pool_names_who_paused_it() -> None:
    worker = pool("worker", paused=True)
    fields: KubeObject = {"f:spec": {"f:paused": {}}}
    worker["metadata"]["managedFields"] = [{"manager": "kubectl-patch", "fieldsV1": fields}]
    problem = refused(cluster(pools=[worker]))
    assert problem.code == "REBOOT-PAUSED"
    assert "MachineConfigPool worker is paused by kubectl-patch" in problem.message
    assert "oc patch machineconfigpool worker" in problem.remedy


def test_our_own_pause_is_no_contradiction() -> None:
    paused = machine_config.pool(ISOLATED, "run")
    paused["metadata"]["labels"] = {**paused["metadata"]["labels"], **MANAGED_BY}
    contradictions.check(cluster(pools=[pool("worker"), paused]), [ISOLATED])
    paused["metadata"]["annotations"] = {}
    assert refused(cluster(pools=[pool("worker"), paused])).code == "REBOOT-PAUSED"


def test_nodes_with_another_number_of_cpus() -> None:
    problem = refused(cluster(), tuning(isolate=Isolation("0-1", "2-15"), vcpus=16))
    assert problem.code == "REBOOT-CPUS"
    assert "node n1 has 8 CPUs" in problem.message
    contradictions.check(cluster(), [tuning(vcpus=16)])


def test_all_contradictions_are_said_at_once() -> None:
    found = cluster(pools=[pool("worker", paused=True), pool("gpu", nodeSelector={"matchLabels": LABEL})])
    problem = refused(found)
    assert [line.partition(":")[0] for line in problem.evidence] == ["REBOOT-FOREIGN-POOL", "REBOOT-PAUSED"]
