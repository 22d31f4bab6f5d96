# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-ins for monitoring: what the exporters report, and what Prometheus scrapes."""

from __future__ import annotations

import re
import typing as t

import pytest

from openshift_sandbox.stand_ins.gpu_operator.workloads import DEVICES
from openshift_sandbox.stand_ins.monitoring import configuration, exporter, state_metrics
from openshift_sandbox.stand_ins.monitoring.configuration import Monitored
from openshift_sandbox.stand_ins.monitoring.exposition import Sample, page

Object = dict[str, t.Any]
SPACE: t.Final = "nvidia-gpu-operator"
LABELS: t.Final = {"app": "nvidia-dcgm-exporter"}
EXPORTERS: t.Final = "127.0.0.1:20001"


def gpu_node(instance_type: str) -> Object:
    return {"metadata": {"name": "n", "labels": {"node.kubernetes.io/instance-type": instance_type}}}


def pod(name: str, node: str, devices: str = "", **annotations: str) -> Object:
    return {
        "metadata": {
            "name": name,
            "namespace": "lab",
            "annotations": {DEVICES: devices, **annotations},
        },
        "spec": {"nodeName": node, "containers": [{"name": "main"}]},
        "status": {"phase": "Running"},
    }


def values(text: str, metric: str) -> dict[str, float]:
    """Return the value of a metric by the number of its GPU."""
    found = re.findall(rf'^{metric}\{{gpu="(\d+)".*\}} (\S+)$', text, re.MULTILINE)
    return {gpu: float(value) for gpu, value in found}


class TestExporter:
    def test_a_gpu_is_used_as_its_pod_says(self) -> None:
        node = gpu_node("p4d.24xlarge")
        name = node["metadata"]["name"]
        pods = [
            pod("train", name, "0,1"),
            pod("notes", name, "2", **{exporter.USE: "0"}),
            pod("x", "other", "3"),
        ]
        text = exporter.metrics(node, pods, exporter.DEFAULT)
        active = values(text, "DCGM_FI_PROF_GR_ENGINE_ACTIVE")
        assert active == {"0": 0.9, "1": 0.9, **dict.fromkeys("234567", 0.0)}
        held = [line for line in text.splitlines() if 'pod="notes"' in line]
        assert held
        assert all('namespace="lab"' in line and 'container="main"' in line for line in held)

    def test_memory_adds_up(self) -> None:
        text = exporter.metrics(gpu_node("p4d.24xlarge"), [], exporter.DEFAULT)
        parts = [values(text, f"DCGM_FI_DEV_FB_{one}")["0"] for one in ("USED", "FREE", "RESERVED")]
        assert sum(parts) == 40960

    def test_only_the_fields_of_the_list_are_there(self) -> None:
        listed = exporter.fields("# Field, type, help\nDCGM_FI_DEV_GPU_TEMP, gauge, Heat.\n\n")
        assert listed == ["DCGM_FI_DEV_GPU_TEMP"]
        text = exporter.metrics(gpu_node("g4dn.xlarge"), [], listed)
        assert {line.partition("{")[0] for line in text.splitlines()} == {"DCGM_FI_DEV_GPU_TEMP"}

    def test_a_trouble_changes_one_metric_of_one_gpu(self) -> None:
        trouble = {"metric": "DCGM_FI_DEV_GPU_TEMP", "gpu": 2, "value": 97}
        text = exporter.metrics(gpu_node("p4d.24xlarge"), [], exporter.DEFAULT, [trouble])
        assert values(text, "DCGM_FI_DEV_GPU_TEMP") == {**dict.fromkeys("0134567", 35.0), "2": 97.0}

    def test_a_node_without_gpus_has_no_metrics(self) -> None:
        assert exporter.metrics(gpu_node("m6i.xlarge"), [], exporter.DEFAULT) == ""

    @pytest.mark.parametrize(
        ("image", "label"),
        [
            ("nvcr.io/nvidia/k8s/dcgm-exporter:4.5.1-4.8.0-distroless", "Hostname"),
            ("nvcr.io/nvidia/k8s/dcgm-exporter:4.5.3-4.8.2-distroless@sha256:60d3", "Hostname"),
            ("nvcr.io/nvidia/k8s/dcgm-exporter:4.6.0-4.8.3-distroless", "hostname"),
            ("nvcr.io/nvidia/k8s/dcgm-exporter:4.6.1-4.8.4-distroless", "hostname"),
            ("nvcr.io/nvidia/k8s/dcgm-exporter@sha256:613a", "hostname"),
        ],
    )
    def test_the_label_of_the_node_follows_the_exporters_release(self, image: str, label: str) -> None:
        node = gpu_node("g4dn.xlarge")
        one = pod("nvidia-dcgm-exporter-x", node["metadata"]["name"])
        one["metadata"]["labels"] = LABELS
        one["spec"]["containers"][0]["image"] = image
        text = exporter.metrics(node, [one], ["DCGM_FI_DEV_GPU_TEMP"])
        assert f'{label}="n"' in text
        assert text.lower().count('hostname="') == 1


class TestState:
    def test_a_node_has_its_labels_devices_and_cordon(self) -> None:
        node = {
            "metadata": {"name": "n", "labels": {"accelerators.openshift/pool": "training"}},
            "spec": {"unschedulable": True},
            "status": {"capacity": {"nvidia.com/gpu": "8"}, "allocatable": {"nvidia.com/gpu": "7"}},
        }
        assert state_metrics.metrics(state_metrics.State(nodes=[node])).splitlines() == [
            'kube_node_labels{node="n",label_accelerators_openshift_pool="training"} 1',
            'kube_node_spec_unschedulable{node="n"} 1.0',
            'kube_node_status_capacity{node="n",resource="nvidia_com_gpu",unit="integer"} 8.0',
            'kube_node_status_allocatable{node="n",resource="nvidia_com_gpu",unit="integer"} 7.0',
        ]

    @pytest.mark.parametrize(
        ("owners", "expected"),
        [
            ([{"kind": "Job", "name": "train", "controller": True}], ("Job", "train", "true")),
            ([], ("", "", "")),
        ],
    )
    def test_a_pod_has_its_owner(self, owners: list[Object], expected: tuple[str, str, str]) -> None:
        one = {"metadata": {"name": "p", "namespace": "lab", "ownerReferences": owners}}
        kind, name, controller = expected
        assert state_metrics.metrics(state_metrics.State(pods=[one])) == (
            f'kube_pod_owner{{namespace="lab",pod="p",owner_kind="{kind}",owner_name="{name}",'
            f'owner_is_controller="{controller}"}} 1\n'
        )

    def test_a_quota_and_a_lease_are_there(self) -> None:
        quota = {
            "metadata": {"name": "gpus", "namespace": "lab"},
            "status": {"hard": {"requests.nvidia.com/gpu": "8"}, "used": {"requests.nvidia.com/gpu": "7"}},
        }
        lease = {
            "metadata": {"name": "accelerators-openshift", "namespace": "default"},
            "spec": {"holderIdentity": "me", "renewTime": "2026-11-23T09:00:00.000000Z"},
        }
        text = state_metrics.metrics(state_metrics.State(quotas=[quota], leases=[lease]))
        assert 'resource="requests.nvidia.com/gpu",type="used"} 7.0' in text
        assert 'lease_holder="me"} 1' in text
        assert text.endswith('namespace="default"} 1795424400.0\n')


def test_a_page_keeps_the_samples_of_a_metric_together_and_escapes_values() -> None:
    samples = [Sample("a", {"x": 'q"\\'}, 1), Sample("b", {}, 2), Sample("a", {}, 3.5)]
    assert page(samples) == 'a{x="q\\"\\\\"} 1\na{} 3.5\nb{} 2\n'


class TestConfiguration:
    def found(self, monitored: str = "true", ready: str = "True", **endpoint: t.Any) -> Monitored:
        running = pod("nvidia-dcgm-exporter-x", "gpu-0")
        running["metadata"] |= {"namespace": SPACE, "labels": LABELS}
        running["status"]["conditions"] = [{"type": "Ready", "status": ready}]
        rule = {
            "metadata": {"name": "ours", "namespace": SPACE},
            "spec": {"groups": [{"name": "gpus", "rules": []}]},
        }
        return Monitored(
            [{"metadata": {"name": SPACE, "labels": {configuration.MONITORED: monitored}}}],
            [
                {
                    "metadata": {"name": "nvidia-dcgm-exporter", "namespace": SPACE, "labels": LABELS},
                    "spec": {"selector": LABELS, "ports": [{"name": "gpu-metrics", "port": 9400}]},
                }
            ],
            [running],
            [
                {
                    "metadata": {"name": "nvidia-dcgm-exporter", "namespace": SPACE},
                    "spec": {
                        "jobLabel": "app",
                        "endpoints": [{"port": "gpu-metrics", **endpoint}],
                        "selector": {"matchLabels": LABELS},
                    },
                }
            ],
            [rule],
        )

    def test_each_exporter_is_a_target(self) -> None:
        _state, job = configuration.configuration(self.found(), EXPORTERS)["scrape_configs"]
        (target,) = job["static_configs"]
        assert target["targets"] == [EXPORTERS]
        assert target["labels"] == {
            "__metrics_path__": "/nodes/gpu-0",
            "job": "nvidia-dcgm-exporter",
            "namespace": SPACE,
            "pod": "nvidia-dcgm-exporter-x",
            "service": "nvidia-dcgm-exporter",
            "instance": "gpu-0",
        }
        assert job["honor_labels"] is False

    @pytest.mark.parametrize("changed", [{"monitored": "false"}, {"ready": "False"}, {"port": "other"}])
    def test_without_label_pod_or_port_there_is_no_target(self, changed: dict[str, str]) -> None:
        (state,) = configuration.configuration(self.found(**changed), EXPORTERS)["scrape_configs"]
        assert state["job_name"] == configuration.STATE

    def test_a_monitor_may_honour_labels(self) -> None:
        jobs = configuration.configuration(self.found(honorLabels=True), EXPORTERS)["scrape_configs"]
        assert jobs[1]["honor_labels"] is True

    def test_rules_of_monitored_namespaces_are_there(self) -> None:
        (group,) = configuration.rules(self.found())["groups"]
        assert group["name"] == f"{SPACE}/ours/gpus"
        assert configuration.rules(self.found(monitored="false")) == {"groups": []}
