# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stays, and for whom: a second file of pools, objects of others, and readers of NFD's labels."""

from __future__ import annotations

import json
import typing as t

import pytest
from unit.removal.builders import (
    INSTANCE,
    OPERATOR,
    POLICY,
    THEIR_POLICY,
    Data,
    machine_set,
    made,
    node,
    theirs,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._removal import cluster as seen, needs
from ansible_collections.accelerators.openshift.plugins.module_utils._removal.cluster import (
    GPU,
    NETWORK,
    NFD,
    Cluster,
)

TRAINING: t.Final = seen.going_pools([{"name": "training"}])
CSV: t.Final = made("ClusterServiceVersion", "operators.coreos.com/v1alpha1", "amd.v1", "amd")


def stays(cluster: Cluster, *parts: str) -> dict[str, tuple[str, list[str]]]:
    request = needs.Request(TRAINING, parts or (GPU, NFD), {"n-1"})
    return {one.part: (one.keeps, one.needed_by) for one in needs.stays(cluster, request)}


def installed(**more: t.Any) -> Cluster:
    """Return a cluster with the pool's machine set, our ClusterPolicy and our NFD."""
    customs = {GPU: [POLICY, *more.pop("gpu", [])], NFD: [INSTANCE, *more.pop("nfd", [])]}
    sets = [machine_set("training"), *more.pop("sets", [])]
    return Cluster(sets=sets, customs=customs | more.pop("customs", {}), **more)


def test_nothing_stays_if_nobody_needs_it() -> None:
    assert stays(installed(nodes=[node("n-1")])) == {}


def test_what_is_not_there_does_not_stay() -> None:
    assert stays(Cluster(sets=[machine_set("web")])) == {}


def test_the_stack_stays_for_the_pool_of_a_second_file() -> None:
    found = stays(installed(sets=[machine_set("web")]))
    web = "pool web (MachineSet demo-web-a)"
    assert found == {GPU: ("all", [web]), NFD: ("all", [web, "ClusterPolicy gpu-cluster-policy"])}


def test_the_stack_stays_for_nodes_in_no_pool() -> None:
    found = stays(installed(nodes=[node(f"x-{number}") for number in range(7)]))
    assert found[GPU] == ("all", ["7 nodes in no pool of this removal (x-0, x-1, x-2, x-3, x-4, …)"])


def test_a_foreign_policy_keeps_the_operator_and_nfd_but_not_our_objects() -> None:
    found = stays(installed(gpu=[THEIR_POLICY]))
    named = "ClusterPolicy theirs (made by Argo CD (gitops))"
    assert found == {GPU: ("operator", [named]), NFD: ("all", [named])}


def test_a_foreign_gpu_cluster_keeps_our_drivers() -> None:
    cluster = theirs("GPUCluster", "nvidia.com/v1alpha1", "gpu-cluster")
    driver = made("NVIDIADriver", "nvidia.com/v1alpha1", "training")
    assert stays(installed(gpu=[cluster, driver]))[GPU][0] == "all"
    assert stays(installed(gpu=[cluster]))[GPU][0] == "operator"


def test_a_stack_that_this_run_does_not_remove_keeps_nfd() -> None:
    nics = made("NicClusterPolicy", "mellanox.com/v1alpha1", "nic-cluster-policy")
    found = stays(installed(customs={NETWORK: [nics]}))
    assert found == {NFD: ("all", ["NicClusterPolicy nic-cluster-policy"])}
    assert stays(installed(customs={NETWORK: [nics]}), GPU, NETWORK, NFD) == {}
    assert stays(installed(), NFD) == {NFD: ("all", ["ClusterPolicy gpu-cluster-policy"])}


def test_an_operator_of_another_team_keeps_nfd_before_it_has_a_policy() -> None:
    network = theirs(
        "Subscription", "operators.coreos.com/v1alpha1", "nvidia-network-operator", "nvidia-network-operator"
    )
    found = stays(installed(subscriptions={GPU: [OPERATOR], NETWORK: [network]}))
    place = "nvidia-network-operator/nvidia-network-operator"
    assert found == {NFD: ("all", [f"Subscription {place} (made by Argo CD (gitops))"])}
    assert stays(installed(subscriptions={GPU: [OPERATOR]})) == {}


def test_another_object_of_the_network_operator_keeps_it() -> None:
    nics = made("NicClusterPolicy", "mellanox.com/v1alpha1", "nic-cluster-policy")
    config = theirs(
        "NicConfigurationTemplate", "configuration.net.nvidia.com/v1alpha1", "nics", "nvidia-network"
    )
    found = stays(installed(customs={NETWORK: [nics, config]}), NETWORK)
    named = "NicConfigurationTemplate nvidia-network/nics (made by Argo CD (gitops))"
    assert found == {NETWORK: ("operator", [named])}


def module(selector: Data) -> Data:
    return {**made("Module", "kmm.sigs.x-k8s.io/v1beta1", "cards", "kmm"), "spec": {"selector": selector}}


@pytest.mark.parametrize(
    ("selector", "is_needed"),
    [
        ({"feature.node.kubernetes.io/pci-10ee.present": "true"}, True),
        ({"vendor.example/card": "true"}, True),
        ({}, True),
        ({"node-role.kubernetes.io/worker": ""}, False),
    ],
)
def test_a_module_keeps_nfd_if_it_may_select_by_features(selector: Data, is_needed: bool) -> None:
    found = stays(installed(modules=[module(selector)]))
    assert found == ({NFD: ("all", ["Module kmm/cards"])} if is_needed else {})


def test_rules_of_others_keep_nfd_and_ours_do_not() -> None:
    rule = theirs("NodeFeatureRule", "nfd.openshift.io/v1alpha1", "cpu", "openshift-nfd")
    found = stays(installed(nfd=[rule, made("NodeFeatureRule", "nfd.openshift.io/v1alpha1", "ours")]))
    assert found == {NFD: ("all", ["NodeFeatureRule openshift-nfd/cpu (made by Argo CD (gitops))"])}


@pytest.mark.parametrize(
    ("csv", "is_needed"),
    [
        (
            {
                "spec": {
                    "customresourcedefinitions": {"required": [{"name": "nodefeaturerules.nfd.openshift.io"}]}
                }
            },
            True,
        ),
        ({"properties": [{"type": "olm.package.required", "value": {"packageName": "nfd"}}]}, True),
        ({"properties": [{"type": "olm.gvk.required", "value": {"group": "nfd.openshift.io"}}]}, True),
        ({"properties": [{"type": "olm.package.required", "value": {"packageName": "kmm"}}]}, False),
        ({"properties": [{"type": "olm.maxOpenShiftVersion", "value": "4.22"}]}, False),
        ({}, False),
    ],
)
def test_operators_that_require_nfd_keep_it(csv: Data, is_needed: bool) -> None:
    properties = {"olm.properties": json.dumps(csv["properties"])} if "properties" in csv else {}
    live = {**CSV, "spec": csv.get("spec", {}), "metadata": {**CSV["metadata"], "annotations": properties}}
    assert needs.requires_nfd(live) is is_needed
    found = stays(installed(csvs=[live]))
    assert found == ({NFD: ("all", ["operator amd/amd.v1"])} if is_needed else {})


def test_properties_that_cannot_be_read_say_nothing() -> None:
    annotations = {"operatorframework.io/properties": "{", "olm.properties": json.dumps({"properties": []})}
    assert not needs.requires_nfd({"metadata": {"annotations": annotations}})


@pytest.mark.parametrize(
    ("spec", "is_reader"),
    [
        ({"nodeSelector": {"feature.node.kubernetes.io/pci-1da3.present": "true"}}, True),
        ({"affinity": {"nodeAffinity": {"x": [{"key": "feature.node.kubernetes.io/cpu-cpuid.AMX"}]}}}, True),
        ({"nodeSelector": {"kubernetes.io/os": "linux"}}, False),
        ({}, False),
    ],
)
def test_daemonsets_that_read_the_labels(spec: Data, is_reader: bool) -> None:
    daemonset = made("DaemonSet", "apps/v1", "plugin", "habana") | {"spec": {"template": {"spec": spec}}}
    assert needs.selects_features(daemonset) is is_reader
    assert stays(installed(daemonsets=[daemonset])) == {NFD: ("all", ["DaemonSet habana/plugin"])}


def test_a_person_reads_what_stays_and_for_whom() -> None:
    (one, nfd) = needs.stays(
        installed(gpu=[THEIR_POLICY], subscriptions={GPU: [OPERATOR]}),
        needs.Request(TRAINING, (GPU, NFD), ()),
    )
    policy = "ClusterPolicy theirs (made by Argo CD (gitops))"
    assert one.as_result()["message"] == f"The GPU operator stays. It is needed by {policy}."
    assert nfd.as_result()["message"] == f"Node Feature Discovery stays. It is needed by {policy}."
