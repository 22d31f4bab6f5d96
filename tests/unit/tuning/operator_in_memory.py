"""A machine-config operator on the server in memory, and objects for tests of tuning that reboots nodes."""

from __future__ import annotations

import hashlib
import json
import typing as t

from unit.engine import api_on
from unit.fake_server import Answer, FakeServer
from unit.killed_run import Killer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import node as node_facts
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import pool_judge
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.options import PLANNED, Tuning
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.selectors import selects

GROUP: t.Final = "machineconfiguration.openshift.io"
LABEL: t.Final = {"accelerators.openshift/pool": "training"}
WORKER: t.Final = "node-role.kubernetes.io/worker"
KINDS: t.Final = (
    *("Node", "Pod", "MachineConfigPool", "MachineConfig", "KubeletConfig", "PodDisruptionBudget"),
    *("Secret", "MachineSet"),
)


def tuning(**more: t.Any) -> Tuning:
    """Return the tuning of pool training: a kernel argument, on machines of 8 CPUs and 64 GiB."""
    given: dict[str, t.Any] = {
        "name": "training",
        "label": LABEL,
        "path": "pools[0].tuning",
        "kernel_arguments": ("iommu=pt",),
        "reboot": PLANNED,
        "vcpus": 8,
        "memory_gib": 64,
    }
    return Tuning(**given | more)


def node(name: str, pool: str = "training", config: str = "rendered-worker-0", **more: t.Any) -> KubeObject:
    """Return a worker node of a GPU pool that runs a configuration."""
    keys = dict.fromkeys(("currentConfig", "desiredConfig"), config) | {"state": "Done"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"accelerators.openshift/pool": pool, WORKER: ""} | more.pop("labels", {}),
            "annotations": {f"{GROUP}/{key}": value for key, value in keys.items()},
        },
        "spec": {},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "capacity": {"cpu": "8"},
        },
        **more,
    }


def gpu_pod(name: str, on: str) -> KubeObject:
    """Return a running pod with a GPU on a node."""
    limits = {"limits": {"nvidia.com/gpu": "1"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "team", "labels": {"app": name}},
        "spec": {"nodeName": on, "containers": [{"name": "c", "image": "i", "resources": limits}]},
        "status": {"phase": "Running"},
    }


def pool(name: str, **spec: t.Any) -> KubeObject:
    """Return a MachineConfigPool as the installer makes it."""
    role = {"key": f"{GROUP}/role", "operator": "In", "values": [name]}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "MachineConfigPool",
        "metadata": {"name": name},
        "spec": {
            "machineConfigSelector": {"matchExpressions": [role]},
            "nodeSelector": {"matchLabels": {f"node-role.kubernetes.io/{name}": ""}},
            "paused": False,
            **spec,
        },
    }


def config(name: str, role: str, *arguments: str) -> KubeObject:
    """Return a MachineConfig with kernel arguments."""
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "MachineConfig",
        "metadata": {"name": name, "labels": {f"{GROUP}/role": role}},
        "spec": {"kernelArguments": list(arguments)},
    }


class Operator(Killer):
    """The operator: it works after each request, unless a test stops it.

    reboots: nodes in the order in which they rebooted. is_stopped: nothing happens. rolls: nodes get their
    configuration. renders: configurations are rendered. tuned_is_late: requests until TuneD tells the
    kernel arguments of a PerformanceProfile.
    """

    def __init__(self, *objects: KubeObject, kinds: t.Iterable[str] = KINDS) -> None:
        self.server = FakeServer(*kinds)
        self.reboots: list[str] = []
        self.is_stopped = False
        self.rolls = self.renders = True
        self.tuned_is_late, self._heard = 0, (list[str](), 0)
        for one in (pool("worker"), config("00-worker", "worker", "quiet"), *objects):
            self.server.put(one)
        self._work()
        for one in self.all("Node"):
            self._take(one)
        self.reboots.clear()
        self._work()
        self.server.request = self.request

    def api(self, **more: t.Any) -> Api:
        """Return an Api of a new task on this server."""
        return api_on(self.server, **more)

    def request(self, method: str, url: str, **more: t.Any) -> Answer:
        self.count(method, url, more)
        answer = self.server.answer(method, url, **more)
        if not self.is_stopped:
            self._work()
        return answer

    def all(self, kind: str) -> list[KubeObject]:
        return [one for _key, one in sorted(self.server.objects.items()) if one["kind"] == kind]

    def find(self, kind: str, name: str) -> KubeObject | None:
        return next((one for one in self.all(kind) if one["metadata"]["name"] == name), None)

    def must(self, kind: str, name: str) -> KubeObject:
        found = self.find(kind, name)
        assert found is not None, (kind, name)
        return found

    def names(self, kind: str) -> list[str]:
        found = [str(one["metadata"]["name"]) for one in self.all(kind)]
        return [one for one in found if not one.startswith("rendered-")]

    def _work(self) -> None:
        for kind in ("KubeletConfig", "MachineConfigPool"):
            for one in self.all(kind):
                self._generation(one)
        for one in self.all("KubeletConfig") if self.renders else []:
            self._kubelet(one)
        for one in self.all("PerformanceProfile") if self.renders else []:
            self._profile(one)
        for one in self.all("MachineConfigPool") if self.renders else []:
            self._render(one)
        for one in self.all("Node") if self.rolls else []:
            self._roll(one)
        for one in self.all("MachineConfigPool"):
            self._status(one)

    def _generation(self, one: KubeObject) -> None:
        digest = hashlib.sha256(json.dumps(one["spec"], sort_keys=True).encode()).hexdigest()
        seen = one.setdefault("seen", {"digest": "", "generation": 0})
        if seen["digest"] != digest:
            seen |= {"digest": digest, "generation": seen["generation"] + 1}
            one["metadata"]["generation"] = seen["generation"]

    def _kubelet(self, one: KubeObject) -> None:
        for pool in self.all("MachineConfigPool"):
            if selects(one["spec"].get("machineConfigPoolSelector"), pool["metadata"].get("labels") or {}):
                object_name = pool["metadata"]["name"]
                made = config(f"99-{object_name}-generated-kubelet", object_name)
                text = json.dumps(one["spec"]["kubeletConfig"], sort_keys=True)
                files = [{"path": "/etc/kubernetes/kubelet.conf", "contents": {"source": text}}]
                made["spec"]["config"] = {"storage": {"files": files}}
                if (self.find("MachineConfig", made["metadata"]["name"]) or {}).get("spec") != made["spec"]:
                    self.server.put(made)
        status = {"observedGeneration": one["metadata"]["generation"]}
        self._set_status(one, {**status, "conditions": [{"type": "Success", "status": "True"}]})

    def _profile(self, one: KubeObject) -> None:
        """Make the MachineConfigs of a PerformanceProfile; TuneD on a node tells its kernel arguments."""
        name, selector = str(one["metadata"]["name"]), {"matchLabels": one["spec"]["nodeSelector"]}
        if not any(selects(selector, found["metadata"]["labels"]) for found in self.all("Node")):
            return
        spec = one["spec"]
        told = [*spec.get("additionalKernelArgs", []), f"isolcpus=managed_irq,{spec['cpu']['isolated']}"]
        told += _page_arguments(spec.get("hugepages", {}))
        self._heard = (told, self._heard[1] + 1 if self._heard[0] == told else 0)
        for made in (f"50-performance-{name}", f"99-{name}-generated-kubelet", f"50-nto-{name}"):
            if made.startswith("50-nto") and self._heard[1] < self.tuned_is_late:
                continue
            wanted = config(made, name, *(told if made.startswith("50-nto") else []))
            if (self.find("MachineConfig", made) or {}).get("spec") != wanted["spec"]:
                self.server.put(wanted)

    def _sources(self, pool: KubeObject) -> list[KubeObject]:
        (rule,) = pool["spec"]["machineConfigSelector"]["matchExpressions"]
        return [
            one
            for one in self.all("MachineConfig")
            if one["metadata"].get("labels", {}).get(f"{GROUP}/role") in rule["values"]
            and self._has_owner(one)
        ]

    def _has_owner(self, one: KubeObject) -> bool:
        """Return whether the MachineConfig stays: a generated one goes with what it was made for."""
        name = str(one["metadata"]["name"])
        head, generated, _rest = name.partition("-generated-kubelet")
        owners = ("KubeletConfig", "PerformanceProfile")
        if name.startswith("50-performance-"):
            return self.find("PerformanceProfile", name.removeprefix("50-performance-")) is not None
        return not generated or any(self.find(kind, head.removeprefix("99-")) for kind in owners)

    def _render(self, pool: KubeObject) -> None:
        parts = self._sources(pool)
        object_name = pool["metadata"]["name"]
        digest = hashlib.sha256(json.dumps([one["spec"] for one in parts]).encode()).hexdigest()[:8]
        whole = config(f"rendered-{object_name}-{digest}", "")
        whole["spec"]["kernelArguments"] = [
            word for one in parts for word in one["spec"].get("kernelArguments", [])
        ]
        storage = [one["spec"].get("config", {}).get("storage", {}).get("files", []) for one in parts]
        units = [one["spec"].get("config", {}).get("systemd", {}).get("units", []) for one in parts]
        whole["spec"]["config"] = {
            "storage": {"files": [one for files in storage for one in files]},
            "systemd": {"units": [one for found in units for one in found]},
        }
        if self.find("MachineConfig", whole["metadata"]["name"]) is None:
            self.server.put(whole)
        wanted = {
            "name": whole["metadata"]["name"],
            "source": [{"name": one["metadata"]["name"]} for one in parts],
        }
        if pool["spec"].get("configuration") != wanted:
            pool["spec"]["configuration"] = wanted
            self._generation(pool)
            self._touch(pool)

    def pool_of(self, node: KubeObject) -> KubeObject:
        pools = self.all("MachineConfigPool")
        found = [one for one in pools if selects(one["spec"].get("nodeSelector"), node["metadata"]["labels"])]
        custom = [one for one in found if one["metadata"]["name"] != "worker"]
        return (custom or found)[0]

    def _roll(self, node: KubeObject) -> None:
        pool = self.pool_of(node)
        target = pool_judge.target(pool)
        if not pool["spec"].get("paused") and target and not pool_judge.is_at(node, target):
            self._take(node)

    def _take(self, node: KubeObject) -> None:
        target = pool_judge.target(self.pool_of(node))
        keys = {node_facts.CURRENT: target, node_facts.DESIRED: target, node_facts.STATE: "Done"}
        node["metadata"]["annotations"] |= keys
        self.reboots.append(str(node["metadata"]["name"]))
        self._touch(node)

    def _status(self, pool: KubeObject) -> None:
        target = pool_judge.target(pool)
        nodes = [one for one in self.all("Node") if self.pool_of(one) is pool]
        done = [one for one in nodes if pool_judge.is_at(one, target)]
        is_done = len(done) == len(nodes) and bool(target)
        configuration = pool["spec"].get("configuration") if is_done else None
        status = {
            "observedGeneration": pool["metadata"]["generation"],
            "machineCount": len(nodes),
            "updatedMachineCount": len(done),
            "configuration": configuration or (pool.get("status") or {}).get("configuration") or {},
            "conditions": [
                {"type": "Updated", "status": str(is_done)},
                {"type": "Updating", "status": str(not is_done)},
            ],
        }
        self._set_status(pool, status)

    def _set_status(self, one: KubeObject, status: KubeObject) -> None:
        if one.get("status") != status:
            one["status"] = status
            self._touch(one)

    def _touch(self, one: KubeObject) -> None:
        self.server.put(one)


def _page_arguments(wanted: KubeObject) -> list[str]:
    """Return what the operator asks the kernel for; a service makes the pages of one NUMA node."""
    if not wanted:
        return []
    pages, default = wanted["pages"], wanted["defaultHugepagesSize"]
    found = [f"default_hugepagesz={default}"]
    for page in pages:
        found += [] if "node" in page else [f"hugepagesz={page['size']}", f"hugepages={page['count']}"]
    small = [page for page in pages if page["size"] == "2M"]
    if default == "1G" and small and all("node" in page for page in small):
        found += ["hugepagesz=2M", "hugepages=0"]
    return found
