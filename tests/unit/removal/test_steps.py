# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate in front of a removal, on a server in memory: it reads the whole cluster and writes nothing."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer
from unit.removal.builders import (
    INSTANCE,
    OPERATOR,
    POLICY,
    POOL,
    THEIR_POLICY,
    Data,
    machine,
    machine_set,
    made,
    node,
    pod,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind, known
from ansible_collections.accelerators.openshift.plugins.module_utils._removal import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._removal.steps import GpuRemovalParams

ALL: t.Final = ["gpu_operator", "nvidia_network_operator", "node_feature_discovery"]
KINDS: t.Final = (
    *("MachineSet", "Machine", "Node", "Pod", "DaemonSet", "Subscription", "ClusterServiceVersion"),
    *("ClusterPolicy", "NVIDIADriver", "NodeFeatureDiscovery", "NodeFeature", "Module"),
)
RULES: t.Final = Kind("nfd.openshift.io/v1alpha1", "NodeFeatureRule", "nodefeaturerules")
EXISTING: t.Final = {"name": "rack", "node_selector": {"rack": "b2"}}
CLUSTER: t.Final = (
    machine_set("training"),
    machine("training", "n-1"),
    node("n-1", {POOL: "training"}),
    POLICY,
    OPERATOR,
    INSTANCE,
)


def server(*objects: Data) -> FakeServer:
    found = FakeServer(*KINDS)
    found.served[RULES.api_version, RULES.plural] = RULES
    for one in (*CLUSTER, *objects):
        found.put(one)
    return found


def params(*pools: Data, **more: t.Any) -> GpuRemovalParams:
    given = {
        "pools": list(pools) or [{"name": "training"}],
        "parts": ALL,
        "machines": True,
        "namespace": "openshift-machine-api",
        "gpu_namespace": "nvidia-gpu-operator",
        "nic_namespace": "nvidia-network-operator",
        "nfd_namespace": "openshift-nfd",
        "kueue_namespace": "openshift-kueue-operator",
        "queues": [],
        "on_busy": "fail",
        "delete_emptydir": False,
        "evict_unmanaged": False,
        "wait": True,
        "wait_timeout": 60,
    }
    return t.cast(GpuRemovalParams, given | more)


def check(on: FakeServer, *pools: Data, **more: t.Any) -> Data:
    found = steps.check(api_on(on, seconds=20.0), params(*pools, **more))
    assert on.writes() == []
    return found


def test_everything_goes_if_nobody_needs_it() -> None:
    found = check(server())
    assert found["stays"] == found["ends"] == []
    assert found["removes"] == [
        "pool training (1 machine set, 1 machine)",
        "the GPU operator with its stack (ClusterPolicy gpu-cluster-policy)",
        "Node Feature Discovery (NodeFeatureDiscovery nfd-instance)",
    ]


def test_a_busy_cluster_is_refused_with_the_whole_table_and_without_a_write() -> None:
    on = server(pod("job", "n-1"), machine_set("web"))
    with pytest.raises(AcceleratorError) as caught:
        steps.check(api_on(on), params())
    assert on.writes() == []
    assert caught.value.code == "NODE-BUSY"
    (end,) = caught.value.facts["ends"]
    assert (end["node"], end["by"]) == ("n-1", "drain by this run")
    assert caught.value.evidence == caught.value.facts["table"]
    assert [line.split()[0] for line in caught.value.evidence] == ["remove", "keep", "keep", "end"]


def test_the_pool_of_a_second_file_keeps_the_stack_and_its_pods_run_on() -> None:
    web = (machine_set("web"), machine("web", "n-2"), node("n-2", {POOL: "web"}), pod("serve", "n-2"))
    found = check(server(*web))
    assert [(one["part"], one["keeps"]) for one in found["stays"]] == [
        ("gpu_operator", "all"),
        ("node_feature_discovery", "all"),
    ]
    assert found["removes"] == ["pool training (1 machine set, 1 machine)"]
    assert found["ends"] == []


def test_pods_on_existing_nodes_end_with_the_driver() -> None:
    on = server(node("n-3", {"rack": "b2"}), pod("serve", "n-3"))
    with pytest.raises(
        AcceleratorError, match="would end 1 pod with GPUs of 1 namespace: team-a/serve on n-3"
    ):
        steps.check(api_on(on), params(EXISTING, {"name": "training"}))
    assert on.writes() == []
    # Without the stack, existing nodes lose nothing.
    assert check(server(node("n-3", {"rack": "b2"}), pod("serve", "n-3")), EXISTING, parts=[])["ends"] == []


def test_the_gate_waits_for_pods_on_existing_nodes_only() -> None:
    assert check(server(pod("job", "n-1")), on_busy="wait")["ends"]
    on = server(node("n-3", {"rack": "b2"}), pod("serve", "n-3"))
    with pytest.raises(AcceleratorError) as caught:
        waited(on, EXISTING, {"name": "training"})
    assert caught.value.code == "NODE-BUSY"


def waited(on: FakeServer, *pools: Data, **more: t.Any) -> None:
    """Check with on_busy wait, on a clock that runs to the deadline with the first watch."""
    clock = FakeClock()

    def answer(method: str, url: str, **request: t.Any) -> Answer:
        if "watch=" in url:
            clock.seconds += 100.0
        return on.answer(method, url, **request)

    on.request = answer
    try:
        steps.check(api_on(on, clock, 20.0), params(*pools, on_busy="wait", **more))
    finally:
        assert on.writes() == []


def test_a_removal_that_leaves_the_machines_takes_the_driver_from_their_nodes() -> None:
    on = server(pod("job", "n-1"))
    with pytest.raises(AcceleratorError, match=r"^The removal of the GPU operator with its stack would end"):
        steps.check(api_on(on), params(machines=False))
    found = check(server(pod("job", "n-1")), machines=False, on_busy="drain")
    assert found["removes"] == [
        "the GPU operator with its stack (ClusterPolicy gpu-cluster-policy)",
        "Node Feature Discovery (NodeFeatureDiscovery nfd-instance)",
    ]
    (end,) = found["ends"]
    assert (end["why"], end["by"]) == ("the node loses its driver", "removal of the driver stack")


def test_a_removal_that_leaves_the_machines_drains_no_other_pods() -> None:
    lone = pod("lone", "n-1", gpus=0, ownerReferences=[])
    with pytest.raises(AcceleratorError) as caught:
        steps.check(api_on(server(lone)), params())
    assert caught.value.code == "NODE-UNMANAGED"
    assert check(server(lone), machines=False)["ends"] == []


def test_the_gate_waits_for_pods_on_the_machines_that_a_removal_leaves() -> None:
    with pytest.raises(AcceleratorError) as caught:
        waited(server(pod("job", "n-1")), machines=False)
    assert caught.value.code == "NODE-BUSY"


def test_a_foreign_policy_keeps_the_operator_and_nfd() -> None:
    found = check(server(THEIR_POLICY))
    assert [(one["part"], one["keeps"]) for one in found["stays"]] == [
        ("gpu_operator", "operator"),
        ("node_feature_discovery", "all"),
    ]
    assert found["removes"][1].startswith(
        "our objects of the GPU operator with its stack (ClusterPolicy gpu-"
    )


def feature(name: str, of: str, namespace: str = "openshift-nfd", labels: Data | None = None) -> Data:
    marks = {"nfd.node.kubernetes.io/node-name": of}
    found = made(
        "NodeFeature", "nfd.k8s-sigs.io/v1alpha1", name, namespace, labels={**marks, **(labels or {})}
    )
    return {**found, "spec": {"labels": {"a": "b"}}}


def test_features_of_workers_and_of_the_operands_do_not_keep_nfd() -> None:
    on = server(feature("n-1", "n-1"), feature("nvidia-features-for-n-1", "n-1", "nvidia-gpu-operator"))
    assert check(on)["stays"] == []
    (stay,) = check(server(feature("cards", "n-1")))["stays"]
    assert stay["needed_by"] == ["NodeFeature openshift-nfd/cards (made by another client)"]


def test_rules_of_the_stack_and_copies_of_our_rules_do_not_keep_nfd() -> None:
    policy = {"ownerReferences": [{"kind": "ClusterPolicy", "name": "gpu-cluster-policy", "uid": "p"}]}
    rule = made("NodeFeatureRule", RULES.api_version, "kata", "openshift-nfd", labels={}, **policy)
    assert check(server(rule))["stays"] == []


def test_other_custom_resources_of_the_operator_keep_it() -> None:
    config = Kind(
        "configuration.net.nvidia.com/v1alpha1", "NicConfigurationTemplate", "nicconfigurationtemplates"
    )
    names = {"name": f"{config.plural}.{config.group}", "version": "v1alpha1", "kind": config.kind}
    csv = made("ClusterServiceVersion", "operators.coreos.com/v1alpha1", "nno.v1", "nvidia-network-operator")
    csv["spec"] = {"customresourcedefinitions": {"owned": [names]}}
    subscription = made("Subscription", "operators.coreos.com/v1alpha1", "nno", "nvidia-network-operator")
    on = server(csv, subscription)
    on.served[config.api_version, config.plural] = config
    on.put(made(config.kind, config.api_version, "nics", "team-net", labels={}))
    (stay,) = check(on)["stays"]
    assert (stay["part"], stay["keeps"]) == ("nvidia_network_operator", "operator")
    assert stay["needed_by"] == ["NicConfigurationTemplate team-net/nics (made by another client)"]


@pytest.mark.parametrize("namespace", ["nvidia-network-operator", "team-net"])
def test_a_foreign_request_for_the_network_operator_keeps_nfd(namespace: str) -> None:
    name = "nvidia-network-operator"
    request = made("Subscription", "operators.coreos.com/v1alpha1", name, namespace, labels={})
    on = server({**request, "spec": {"name": name}})
    (stay,) = check(on, parts=["gpu_operator", "node_feature_discovery"])["stays"]
    assert (stay["part"], stay["keeps"]) == ("node_feature_discovery", "all")
    assert stay["needed_by"] == [f"Subscription {namespace}/{name} (made by another client)"]


def test_a_pool_alone_asks_only_for_machines_nodes_and_pods() -> None:
    on = server(pod("job", "n-1"))
    found = check(on, parts=[], on_busy="drain")
    assert [one["pod"] for one in found["ends"]] == ["job"]
    assert [path.rpartition("/")[2] for _method, path, _query in on.requests] == [
        "machinesets",
        "machines",
        "nodes",
        "pods",
    ]


def test_a_cluster_without_any_of_it() -> None:
    bare = FakeServer("Node", "Pod", "DaemonSet")
    assert check(bare)["table"] == []


def gate(name: str, *pools: str, **more: t.Any) -> dict[str, t.Any]:
    found = FakeServer(*KINDS)
    for pool in pools:
        found.put(machine_set(pool))
    return steps.check(api_on(found, FakeClock()), params({"name": name, **more}, parts=[]))


@pytest.mark.parametrize(("name", "there"), [("dmo", "demo"), ("demoo", "demo"), ("trianing", "training")])
def test_a_misspelt_pool_is_refused_with_the_one_that_is_there(name: str, there: str) -> None:
    with pytest.raises(AcceleratorError) as caught:
        gate(name, there)
    assert caught.value.code == "POOL-VALUE"
    assert f"only of {there}. Did you mean {there}?" in caught.value.message
    assert f"Set gpu_pool to {there}." in caught.value.remedy


@pytest.mark.parametrize(
    ("name", "there"),
    [("demo", []), ("demo", ["demo2"]), ("team-a", ["team-b"]), ("training", ["inference"])],
)
def test_a_second_removal_finds_nothing_and_ends_well(name: str, there: list[str]) -> None:
    assert gate(name, *there)["removes"] == []


def test_a_pool_of_the_file_is_meant_as_it_is_written() -> None:
    assert gate("dmo", "demo", node_selector={POOL: "dmo"})["removes"] == []


def hyperconverged(resource: str = "nvidia.com/TU104GL_TESLA_T4") -> Data:
    mark: Data = {"f:pciHostDevices": {'k:{"pciDeviceSelector":"10DE:1EB8"}': {}}}
    fields = {"f:spec": {"f:virtualization": {"f:permittedHostDevices": mark}}}
    record = {"manager": "accelerators.openshift", "operation": "Apply", "fieldsV1": fields}
    entry = {
        "pciDeviceSelector": "10DE:1EB8",
        "resourceName": resource,
        "externalResourceProvider": True,
    }
    metadata = {"name": "kubevirt", "namespace": "openshift-cnv", "managedFields": [record]}
    spec = {"virtualization": {"permittedHostDevices": {"pciHostDevices": [entry]}}}
    found = {"apiVersion": "hco.kubevirt.io/v1", "kind": "HyperConverged", "metadata": metadata}
    return {**found, "spec": spec}


PERMIT: t.Final = "10DE:1EB8 as nvidia.com/TU104GL_TESLA_T4 in HyperConverged kubevirt"
STAYING: t.Final = "what HyperConverged permits to virtual machines"


@pytest.mark.parametrize("parts", [["virtual_machines"], ALL])
@pytest.mark.parametrize("is_offered", [False, True])
def test_what_virtual_machines_may_have_goes_with_its_last_pool(parts: list[str], is_offered: bool) -> None:
    on = server()
    on.served["hco.kubevirt.io/v1", "hyperconvergeds"] = known("HyperConverged")
    on.put(hyperconverged())
    if is_offered:
        other = node("n-2", {"nvidia.com/gpu.workload.config": "vm-passthrough"}, gpus=0)
        on.put({**other, "status": {"allocatable": {"nvidia.com/TU104GL_TESLA_T4": "1"}}})
    found = check(on, {"name": "training", "workload": "vm_passthrough"}, parts=parts)
    assert (PERMIT in found["removes"]) is not is_offered
    kept = [one for one in found["stays"] if one["part"] == "virtual_machines"]
    assert [one["needed_by"] for one in kept] == (
        [["node n-2 (nvidia.com/TU104GL_TESLA_T4)"]] if is_offered else []
    )
    assert any(line.startswith(f"keep    {STAYING}") for line in found["table"]) is is_offered


def test_a_pool_of_containers_is_not_asked_about_virtual_machines() -> None:
    on = server()
    on.served["hco.kubevirt.io/v1", "hyperconvergeds"] = known("HyperConverged")
    on.put(hyperconverged())
    check(on)
    assert not [one for one in on.requests if "hyperconverged" in str(one)]
