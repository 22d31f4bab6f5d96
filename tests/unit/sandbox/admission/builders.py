"""MachineSets with provider specifications, and what the webhook says about them."""

from __future__ import annotations

import copy
import typing as t

from openshift_sandbox import scenario
from openshift_sandbox.seed import installer
from openshift_sandbox.stand_ins.admission.platform import Context, Verdict
from openshift_sandbox.stand_ins.admission.review import PLATFORMS, validated

Data = dict[str, t.Any]
CONTEXT = Context("demo-x7k2p", "us-east-2")
LABELS = {"machine.openshift.io/cluster-api-machineset": "gpu"}
RESERVATION = "cr-0123456789abcdef0"
GROUP = "/subscriptions/1/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/c"
TAG = "urn:vmomi:InventoryServiceTag:5736bf56-49f5-4667-b38c-b97e09dc9578:GLOBAL"
INSTALLED = {
    name: installer.machine_sets(scenario.load(name.lower()).cluster)[0]["spec"]["template"]["spec"][
        "providerSpec"
    ]["value"]
    for name in ("AWS", "Azure", "GCP")
}
VSPHERE = {
    "apiVersion": "machine.openshift.io/v1beta1",
    "kind": "VSphereMachineProviderSpec",
    "credentialsSecret": {"name": "vsphere-cloud-credentials"},
    "userDataSecret": {"name": "worker-user-data"},
    "template": "rhcos-gpu",
    "network": {"devices": [{"networkName": "machines"}]},
    "numCPUs": 8,
    "memoryMiB": 32768,
    "diskGiB": 120,
    "workspace": {"server": "vcenter.example.com", "datacenter": "dc", "folder": "/dc/vm/demo"},
}
NUTANIX = {
    "apiVersion": "machine.openshift.io/v1",
    "kind": "NutanixMachineProviderConfig",
    "credentialsSecret": {"name": "nutanix-credentials"},
    "userDataSecret": {"name": "worker-user-data"},
    "cluster": {"type": "uuid", "uuid": "0005b0f1"},
    "image": {"type": "name", "name": "rhcos"},
    "subnets": [{"type": "uuid", "uuid": "c7938dc6"}],
    "vcpuSockets": 4,
    "vcpusPerSocket": 1,
    "memorySize": "16Gi",
    "systemDiskSize": "120Gi",
    "bootType": "",
}
SPECS: dict[str, Data] = {**INSTALLED, "VSphere": VSPHERE, "Nutanix": NUTANIX}


def with_(base: t.Any, over: t.Any) -> t.Any:
    """Return the base with a merge patch."""
    if not isinstance(over, dict) or not isinstance(base, dict):
        return over
    merged = base | {key: with_(base.get(key), value) for key, value in over.items()}
    return {key: value for key, value in merged.items() if value is not None}


def machine_set(value: t.Any, selector: Data | None = None) -> Data:
    template = {"metadata": {"labels": dict(LABELS)}, "spec": {"providerSpec": {"value": value}}}
    spec = {"selector": {"matchLabels": selector or dict(LABELS)}, "template": template}
    return {
        "kind": "MachineSet",
        "metadata": {"name": "gpu", "namespace": "openshift-machine-api"},
        "spec": spec,
    }


def judged(platform: str, over: Data | None = None, context: Context = CONTEXT) -> Verdict:
    return validated(
        PLATFORMS.get(platform), machine_set(with_(copy.deepcopy(SPECS[platform]), over or {})), None, context
    )
