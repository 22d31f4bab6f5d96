# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Layer nfd: why nodes lack labels."""

from __future__ import annotations

import typing as t

import pytest
from unit.diagnosis.seen_builders import (
    LONG_AGO,
    NFD,
    NOW,
    Object,
    condition,
    crashing,
    obj,
    pod,
    seen,
    without,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import machines, model, nfd
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import Seen, Trouble

FEATURES = "NodeFeatures of gpu-0"
PCI = "feature.node.kubernetes.io/pci-10de.present"
KERNEL = "5.14.0-570.12.1.el9_6.x86_64"


def judged(found: Seen) -> list[Trouble]:
    return list(nfd.judge(found))


def the(found: Seen) -> Trouble:
    (trouble,) = judged(found)
    return trouble


def node(name: str = "gpu-0", made: str = LONG_AGO, **labels: str) -> Object:
    found = obj(name, spec={}, status={"nodeInfo": {"kernelVersion": KERNEL}})
    found["metadata"] |= {"labels": labels, "creationTimestamp": made}
    return found


def feature(name: str = "gpu-0", **spec: t.Any) -> Object:
    found = obj(name, NFD, spec=spec)
    found["metadata"]["labels"] = {"nfd.node.kubernetes.io/node-name": name}
    return found


def worker(ready: bool = True, **status: t.Any) -> Object:
    return pod("nfd-worker-x", NFD, ready, **status)


def master(since: str = LONG_AGO) -> Object:
    return pod("nfd-master-1-x", NFD, True, since)


class TestInOrder:
    def test_a_cluster_that_works(self) -> None:
        assert judged(seen()) == []
        assert nfd.more(seen()) == {}

    def test_without_a_stack_no_label_is_missed(self) -> None:
        assert judged(seen(policies=[], nodes=[node()], nfd=[])) == []

    def test_the_nfd_of_a_chart_is_enough(self) -> None:
        found = seen(nfd=[], upstream=[obj("gpu-operator-node-feature-discovery-master", "gpu")])
        assert [*nfd.more(found)] == ["upstream"]
        assert judged(found) == []

    def test_what_may_not_be_read_is_not_missed(self) -> None:
        found = without(seen(), "nfd")
        found.unread["nfd"] = "API-FORBIDDEN: no"
        assert judged(found) == []

    def test_an_instance_that_starts_is_in_progress(self) -> None:
        young = obj("nfd-instance", NFD, spec={}, status={"conditions": []})
        young["metadata"]["creationTimestamp"] = NOW
        assert the(seen(nfd=[young])).is_busy


class TestInstance:
    def test_none(self) -> None:
        trouble = the(seen(nfd=[], upstream=[]))
        assert trouble.code == "NFD-ABSENT"
        assert trouble.explains == (model.NFD,)

    def test_degraded_with_the_pod_that_crashes(self) -> None:
        bad = condition("Degraded", "FailedGettingNFDMasterDeployment", "deployment nfd-master is not ready")
        broken = obj("nfd-instance", NFD, spec={}, status={"conditions": [bad]})
        pods = [pod("nfd-master-1-x", NFD, False, containerStatuses=crashing("Error", 255))]
        trouble = the(seen(nfd=[broken], nfd_pods=pods))
        assert trouble.code == "NFD-DEGRADED"
        assert trouble.since == LONG_AGO
        line = f"Pod {NFD}/nfd-master-1-x, container main: CrashLoopBackOff, 7 restarts: exit code 255"
        assert any(one.startswith(line) for one in trouble.evidence)


class TestNodes:
    def test_no_worker(self) -> None:
        trouble = the(seen(nodes=[node()], nfd_pods=[master()]))
        assert "no nfd-worker pod is on it" in trouble.message
        assert trouble.remedy == f"Run `oc describe daemonset nfd-worker -n {NFD}`."

    def test_a_worker_that_crashes_explains_labels_of_an_old_kernel(self) -> None:
        old = node(**{PCI: "true", "feature.node.kubernetes.io/kernel-version.full": "5.14.0-1"})
        pods = [worker(False, containerStatuses=crashing("Error", 1))]
        trouble = the(seen(nodes=[old], nfd_pods=pods))
        assert "labelled with kernel 5.14.0-1" in trouble.message
        assert trouble.remedy == f"Run `oc logs nfd-worker-x -n {NFD} --previous`."

    def test_labels_of_an_old_kernel_are_for_the_stack_if_the_worker_runs(self) -> None:
        old = node(**{PCI: "true", "feature.node.kubernetes.io/kernel-version.full": "5.14.0-1"})
        assert judged(seen(nodes=[old], nfd_pods=[worker()], **{FEATURES: [feature()]})) == []

    def test_the_class_of_the_device_is_not_let_through(self) -> None:
        found = {"pci.device": {"elements": [{"attributes": {"vendor": "10de", "class": "0302"}}]}}
        features = [feature(features={"instances": found})]
        trouble = the(seen(nodes=[node()], nfd_pods=[worker(), master()], **{FEATURES: features}))
        assert "PCI class 0302" in trouble.message
        assert "Add class 03 to node_feature_discovery_pci_classes" in trouble.remedy
        status = {"conditions": [condition("Available")]}
        config = {"configData": "sources: {pci: {deviceClassWhitelist: ['03', '0b40']}}"}
        instance = obj("nfd-instance", NFD, spec={"workerConfig": config}, status=status)
        let_through = seen(
            nfd=[instance], nodes=[node()], nfd_pods=[worker(), master()], **{FEATURES: features}
        )
        trouble = the(let_through)
        assert "its PCI class 0302 is let through" in trouble.message
        assert trouble.remedy == f"Run `oc logs nfd-worker-x -n {NFD} --tail=50`."

    @pytest.mark.parametrize(("since", "is_busy"), [(LONG_AGO, False), (NOW, True)])
    def test_a_master_that_just_started_will_set_the_label(self, since: str, is_busy: bool) -> None:
        features = [feature(labels={PCI: "true"})]
        trouble = the(seen(nodes=[node()], nfd_pods=[worker(), master(since)], **{FEATURES: features}))
        assert "nfd-master has not set it" in trouble.message
        assert trouble.remedy == f"Run `oc logs deployment/nfd-master -n {NFD} --tail=50`."
        assert trouble.is_busy == is_busy

    def test_a_new_node_gets_its_label(self) -> None:
        assert the(seen(nodes=[node(made=NOW)], nfd_pods=[])).is_busy

    def test_a_node_without_any_label_that_a_machine_led_to(self) -> None:
        found = seen(**{machines.STRAYS: [node("hidden-0")]})
        assert [*nfd.more(found)] == ["NodeFeatures of hidden-0", "nfd_pods"]
        found.objects["nfd_pods"] = [worker()]
        trouble = the(found)
        assert (trouble.code, trouble.node) == ("NFD-LABEL-MISSING", "hidden-0")


def test_it_is_the_cause_of_what_the_stack_says() -> None:
    cause = the(seen(nodes=[node()], nfd_pods=[]))
    stack = model.trouble(model.NFD, "GPU-NFD-EMPTY", "Node gpu-0", {"node": "gpu-0"}, node="gpu-0")
    driver = model.trouble(model.DRIVER, "GPU-DRV-LOAD", "Node gpu-0", node="gpu-0")
    other = model.trouble(model.DRIVER, "GPU-DRV-LOAD", "Node gpu-1", node="gpu-1")
    found = model.with_causes([cause, stack, driver, other])
    assert [(one.code, one.node, one.cause) for one in found] == [
        ("NFD-LABEL-MISSING", "gpu-0", ""),
        ("GPU-DRV-LOAD", "gpu-1", ""),
        ("GPU-NFD-EMPTY", "gpu-0", "nfd"),
        ("GPU-DRV-LOAD", "gpu-0", "nfd"),
    ]


def test_many_nodes_have_one_cause() -> None:
    found = judged(seen(nodes=[node(f"gpu-{number}") for number in range(5000)], nfd_pods=[]))
    assert len(found) == len(model.with_causes(found)) == 5000
    assert len(model.groups(found)) == 1
