# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A GPU operator with its upgrade controller on the server in memory, and a stack that is ready."""

from __future__ import annotations

import copy
import hashlib
import json
import typing as t

from unit.engine import FakeClock, api_on
from unit.fake_server import Answer, FakeServer
from unit.killed_run import Killer
from unit.stack.builders import FIXTURE, pod as pod_of
from unit.upgrade.in_memory.builders import NAMESPACE, OLD

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject, name
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.node_driver import SKIP

STATE: t.Final = "nvidia.com/gpu-driver-upgrade-state"
OWNER: t.Final = "nvidia.com/gpu-operator.driver.owner"
DRIVER: t.Final = "nvidia-driver-daemonset"
KINDS: t.Final = (
    *("Node", "Pod", "ConfigMap", "ClusterPolicy", "NVIDIADriver", "DaemonSet", "ControllerRevision"),
    *("ImageStream", "Job", "PodDisruptionBudget"),
)
_UNDER_WAY: t.Final = ("cordon-required", "pod-restart-required", "upgrade-failed")


class Operator(Killer):
    """The operator works after each write, until nothing changes any more.

    upgraded: node and version of each driver pod that came up, in their order. ended: pods that ended.
    broken: versions whose pods crash, or (node, version). stuck: pods that no eviction ends. is_stopped: the
    operator does nothing. owners: node -> its NVIDIADriver. jobs_end: the condition with which each Job ends.
    """

    def __init__(
        self, nodes: t.Sequence[str] = ("gpu-0", "gpu-1", "gpu-2"), *pods: KubeObject, **owners: str
    ) -> None:
        self.server = FakeServer(*KINDS)
        self.clock = FakeClock()
        self.upgraded: list[tuple[str, str]] = []
        self.ended: list[str] = []
        self.broken: set[t.Any] = set()
        self.stuck: set[str] = set()
        self.jobs_end = "Complete"
        self.is_stopped = False
        self.owners = owners
        self._revisions: dict[str, list[str]] = {}
        seen = copy.deepcopy(FIXTURE)
        for key in ("revisions", "streams"):
            for one in seen[key]:
                self.server.put(one)
        (policy,) = seen["policies"]
        driver = policy["spec"]["driver"]
        driver |= {"upgradePolicy": {"autoUpgrade": True, "maxUnavailable": "100%"}}
        driver |= {"repository": "nvcr.io/nvidia", "image": "driver", "version": OLD}
        driver |= {"useNvidiaDriverCRD": True} if owners else {}
        self.server.put(policy)
        self._add_daemonsets(seen["daemonsets"])
        for node in nodes:
            self._add_node(seen, node)
        for one in pods:
            self.server.put(one)
        self.work()
        self.upgraded.clear()
        self.server.request = self.request

    def _add_daemonsets(self, daemonsets: list[KubeObject]) -> None:
        for one in daemonsets:
            if not name(one).startswith(DRIVER):
                self.server.put(one)
            elif not self.owners:
                one["spec"]["template"]["spec"]["containers"] = [{"name": "nvidia-driver-ctr", "image": ""}]
                self.server.put(one)
        (driver,) = [one for one in daemonsets if name(one).startswith(DRIVER)]
        for object_name in sorted(set(self.owners.values())):
            made = copy.deepcopy(driver)
            made["metadata"] |= {"name": f"nvidia-gpu-driver-{object_name}", "uid": f"uid-{object_name}"}
            made["metadata"]["ownerReferences"] = [
                {"kind": "NVIDIADriver", "name": object_name, "uid": object_name}
            ]
            made["spec"]["template"]["spec"]["nodeSelector"][OWNER] = object_name
            made["spec"]["template"]["spec"]["containers"] = [{"name": "nvidia-driver-ctr", "image": ""}]
            self.server.put(made)
            spec: KubeObject = {"driverType": "gpu", "repository": "nvcr.io/nvidia"}
            spec |= {"image": "driver", "version": OLD}
            spec |= {"nodeSelector": {}, "upgradePolicy": {"autoUpgrade": True, "maxUnavailable": "100%"}}
            labels = {"app.kubernetes.io/managed-by": "accelerators.openshift"}
            metadata = {"name": object_name, "labels": labels}
            kind = {"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver"}
            self.server.put({**kind, "metadata": metadata, "spec": spec, "status": {"state": "ready"}})

    def _add_node(self, seen: dict[str, list[KubeObject]], object_name: str) -> None:
        node = copy.deepcopy(seen["nodes"][0])
        node["metadata"]["name"] = object_name
        node["metadata"]["labels"] |= {"kubernetes.io/hostname": object_name, STATE: "upgrade-done"}
        if object_name in self.owners:
            node["metadata"]["labels"] |= {OWNER: self.owners[object_name]}
        self.server.put(node)
        for one in seen["pods"]:
            twin = copy.deepcopy(one)
            twin["metadata"]["name"] += f"-{object_name}"
            twin["spec"]["nodeName"] = object_name
            if not name(one).startswith(DRIVER):
                self.server.put(twin)

    def api(self, **more: t.Any) -> Api:
        """Return an Api of a new task on this server."""
        return api_on(self.server, self.clock, seconds=3600.0, **more)

    def request(self, method: str, url: str, **more: t.Any) -> Answer:
        is_write = self.count(method, url, more)
        answer = self.server.answer(method, url, **more)
        if is_write and not self.is_stopped:
            self.work()
        return answer

    def all(self, kind: str) -> list[KubeObject]:
        return [one for _key, one in sorted(self.server.objects.items()) if one["kind"] == kind]

    def must(self, kind: str, object_name: str) -> KubeObject:
        return next(one for one in self.all(kind) if name(one) == object_name)

    def node(self, object_name: str) -> KubeObject:
        return self.must("Node", object_name)

    def held(self) -> list[str]:
        return [name(one) for one in self.all("Node") if one["metadata"]["labels"].get(SKIP) == "true"]

    def versions(self) -> dict[str, str]:
        """Return node -> version of its driver pod."""
        found = {}
        for pod in self.all("Pod"):
            if name(pod).startswith("driver-"):
                image = pod["spec"]["containers"][0]["image"]
                found[pod["spec"]["nodeName"]] = image.rpartition(":")[2].partition("-")[0]
        return dict(sorted(found.items()))

    def phase(self) -> str:
        return str(self.must("ConfigMap", "gpu-driver-upgrade")["data"]["phase"])

    def work(self) -> None:
        """Let the operator work until nothing changes any more."""
        for daemonset in self._daemonsets():
            self._template(daemonset)
        for job in self.all("Job"):
            if "status" not in job:
                job["status"] = {"conditions": [{"type": self.jobs_end, "status": "True"}]}
                self.server.put(job)
        for _turn in range(20):
            before = json.dumps([self.all("Node"), self.all("Pod")])
            for node in self.all("Node"):
                self._step(node)
            if json.dumps([self.all("Node"), self.all("Pod")]) == before:
                return

    def _daemonsets(self) -> list[KubeObject]:
        return [one for one in self.all("DaemonSet") if "driver" in name(one)]

    def _section(self, daemonset: KubeObject) -> KubeObject:
        owner = daemonset["metadata"]["ownerReferences"][0]
        if owner["kind"] == "NVIDIADriver":
            return t.cast(KubeObject, self.must("NVIDIADriver", owner["name"])["spec"])
        return t.cast(KubeObject, self.must("ClusterPolicy", "gpu-cluster-policy")["spec"]["driver"])

    def _template(self, daemonset: KubeObject) -> None:
        section, uid = self._section(daemonset), daemonset["metadata"]["uid"]
        parts = [section.get(key) or "default" for key in ("repository", "image", "version")]
        image = f"{parts[0]}/{parts[1]}:{parts[2]}-rhel9.6"
        container = daemonset["spec"]["template"]["spec"]["containers"][0]
        if container["image"] == image:
            return
        container["image"] = image
        daemonset["metadata"]["generation"] += 1
        daemonset["status"]["observedGeneration"] = daemonset["metadata"]["generation"]
        self.server.put(daemonset)
        known = self._revisions.setdefault(uid, [])
        digest = hashlib.sha256(image.encode()).hexdigest()[:10]
        known.append(digest)
        self.server.put(
            {
                "apiVersion": "apps/v1",
                "kind": "ControllerRevision",
                "metadata": {
                    "name": f"{name(daemonset)}-{digest}",
                    "namespace": NAMESPACE,
                    "labels": {"controller-revision-hash": digest},
                    "ownerReferences": [{"kind": "DaemonSet", "name": name(daemonset), "uid": uid}],
                },
                "revision": 100 + len(known),
            }
        )

    def _of(self, node: KubeObject) -> KubeObject:
        owner = node["metadata"]["labels"].get(OWNER, "")
        return next(one for one in self._daemonsets() if name(one).endswith(owner) or not owner)

    def _step(self, node: KubeObject) -> None:
        daemonset = self._of(node)
        pod = next((one for one in self.all("Pod") if name(one) == f"driver-{name(node)}"), None)
        marks = node["metadata"]["labels"]
        if pod is None:
            self._start(node, daemonset)
            return
        is_behind = pod["metadata"]["labels"]["controller-revision-hash"] != self._hash(daemonset)
        is_ready = pod["status"]["conditions"][0]["status"] == "True"
        state = marks.get(STATE, "")
        if state in ("", "upgrade-done") and is_behind:
            self._mark(node, "upgrade-required")
        elif state == "upgrade-required" and marks.get(SKIP) != "true":
            self._begin(node, daemonset)
        elif state == "cordon-required":
            self._empty(node)
        elif state == "pod-restart-required":
            if is_behind:
                self._start(node, daemonset)
            elif is_ready:
                self._mark(node, "uncordon-required")
        elif state == "uncordon-required":
            node["spec"].pop("unschedulable", None)
            self._mark(node, "upgrade-done")
        elif (
            state == "upgrade-failed" and not is_behind and pod["status"]["conditions"][0]["status"] == "True"
        ):
            self._mark(node, "uncordon-required")

    def _begin(self, node: KubeObject, daemonset: KubeObject) -> None:
        others = [one for one in self.all("Node") if one is not node]
        running = [one for one in others if one["metadata"]["labels"].get(STATE) in _UNDER_WAY]
        rules = self._section(daemonset)["upgradePolicy"]
        allowed = int(len(others) + 1) if rules["maxUnavailable"] == "100%" else int(rules["maxUnavailable"])
        away = [one for one in others if one["spec"].get("unschedulable")]
        if len(running) < int(rules.get("maxParallelUpgrades", 1)) and len(away) < allowed:
            node["spec"]["unschedulable"] = True
            self._mark(node, "cordon-required")

    def _empty(self, node: KubeObject) -> None:
        here = [
            one
            for one in self.all("Pod")
            if one["spec"].get("nodeName") == name(node) and one["metadata"]["namespace"] == "team"
        ]
        if any(name(one) in self.stuck for one in here):
            self._mark(node, "upgrade-failed")
            return
        for one in here:
            self.end(name(one))
        self._mark(node, "pod-restart-required")

    def end(self, object_name: str) -> None:
        """End a pod; its name is then in `ended`."""
        for key, one in list(self.server.objects.items()):
            if one["kind"] == "Pod" and name(one) == object_name:
                del self.server.objects[key]
                self.ended.append(object_name)

    def restart(self, node: str) -> None:
        """Restart the driver pod of a node, as a reboot does."""
        self._start(self.node(node), self._of(self.node(node)))

    def _hash(self, daemonset: KubeObject) -> str:
        return self._revisions[daemonset["metadata"]["uid"]][-1]

    def _start(self, node: KubeObject, daemonset: KubeObject) -> None:
        image = daemonset["spec"]["template"]["spec"]["containers"][0]["image"]
        version = image.rpartition(":")[2].partition("-")[0]
        is_broken = version in self.broken or (name(node), version) in self.broken
        pod = copy.deepcopy(pod_of(FIXTURE, DRIVER))
        pod["metadata"] |= {
            "name": f"driver-{name(node)}",
            "labels": {"controller-revision-hash": self._hash(daemonset)},
        }
        uid = daemonset["metadata"]["uid"]
        pod["metadata"]["ownerReferences"] = [{"kind": "DaemonSet", "name": name(daemonset), "uid": uid}]
        pod["spec"] = {"nodeName": name(node), "containers": [{"name": "nvidia-driver-ctr", "image": image}]}
        pod["status"]["conditions"] = [{"type": "Ready", "status": str(not is_broken)}]
        if is_broken:
            waiting = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}
            crashing = {"name": "nvidia-driver-ctr", "ready": False, "restartCount": 4, "state": waiting}
            pod["status"]["containerStatuses"] = [crashing]
        self.server.put(pod)
        self.upgraded.append((name(node), version))

    def _mark(self, node: KubeObject, state: str) -> None:
        node["metadata"]["labels"][STATE] = state
        self.server.put(node)
