# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is ours and no longer asked for is named, with the command that removes it."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.pools.builders import planned

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._networks.objects import CLUSTER_NETWORK
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import leftovers, steps
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.report import report

Data = dict[str, t.Any]
OURS: t.Final = {"app.kubernetes.io/managed-by": "accelerators.openshift"}
POOL: t.Final = {
    "name": "training",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "replicas": 1,
    "quota": [{"namespace": "team-a", "gpus": 1}],
    "priority": [{"name": "training-high", "value": 1000}],
}


def quota(namespace: str, labels: Data | None = None) -> Data:
    labels = OURS if labels is None else labels
    metadata = {"name": "gpu-quota", "namespace": namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata}


def priority(name: str, value: int = 1000, labels: Data | None = None) -> Data:
    metadata = {"name": name, "labels": OURS if labels is None else labels}
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": metadata,
        "value": value,
    }


def compared(
    server: FakeServer, is_asked: bool = True, networks: t.Sequence[Data] = (), **more: t.Any
) -> Data:
    params: Data = {
        "pools": [POOL | more],
        "gpu_pools_name": "gpu_pools",
        "platform": "aws",
        "catalogue": [],
        "queues": [],
        "networks": list(networks),
        **dict.fromkeys(("accelerator_limits", "backend", "prices", "cost_classes")),
        "incomplete": [],
        "replicas": {},
        "leftovers": is_asked,
    }
    return steps.plan(api_on(server), t.cast(steps.GpuPlanParams, params))


def test_a_plan_names_quotas_and_priority_classes_that_it_does_not_have() -> None:
    server = FakeServer("ResourceQuota", "PriorityClass")
    for one in (
        quota("team-a"),
        quota("team-b"),
        quota("theirs", {}),
        priority("training-high"),
        priority("old"),
    ):
        server.put(one)
    found = compared(server)
    assert found["leftovers"] == [
        {
            "object": "ResourceQuota team-b/gpu-quota",
            "command": "oc delete resourcequota gpu-quota -n team-b",
        },
        {"object": "PriorityClass old", "command": "oc delete priorityclass old"},
    ]
    assert len(server.requests) == 7, "the cluster serves no Tuned, and one try for each operator of networks"
    assert server.writes() == []
    assert compared(FakeServer(), is_asked=False)["leftovers"] == []


@pytest.mark.parametrize("labels", [OURS, {}], ids=["ours", "foreign"])
def test_a_priority_class_with_another_value_is_refused_before_the_first_write(labels: Data) -> None:
    server = FakeServer("ResourceQuota", "PriorityClass")
    server.put(priority("training-high", 5, labels))
    with pytest.raises(AcceleratorError, match="exists with value 5") as caught:
        compared(server)
    assert caught.value.code == "POOL-PRIORITY"
    assert len(server.requests) == 2
    assert server.writes() == []


def tuning(kind: str, version: str, pool: str, labels: Data | None = None) -> Data:
    marks = {"accelerators.openshift/pool": pool, **(OURS if labels is None else labels)}
    place = {"namespace": "openshift-cluster-node-tuning-operator"} if kind == "Tuned" else {}
    metadata = {"name": f"gpu-{pool}", **place, "labels": marks}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def test_a_plan_names_the_tuning_that_it_does_not_have() -> None:
    server = FakeServer("ResourceQuota", "PriorityClass", "Tuned", "MachineConfigPool")
    for pool, labels in (("training", OURS), ("theirs", {})):
        server.put(tuning("Tuned", "tuned.openshift.io/v1", pool, labels))
        server.put(tuning("MachineConfigPool", "machineconfiguration.openshift.io/v1", pool, labels))
    command = "ansible-playbook accelerators.openshift.remove_pool -e gpu_pool=training --tags node_tuning"
    assert compared(server)["leftovers"] == [
        {"object": "Tuned gpu-training", "command": command},
        {"object": "MachineConfigPool gpu-training", "command": command},
    ]
    server.requests.clear()
    assert compared(server, tuning={"profile": "accelerator"})["leftovers"] == []
    assert len(server.requests) == 7, "a plan with every tuning asks for no MachineConfigPool"


def network(kind: str, label: str, **metadata: t.Any) -> Data:
    labels = {**OURS, "accelerators.openshift/network": label}
    return {
        "apiVersion": known(kind).api_version,
        "kind": kind,
        "metadata": {"name": label, "labels": labels, **metadata},
    }


def test_a_plan_names_the_networks_that_it_does_not_have() -> None:
    kinds = (
        "MacvlanNetwork",
        "IPoIBNetwork",
        "SriovNetwork",
        "SriovIBNetwork",
        "NetworkAttachmentDefinition",
    )
    server = FakeServer("ResourceQuota", "PriorityClass", "Tuned", "HostDeviceNetwork", *kinds)
    server.served["operator.openshift.io/v1", "networks"] = CLUSTER_NETWORK
    space = {"namespace": "openshift-sriov-network-operator"}
    for obj in (
        network("MacvlanNetwork", "storage"),
        network("SriovNetwork", "rail-0", **space),
        network("SriovNetwork", "theirs", **space, labels={}),
        network("NetworkAttachmentDefinition", "rail-0", namespace="team-b"),
        network("NetworkAttachmentDefinition", "own", namespace="team-a"),
        {
            "apiVersion": "operator.openshift.io/v1",
            "kind": "Network",
            "metadata": {"name": "cluster", "annotations": {"accelerators.openshift/networks": "team-a/raw"}},
        },
    ):
        server.put(obj)
    asked = [{"name": "own", "kind": "custom", "namespaces": ["team-a"], "custom": {"config": {"type": "x"}}}]
    found = compared(server, networks=asked)["leftovers"]
    assert [entry["object"] for entry in found] == ["network rail-0", "network raw", "network storage"]
    assert found[0]["command"] == (
        "ansible localhost -m accelerators.openshift.gpu_network "
        """-a '{"networks": [{"name": "rail-0"}], "state": "absent"}'"""
    )
    assert len(server.requests) == 10
    assert server.writes() == []


def test_pools_that_the_plan_does_not_have() -> None:
    plan = {"pools": [{"name": "training"}, {"name": "web"}]}
    results = [{"other_pools": ["web", "old"]}, {"other_pools": ["training", "old"]}, {}]
    command = "ansible-playbook accelerators.openshift.remove_pool -e gpu_pool=old"
    assert leftovers.of_pools(plan, results) == [{"object": "pool old", "command": command}]


def test_the_table_has_a_line_for_each() -> None:
    told = report(planned(), {"nodes": {"results": []}})
    assert told["leftovers"] == []
    plan = {
        **planned(),
        "leftovers": [{"object": "PriorityClass old", "command": "oc delete priorityclass old"}],
    }
    line = "stays   PriorityClass old, no longer asked for; oc delete priorityclass old"
    assert line in report(plan, {})["table"]
