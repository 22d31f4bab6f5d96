# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node with GPUs on the server in memory: it restarts when its pod or its host's annotation asks for it."""

from __future__ import annotations

import copy
import re
import typing as t

from unit.engine import TickingClock, api_on
from unit.fake_server import Answer, FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject, name
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._repair import options

PLACE: t.Final = "openshift-machine-api"
UUID: t.Final = "GPU-5f7c1f1e-6d1b-4f0e-9c53-0a4c0f2f7b11"
KINDS: t.Final = (
    *("Node", "Pod", "Machine", "MachineSet", "MachineHealthCheck", "BareMetalHost", "Event"),
    *("ResourceSlice", "Namespace"),
)
PLUGIN: t.Final = "nvidia-device-plugin-daemonset-x"


class KilledError(BaseException):
    """The process of a run ends, as after kill -9: nothing of it runs any more."""


def params(**given: t.Any) -> options.GpuNodeRepairParams:
    """Return the options of gpu_node_repair with their defaults."""
    plain: options.GpuNodeRepairParams = {
        "name": "gpu-0",
        "repair": "auto",
        "replace": False,
        "reboot_with": "auto",
        "reboot_image": "tools",
        "validation": None,
        "grace": 5.0,
        "remove_rejected": False,
        "namespace": PLACE,
        "on_busy": "fail",
        "delete_emptydir": False,
        "evict_unmanaged": False,
        "capacity_timeout": 120,
        "approve_csrs": False,
        "lock_timeout": 0,
        "wait": True,
        "wait_timeout": 1800,
    }
    return t.cast(options.GpuNodeRepairParams, plain | given)


def node(**status: t.Any) -> KubeObject:
    """Return the node: 7 of its 8 GPUs are allocatable."""
    labels = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": "8"}
    labels |= {"kubernetes.io/hostname": "gpu-0", "accelerators.openshift/pool": "training"}
    labels |= {"nvidia.com/gpu.product": "H100", "nvidia.com/cuda.driver-version.full": "595.91.07"}
    notes = {"machine.openshift.io/machine": f"{PLACE}/m-0"}
    usual = {
        "conditions": [{"type": "Ready", "status": "True"}],
        "capacity": {"nvidia.com/gpu": "8"},
        "allocatable": {"nvidia.com/gpu": "7"},
        "nodeInfo": {"bootID": "boot-1", "kernelVersion": "5.14", "osImage": "RHCOS"},
    }
    metadata = {"name": "gpu-0", "labels": labels, "annotations": notes}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {}, "status": usual | status}


def pod(object_name: str, **more: t.Any) -> KubeObject:
    """Return a Ready pod on the node. more: fields of its spec."""
    spec = {"nodeName": "gpu-0", "containers": [{"name": "c", "image": "i"}], **more}
    owner = {"kind": "DaemonSet" if object_name == PLUGIN else "ReplicaSet", "name": "o", "controller": True}
    metadata: KubeObject = {
        "name": object_name,
        "namespace": "team",
        "labels": {"app": object_name.rpartition("-")[0]},
    }
    metadata["ownerReferences"] = [owner]
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def host(state: str = "provisioned") -> KubeObject:
    """Return the BareMetalHost of the node's machine."""
    vendor = {"manufacturer": "Dell Inc.", "productName": "XE9680", "serialNumber": "ABC1234"}
    status = {"provisioning": {"state": state}, "hardware": {"systemVendor": vendor}}
    metadata = {"name": "host-0", "namespace": PLACE}
    return {
        "apiVersion": "metal3.io/v1alpha1",
        "kind": "BareMetalHost",
        "metadata": metadata,
        "status": status,
    }


def machine(**notes: str) -> KubeObject:
    """Return the Machine of the node."""
    metadata = {"name": "m-0", "namespace": PLACE, "uid": "uid-m-0", "annotations": notes}
    spec = {"providerID": "baremetalhost:///m-0"}
    return {
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "Machine",
        "metadata": metadata,
        "spec": spec,
    }


class Room:
    """The node and its surroundings.

    cures: a reboot brings the GPU back. boots: how often the node has started again. log: of the device
    plugin. writes_left: the run is killed when so many writes were sent. is_slow: the node does not restart.
    """

    def __init__(self, *more: KubeObject, bare_metal: bool = True) -> None:
        self.server = FakeServer(*KINDS)
        self.clock = TickingClock(0.5)
        self.cures = True
        self.is_slow = False
        self.boots = 0
        self.log = f"XidCriticalError: Xid=79 on Device={UUID}; marking device as unhealthy."
        self.writes_left: int | None = None
        notes = {"metal3.io/BareMetalHost": f"{PLACE}/host-0"} if bare_metal else {}
        there = [node(), machine(**notes), pod(PLUGIN, containers=[{"name": "plugin", "image": "p"}])]
        for one in [*there, *([host()] if bare_metal else []), *more]:
            self.server.put(one)
        self.server.request = self.request

    def api(self, **more: t.Any) -> Api:
        """Return an Api of a new task on this server."""
        return api_on(self.server, self.clock, seconds=600.0, **more)

    def request(self, method: str, url: str, **more: t.Any) -> Answer:
        if re.search(r"/pods/[^/]+/log\b", url):
            return Answer(200, self.log)
        is_write = method != "GET" and "dryRun" not in url and b"dryRun" not in (more.get("body") or b"")
        if is_write and self.writes_left is not None:
            if self.writes_left == 0:
                raise KilledError
            self.writes_left -= 1
        if evicted := re.search(r"/namespaces/([^/]+)/pods/([^/]+)/eviction", url):
            self.server.objects.pop(("v1", "pods", evicted[1], evicted[2]), None)
            return Answer(201, {"kind": "Status", "status": "Success"})
        answer = self.server.answer(method, url, **more)
        if is_write and not self.is_slow:
            self.work()
        return answer

    def work(self) -> None:
        """Restart the node if something asks for it."""
        for one in self.all("Pod"):
            script = str(one["spec"]["containers"][0].get("command"))
            if name(one).startswith("gpu-repair-") and self.boot in script:
                self._restart()
        for one in self.all("BareMetalHost"):
            if "reboot.metal3.io" in (one["metadata"].get("annotations") or {}):
                del one["metadata"]["annotations"]["reboot.metal3.io"]
                self.server.put(one)
                self._restart()

    def _restart(self) -> None:
        self.boots += 1
        live = copy.deepcopy(self.node)
        live["status"]["nodeInfo"]["bootID"] = f"boot-{self.boots + 1}"
        if self.cures:
            live["status"]["allocatable"] = live["status"]["capacity"]
            self.log = ""
        self.server.put(live)

    @property
    def boot(self) -> str:
        return str(self.node["status"]["nodeInfo"]["bootID"])

    @property
    def node(self) -> KubeObject:
        return next(one for one in self.all("Node"))

    @property
    def notes(self) -> dict[str, str]:
        """Return the annotations that this collection wrote to the node."""
        found = self.node["metadata"].get("annotations") or {}
        return {key: value for key, value in found.items() if key.startswith("accelerators.openshift/")}

    def all(self, kind: str) -> list[KubeObject]:
        return [one for _key, one in sorted(self.server.objects.items()) if one["kind"] == kind]
