"""The NodeFeatureDiscovery: its manifest, foreign instances, and warnings."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from unit.nfd.builders import GPU, PCI, expect, instance, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import (
    expectation as nfd_expectation,
    instance as nfd_instance,
    report,
)


def test_the_image_is_never_pinned() -> None:
    manifest = nfd_instance.build(
        params(worker_tolerations=[{"key": "a", "operator": "Exists", "value": None}]), None
    )
    assert "image" not in manifest["spec"]["operand"]
    assert manifest["spec"]["operand"]["workerTolerations"] == [{"key": "a", "operator": "Exists"}]


def test_a_second_run_builds_the_same() -> None:
    first = nfd_instance.build(params(), None)
    assert nfd_instance.build(params(), first) == first


def test_a_foreign_instance_is_completed_only() -> None:
    live = instance(
        "theirs",
        "sources: {pci: {deviceClassWhitelist: ['02', '03', '12'], deviceLabelFields: [class, vendor]}}",
    )
    assert nfd_instance.difference(params(), live) == {}
    assert nfd_instance.choose([live], "nfd-instance", "openshift-nfd") is live
    first, second = nfd_instance.warnings(params(), [live], live)
    assert "used instead of nfd-instance" in first
    assert "['class', 'vendor']" in second
    assert "workerConfig" in nfd_instance.difference(params(pci_classes=["0b"]), live)["spec"]


TAINTED = [
    {"name": "r", "rules": [{"name": "x", "taints": [{"key": "example.com/a", "effect": "NoSchedule"}]}]}
]
COMPLETE = "sources: {pci: {deviceClassWhitelist: ['02', '03', '0b40', '12'], deviceLabelFields: [class]}}"


def of_argo(live: dict[str, t.Any]) -> dict[str, t.Any]:
    live["metadata"]["annotations"] = {
        "argocd.argoproj.io/tracking-id": (
            "gitops:nfd.openshift.io/NodeFeatureDiscovery:openshift-nfd/nfd-instance"
        )
    }
    return live


def test_what_another_tool_keeps_is_not_fought() -> None:
    assert nfd_instance.difference(params(), of_argo(instance("a", COMPLETE))) == {}
    with pytest.raises(AcceleratorError) as caught:
        nfd_instance.difference(params(), of_argo(instance("a")))
    assert caught.value.code == "NFD-MANAGED"
    assert "Argo CD (gitops)" in caught.value.message
    assert "  - '02'" in "\n".join(caught.value.evidence)


def test_taints_are_not_switched_on_behind_somebody_s_back() -> None:
    with pytest.raises(AcceleratorError) as caught:
        nfd_instance.difference(params(rules=TAINTED), instance("a", COMPLETE))
    assert caught.value.code == "NFD-TAINTS"
    assert "node_feature_discovery_adopt: take (module option adopt)" in caught.value.remedy
    live = instance("a", COMPLETE)
    live["spec"]["enableTaints"] = True
    assert nfd_instance.difference(params(rules=TAINTED), live) == {}


def test_our_instance_gets_taints_with_the_first_rule_that_sets_some_and_keeps_them() -> None:
    first = nfd_instance.build(params(rules=TAINTED), None)
    assert first["spec"]["enableTaints"] is True
    assert nfd_instance.build(params(), first)["spec"]["enableTaints"] is True
    assert "enableTaints" not in nfd_instance.build(params(), None)["spec"]


def test_adoption_takes_the_fields_that_were_asked_for() -> None:
    live = instance("theirs", COMPLETE)
    live["spec"]["operand"] = {
        "image": "example.com/nfd:v1",
        "workerTolerations": [{"key": "b", "operator": "Exists"}],
    }
    taken = nfd_instance.adopted(
        params(rules=TAINTED, worker_tolerations=[{"key": "a", "operator": "Exists", "value": None}]), live
    )
    assert taken["metadata"] == {"name": "theirs", "namespace": "openshift-nfd"}
    config = yaml.safe_load(taken["spec"]["workerConfig"]["configData"])
    assert config["sources"]["pci"] == {
        "deviceClassWhitelist": ["02", "03", "0b40", "12"],
        "deviceLabelFields": ["vendor"],
    }
    assert taken["spec"]["operand"] == {
        "workerTolerations": [{"key": "b", "operator": "Exists"}, {"key": "a", "operator": "Exists"}]
    }
    assert taken["spec"]["enableTaints"] is True


def test_two_instances_and_a_pinned_image_are_explained() -> None:
    live, here, away = instance("a", COMPLETE), instance("b"), instance("c")
    away["metadata"]["namespace"] = "other"
    live["spec"]["operand"] = {"image": "example.com/nfd:v1"}
    _used, fields, pinned, two, elsewhere = nfd_instance.warnings(params(), [live, here, away], live)
    assert "adopt: take" in fields
    assert "pins operand.image to example.com/nfd:v1" in pinned
    assert "openshift-nfd has 2 NodeFeatureDiscoveries, a and b" in two
    assert "other/c exists as well" in elsewhere
    assert nfd_instance.choose([away], "c", "openshift-nfd") is None


def test_an_instance_without_a_node_for_its_workers_says_by_what() -> None:
    live = instance(Available="False", Degraded="True")
    live["spec"]["operand"] = {"workerNodeSelector": {"gpu": "yes"}}
    live["status"]["conditions"][1]["message"] = "number of desired nodes for scheduling is 0"
    found = nfd_instance.judge(live, "nfd-instance")
    assert (found.code, "operand.workerNodeSelector {'gpu': 'yes'}" in found.message) == (
        "NFD-DEGRADED",
        True,
    )


def deployment(name: str, available: str) -> dict[str, t.Any]:
    metadata = {
        "name": name,
        "namespace": "node-feature-discovery",
        "annotations": {"meta.helm.sh/release-name": "nfd"},
    }
    return {"metadata": metadata, "status": {"conditions": [{"type": "Available", "status": available}]}}


@pytest.mark.parametrize(("available", "verdict"), [("True", "ready"), ("False", "pending")])
def test_an_nfd_of_a_chart(available: str, verdict: str) -> None:
    charts = [deployment("nfd-gc", "True"), deployment("nfd-master", available)]
    snapshot = {"upstream": charts, "nodes": [GPU]}
    judge = nfd_expectation.Judge(params(expect=[expect() | {"labels": {PCI: True}}]), lambda: 0.0)
    assert judge(snapshot).verdict == verdict
    facts = report.summarize(snapshot, params(), [])
    assert (facts["name"], facts["namespace"], facts["manager"]) == (
        "",
        "node-feature-discovery",
        "Helm (nfd)",
    )
    assert "Namespace node-feature-discovery already has NFD (Helm (nfd))" in report.upstream_found(
        charts, False
    )
