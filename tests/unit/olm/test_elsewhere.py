"""Packages that no Subscription installs: those of OLM v1, of OpenShift, and of the Helm chart."""

from __future__ import annotations

import typing as t

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import elsewhere, helm_values

Object = dict[str, t.Any]


def operator(**conditions: str) -> Object:
    found = [
        {"type": kind, "status": status, "reason": "R", "message": "said"}
        for kind, status in conditions.items()
    ]
    return {
        "metadata": {"name": "node-tuning"},
        "status": {"conditions": found, "versions": [{"name": "operator", "version": "4.22.5"}]},
    }


def test_a_cluster_operator_is_reported() -> None:
    assert elsewhere.cluster_operator_of("nfd") is None
    name = elsewhere.cluster_operator_of("cluster-node-tuning-operator")
    assert name == "node-tuning"
    live = elsewhere.check("node-tuning", name, operator(Available="True", Degraded="False"))
    assert elsewhere.summarize("node-tuning", name, live) | {
        "version": "4.22.5",
        "subscription": None,
    } == elsewhere.summarize("node-tuning", name, live)
    assert "version 4.22.5" in elsewhere.warning("node-tuning", name, live)


@pytest.mark.parametrize(
    ("live", "words"),
    [
        (None, "ClusterOperator node-tuning does not exist"),
        (operator(Available="False", Degraded="False"), "Available=False (R): said"),
        (operator(Available="True", Degraded="True"), "Degraded=True (R): said"),
        (operator(), "no condition Available yet"),
    ],
)
def test_a_cluster_operator_that_is_not_well(live: Object | None, words: str) -> None:
    with pytest.raises(AcceleratorError) as caught:
        elsewhere.check("node-tuning", "node-tuning", live)
    assert caught.value.code == "OLM-CLUSTER-OPERATOR"
    assert words in caught.value.message


def test_a_package_that_olm_v1_owns() -> None:
    source = {"sourceType": "Catalog", "catalog": {"packageName": "nfd"}}
    status = {
        "install": {"bundle": {"name": "nfd.v1", "version": "1"}},
        "conditions": [{"type": "Installed", "status": "True", "reason": "Succeeded", "message": "m"}],
    }
    found = {
        "metadata": {"name": "my-nfd"},
        "spec": {"namespace": "openshift-nfd", "source": source},
        "status": status,
    }
    elsewhere.check_extensions([found], "gpu-operator-certified")
    with pytest.raises(AcceleratorError, match="ClusterExtension my-nfd") as caught:
        elsewhere.check_extensions([{"metadata": {"name": "x"}, "spec": {}}, found], "nfd")
    assert caught.value.code == "OLM-V1"
    assert caught.value.evidence == ["Installed=True (Succeeded): m"]


def test_the_charts_names_of_what_the_policy_says() -> None:
    toleration = {"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}
    spec: dict[str, t.Any] = {
        "operator": {"use_ocp_driver_toolkit": True, "runtimeClass": "nvidia", "initContainer": {}},
        "driver": {
            "useNvidiaDriverCRD": False,
            "version": "580.1",
            "upgradePolicy": {"autoUpgrade": True, "podDeletion": {"force": True}},
        },
        "mig": {"strategy": "mixed"},
        "cdi": {"enabled": True, "default": False},
        "daemonsets": {"tolerations": [toleration]},
        "dcgm": {"enabled": False},
        "gfd": {},
    }
    found = helm_values.values(spec)
    assert found["operator"] == {"runtimeClass": "nvidia"}
    assert found["driver"] == {
        "version": "580.1",
        "nvidiaDriverCRD": {"enabled": False},
        "upgradePolicy": {"autoUpgrade": True, "gpuPodDeletion": {"force": True}},
    }
    assert (found["mig"], found["cdi"], found["dcgm"], found["nodeStatusExporter"]) == (
        {"strategy": "mixed"},
        {"enabled": True},
        {"enabled": False},
        {"enabled": True},
    )
    assert found["daemonsets"]["tolerations"] == [toleration]
    assert found["node-feature-discovery"]["worker"]["tolerations"][1:] == [toleration]
    assert "gfd" not in found
    assert spec["driver"]["upgradePolicy"] == {"autoUpgrade": True, "podDeletion": {"force": True}}, (
        "the input is left as it is"
    )
    text = helm_values.text(spec)
    assert text.startswith("# helm upgrade --install gpu-operator nvidia/gpu-operator --version v26.7.0")
    assert "&id" not in text
    assert yaml.safe_load(text) == found
