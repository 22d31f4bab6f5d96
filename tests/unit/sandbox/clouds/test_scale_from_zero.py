"""What the annotations of a MachineSet say about a node that does not exist yet."""

from __future__ import annotations

import pytest
from unit.sandbox.clouds.builders import T4, Data, aws, azure, gcp

from openshift_sandbox.stand_ins.autoscaler.cluster_autoscaler import rest, template
from openshift_sandbox.stand_ins.clouds.registry import CLOUDS
from openshift_sandbox.stand_ins.machine_api.machine_sets import CAPACITY, scale_from_zero


@pytest.mark.parametrize(
    ("platform", "value", "wanted"),
    [
        ("Azure", azure("Standard_NC64as_T4_v3"), ("64", str(440 * 1024), "4", "amd64")),
        ("Azure", azure("Standard_NP10s"), ("10", str(168 * 1024), "1", "amd64")),
        ("GCP", gcp("n1-standard-4", **T4), ("4", "15360", "1", "amd64")),
        ("GCP", gcp("a3-highgpu-8g"), ("208", str(1872 * 1024), "8", "amd64")),
        ("GCP", gcp("t2a-standard-4"), ("4", "16384", "0", "arm64")),
        ("GCP", gcp("unheard-of"), None),
    ],
)
def test_what_the_autoscaler_is_told(platform: str, value: Data, wanted: tuple[str, ...] | None) -> None:
    machine_set = {"metadata": {}, "spec": {"template": {"spec": {"providerSpec": {"value": value}}}}}
    told = scale_from_zero(CLOUDS[platform], machine_set)
    keys = [*(f"machine.openshift.io/{name}" for name in ("vCPU", "memoryMb", "GPU")), CAPACITY]
    assert (tuple(told[key].removeprefix("kubernetes.io/arch=") for key in keys) if told else None) == wanted


def test_capacity_labels_of_others_stay() -> None:
    metadata = {"annotations": {CAPACITY: "team=ml,kubernetes.io/arch=arm64"}}
    machine_set = {"metadata": metadata, "spec": {"template": {"spec": {"providerSpec": {"value": aws()}}}}}
    assert scale_from_zero(CLOUDS["AWS"], machine_set)[CAPACITY] == "kubernetes.io/arch=arm64,team=ml"


def test_a_startup_taint_keeps_the_autoscaler_from_nothing() -> None:
    taints = [
        {"key": "startup-taint.cluster-autoscaler.kubernetes.io/gpu-validation", "effect": "NoSchedule"},
        {"key": "team", "effect": "NoSchedule"},
    ]
    machine_set = {"metadata": {}, "spec": {"template": {"spec": {"taints": taints}}}}
    assert [one["key"] for one in template(machine_set).taints] == ["team"]
    node = {"metadata": {"name": "n"}, "spec": {"taints": taints}, "status": {}}
    assert [one["key"] for one in rest(node, []).taints] == ["team"]
