# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for Prism and the Nutanix machine provider.

Unlike the real ones it checks no image or subnet, and each Prism Element has every GPU.
"""

from __future__ import annotations

import ipaddress
import typing as t
import uuid

from openshift_sandbox.hardware.gpus import GPUS
from openshift_sandbox.hardware.instance_types import InstanceType, described
from openshift_sandbox.seed.platforms import nutanix
from openshift_sandbox.stand_ins.clouds.cloud import (
    INVALID,
    Cloud,
    Instance,
    Refusal,
    Wanted,
    digest,
    failure,
    free_address,
    own_address,
    provider_spec,
    shortage,
)
from openshift_sandbox.stand_ins.core.conditions import condition
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object

SUBNET: t.Final = ipaddress.IPv4Network("10.0.128.0/17")
REGION: t.Final = "prism-central"
PRISM_GPUS: t.Final = {"Tesla T4": "T4", "Ampere 40": "A40", "Ampere 100": "A100-PCIE", "Ada L40S": "L40S"}
"""GPUs by the names of this Prism; every Prism has its own names."""
MIB: t.Final = {"Mi": 1, "Gi": 1024}
NO_GPU: t.Final = "no available GPU found that matches required GPU inputs"
NO_MEMORY: t.Final = (
    "failed to create VM: {name} failed to create the vm: error_detail: No host has enough available "
    "memory for VM {name} that uses {cpus} vCPUs"
    " and {memory} MB of memory, progress_message: create_vm_intentful"
)


class Nutanix(Cloud):
    created = "MachineCreation"
    created_message = "MachineCreation succeeded"
    running = nutanix.RUNNING
    tells_gpus = False

    def wanted(self, value: Object) -> Wanted:
        """Return what a specification asks for.

        Its zone is the Prism Element, named by uuid or by a failure domain.
        """
        zone = ((value.get("failureDomain") or {}).get("name") or "").removeprefix("fd-")
        return Wanted("AHV", zone, REGION, description=description(value))

    def launch(self, cluster: Cluster, machine: Object) -> Instance | Refusal:
        value, name = provider_spec(machine), machine["metadata"]["name"]
        wanted = self.wanted(value)
        none_left = shortage(self, cluster, wanted)
        if errors := gpu_errors(value, bool(none_left)):
            text = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
            return Refusal(
                message := f"{name}: failed in validating machine providerSpec: {text}", INVALID, message
            )
        if none_left:
            return Refusal(
                NO_MEMORY.format(name=name, cpus=_cpus(value), memory=mebibytes(value.get("memorySize")))
            )
        return failure(cluster, wanted) or self._instance(machine, free_address(cluster, machine, SUBNET))

    def describe(self, cluster: Cluster, machine: Object) -> Instance:
        return self._instance(machine, own_address(machine))

    def provider_status(self, instance: Instance) -> Object:
        return {"vmUUID": instance.instance_id}

    def outcome(self, created: bool, message: str) -> list[Object]:
        ready = "Machine instance is ready" if created else "Machine instance is not ready"
        first = condition(
            self.created, created, "MachineCreationSucceeded" if created else "MachineCreationFailed", message
        )
        return [first, condition("MachineInstanceReady", created, ready, ready)]

    def machine_annotations(self, instance: Instance) -> dict[str, str]:
        return {"machine.openshift.io/instance-power-state": "ON"}

    def scale_from_zero(self, value: Object) -> InstanceType | None:
        return described(f"{_cpus(value)}x{mebibytes(value.get('memorySize')) // 1024}")

    def _instance(self, machine: Object, address: str) -> Instance:
        identity, name = str(uuid.UUID(digest(machine)[:32])), machine["metadata"]["name"]
        addresses = (("InternalIP", address), ("InternalDNS", name), ("Hostname", name))
        return Instance(
            f"nutanix://{identity}",
            identity,
            self.wanted(provider_spec(machine)),
            addresses,
            name,
            self.running,
        )


def description(value: Object) -> str:
    """Return the hardware of a provider specification, as a text."""
    models = [model for model in map(model_of, value.get("gpus") or []) if model]
    size = f"{_cpus(value)}x{mebibytes(value.get('memorySize')) // 1024}"
    return f"{size}x{len(models)}x{models[0]}" if models else size


def model_of(gpu: Object) -> str | None:
    """Return the GPU of an entry: by its name, or by the PCI device id as a number."""
    if gpu.get("type") == "Name":
        return PRISM_GPUS.get(gpu.get("name") or "")
    return next(
        (model for model in PRISM_GPUS.values() if int(GPUS[model].pci_device, 16) == gpu.get("deviceID")),
        None,
    )


def gpu_errors(value: Object, all_used: bool) -> list[str]:
    """Return errors about GPUs.

    The provider says the same about used GPUs and about names that do not exist.
    """
    field = {"Name": "name", "DeviceID": "deviceID"}
    found = []
    for gpu in value.get("gpus") or []:
        if all_used or not model_of(gpu):
            key = field.get(gpu.get("type") or "", "type")
            shown = f'"{gpu[key]}"' if isinstance(gpu.get(key), str) else gpu.get(key)
            found.append(f"spec.providerSpec.value.gpus.{key}: Invalid value: {shown}: {NO_GPU}")
    return found


def mebibytes(quantity: str | None) -> int:
    """Return one of the quantities that an installer writes, in MiB."""
    text = quantity or "0Mi"
    return int(text[:-2]) * MIB[text[-2:]]


def _cpus(value: Object) -> int:
    return int(value.get("vcpusPerSocket") or 0) * int(value.get("vcpuSockets") or 0)


CLOUD: t.Final = Nutanix()
