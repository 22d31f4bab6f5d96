# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools of virtual machines, the machines themselves, and what HyperConverged permits."""

from __future__ import annotations

import typing as t

from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import Playbook, Run
from integration.troubles.demo import PATIENT

Data = dict[str, t.Any]
SPACE: t.Final = "nvidia-gpu-operator"
POOL: t.Final = "accelerators.openshift/pool"
HCO: t.Final = ("hco.kubevirt.io/v1beta1", "hyperconvergeds", "kubevirt-hyperconverged", "openshift-cnv")
QAT: t.Final = {"pciDeviceSelector": "8086:37C8", "resourceName": "intel.com/qat"}
T4: t.Final = "nvidia.com/TU104GL_TESLA_T4"


def pool(name: str, gpus: int, **more: t.Any) -> Data:
    chosen = {"node_selector": {POOL: name}, "expected": {"nvidia.com/gpu": gpus}}
    return {"name": name, "existing": chosen, **more}


def play(playbook: Playbook, name: str, given: list[Data], **more: t.Any) -> Run:
    return playbook.playbook(name, gpu_pools=given, **PATIENT | more)


def done(run: Run) -> Run:
    assert run.rc == 0, run.output[-4000:]
    return run


def refused(run: Run, code: str) -> str:
    assert run.rc != 0, run.output[-4000:]
    assert run.failure["code"] == code, run.failure.result
    return str(run.failure["msg"])


def spec(cluster: Cluster) -> Data:
    found: Data = must_get(cluster.client, *HCO)["spec"]
    return found


def permitted(cluster: Cluster) -> dict[str, str]:
    lists = spec(cluster)["permittedHostDevices"]
    return {
        entry.get("pciDeviceSelector") or entry["mdevNameSelector"]: entry["resourceName"]
        for entries in (lists.get("pciHostDevices") or [], lists.get("mediatedDevices") or [])
        for entry in entries
    }


def node(cluster: Cluster, name: str) -> Data:
    found: Data = must_get(cluster.client, "v1", "nodes", name)
    return found


def machine(cluster: Cluster, name: str, resource: str) -> None:
    """Start a virtual machine with one device."""
    devices = {"gpus": [{"name": "gpu", "deviceName": resource}]}
    template = {"metadata": {}, "spec": {"domain": {"devices": devices, "memory": {"guest": "2Gi"}}}}
    cluster.client.apply(
        {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachine",
            "metadata": {"name": name, "namespace": "people"},
            "spec": {"runStrategy": "Always", "template": template},
        }
    )


def _instance(cluster: Cluster, name: str) -> Data:
    found = cluster.client.get("kubevirt.io/v1", "virtualmachineinstances", name, "people") or {}
    return found.get("status") or {}


def runs(cluster: Cluster, name: str) -> None:
    until(lambda: _instance(cluster, name).get("phase") == "Running", f"{name} runs")


def refusal(cluster: Cluster, name: str) -> str:
    """Return why KubeVirt does not start the machine."""

    def seen() -> str:
        conditions = _instance(cluster, name).get("conditions") or []
        wrong = [one["message"] for one in conditions if one["type"] == "Synchronized"]
        return str(wrong[0]) if wrong else ""

    return until(seen, f"{name} is refused")
