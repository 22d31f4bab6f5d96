# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for programs on GPUs: it gives devices to pods, writes their output and ends them.

The real programs compute; here nothing is computed. A short sleep of a real program takes no time here; a pod
that sleeps for longer than a minute runs until it is deleted.
"""

from __future__ import annotations

import re
import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.hardware.gpus import Gpu
from openshift_sandbox.stand_ins.core.pod_logs import PodLogs
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import place
from openshift_sandbox.stand_ins.gpu_operator import measured, output as gpu_output, programs
from openshift_sandbox.stand_ins.gpu_operator.feature_discovery import CUDA, driver_version
from openshift_sandbox.stand_ins.gpu_operator.gpu_cluster import DRIVER
from openshift_sandbox.stand_ins.gpu_operator.node import plugins
from openshift_sandbox.stand_ins.gpu_operator.rules.devices import ENDED, devices_wanted, wanted_by_name
from openshift_sandbox.stand_ins.gpu_operator.sharing import geometry, process
from openshift_sandbox.stand_ins.gpu_operator.sharing.config import RENAMED

BENCHMARK: t.Final = "accelerators.openshift/benchmark"
EXIT_CODE: t.Final = "sandbox.openshift/exit-code"
DEVICES: t.Final = "sandbox.openshift/devices"
# Seconds of a sleep that takes no time here.
LONG: t.Final = 60.0
PROGRAMS: t.Final = (
    ("matmul", "matmul"),
    ("vectorAdd", "vectoradd"),
    ("vectoradd", "vectoradd"),
    ("nvidia-smi", "nvidia_smi"),
)


def devices_claimed(cluster: Cluster, pod: Object, cuts: t.Sequence[geometry.Cut]) -> list[str]:
    """Return the devices that the scheduler gave to a pod's claims. cuts: of the GPUs of its node."""
    names = [one.get("resourceClaimName") for one in pod["status"].get("resourceClaimStatuses") or []]
    names += [one.get("resourceClaimName") for one in pod["spec"].get("resourceClaims") or []]
    claims = [cluster.find("ResourceClaim", name, pod["metadata"]["namespace"]) for name in names if name]
    given = [
        one
        for claim in claims
        if claim
        for one in ((claim.get("status") or {}).get("allocation") or {}).get("devices", {}).get("results")
        or []
    ]
    known = geometry.dra_devices(cuts)
    return sorted(known[one["device"]] for one in given if one["driver"] == DRIVER and one["device"] in known)


def program(pod: Object) -> str | None:
    """Return what a pod runs: by its benchmark label, else by a word in its command or image."""
    label = (pod["metadata"].get("labels") or {}).get(BENCHMARK)
    if label:
        return str(label)
    words = " ".join(
        " ".join([one.get("image", ""), *one.get("command", []), *one.get("args", [])])
        for one in pod["spec"]["containers"]
    )
    return next((name for text, name in PROGRAMS if text in words), None)


def output(
    what: str | None,
    gpu: instance_types.Gpu,
    node: str,
    devices: t.Sequence[int],
    driver: str,
    parts: t.Sequence[str] = (),
) -> list[str]:
    """Return what a program prints; `parts` are its MIG devices."""
    listed = gpu_output.device_list(gpu, node, devices, parts)
    if what == "nvidia_smi":
        return [*listed, *gpu_output.nvidia_smi(gpu, devices, driver, CUDA)]
    return [*listed, *(gpu_output.VECTOR_ADD if what == "vectoradd" else ())]


def script(pod: Object) -> str:
    """Return what the containers of the pod run."""
    return " ".join(
        " ".join([*one.get("command", []), *one.get("args", [])]) for one in pod["spec"]["containers"]
    )


def partners(cluster: Cluster, pod: Object) -> list[Object]:
    """Return the nodes of the pods that work together with this one: those of its subdomain and its group."""
    domain, group = pod["spec"].get("subdomain"), str(pod["spec"].get("hostname", "")).partition("-")[0]
    names = [
        other["spec"].get("nodeName") or ""
        for other in cluster.objects("Pod")
        if domain
        and other["spec"].get("subdomain") == domain
        and other["spec"].get("hostname", "").partition("-")[0] == group
    ]
    return [node for node in (cluster.find("Node", name) for name in names) if node]


def sleeps(pod: Object) -> bool:
    """Return True if a container of the pod sleeps for longer than a minute after its program."""
    return any(float(found) > LONG for found in re.findall(r"\bsleep (\d+(?:\.\d+)?)", script(pod)))


def choose(count: int, present: int, used: t.Mapping[int, tuple[int, int]]) -> list[int]:
    """Return devices as `count` pods would get them one after the other.

    Those with the fewest live users come first, then those unused for the longest time.
    """
    return (
        sorted(range(present), key=lambda index: (*used.get(index, (0, 0)), index))[:count] if present else []
    )


def there(node: Object, gpus: int, plugin: Object | None, resource: str) -> list[str]:
    """Return the devices of a resource on a node, as its plugin knows them."""
    if plugin is None:
        return [str(index) for index in range(gpus)]
    shared, cuts = process.config(plugin), geometry.cuts(node, gpus)
    asked = resource.removesuffix(RENAMED) if shared.renames else resource
    return geometry.indexes(cuts, process.mig_strategy(plugin), asked)


class GpuWorkloads(Reconciler):
    kinds = ("Node", "Pod", "ResourceClaim")

    def __init__(self) -> None:
        self._logs = PodLogs()
        self._last: dict[tuple[str, str], int] = {}
        self._turn = 0
        # What each pod got, by its uid: the annotation may be seen only later.
        self._given: dict[str, list[str]] = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        self._logs.silence(cluster)
        pods = cluster.objects("Pod")
        serving = plugins(pods)
        for pod in pods:
            node = cluster.find("Node", pod["spec"].get("nodeName") or "")
            if node is None or pod["metadata"].get("deletionTimestamp"):
                continue
            plugin = serving.get(node["metadata"]["name"])
            if devices_wanted(pod) or pod["spec"].get("resourceClaims"):
                self._workload(cluster, pod, node, pods, plugin)
        there_now = {pod["metadata"]["uid"] for pod in pods}
        self._logs.keep_only(there_now)
        self._given = {uid: devices for uid, devices in self._given.items() if uid in there_now}

    def _workload(
        self, cluster: Cluster, pod: Object, node: Object, pods: list[Object], plugin: Object | None
    ) -> None:
        annotations = pod["metadata"].get("annotations") or {}
        made_of = instance_types.of_node(node)
        if EXIT_CODE in annotations or pod["status"].get("phase") != "Running":
            return
        if DEVICES not in annotations and pod["metadata"]["uid"] in self._given:
            return
        if made_of is None or made_of.gpu is None:
            return
        if DEVICES in annotations:
            devices = [one for one in annotations[DEVICES].split(",") if one]
            driver = driver_version(pods, node["metadata"]["name"])
            self._run(cluster, pod, node, made_of.gpu, devices, driver)
            return
        name, wanted = node["metadata"]["name"], wanted_by_name(pod)
        cuts = geometry.cuts(node, made_of.gpus)
        devices = [] if wanted else devices_claimed(cluster, pod, cuts)
        for resource, count in wanted.items():
            devices += self.allocate(name, count, there(node, made_of.gpus, plugin, resource), pods)
        if devices:
            self._given[pod["metadata"]["uid"]] = devices
            _annotate(cluster, pod, {DEVICES: ",".join(devices)})

    def _run(
        self, cluster: Cluster, pod: Object, node: Object, gpu: Gpu, given: list[str], driver: str
    ) -> None:
        """Print what the program prints, and end it after its time."""
        name = node["metadata"]["name"]
        devices = list(dict.fromkeys(int(one.partition(":")[0]) for one in given))
        parts = [one for one in given if ":" in one]
        trouble = cluster.trouble("cuda_fails", **place(node), version=driver)
        made_of = instance_types.of_node(node)
        printed = programs.output(
            program(pod),
            measured.Place(
                cluster,
                node,
                gpu,
                devices,
                parts,
                script(pod),
                str(pod["spec"]["containers"][0].get("image", "")),
                made_of.nic if made_of else None,
                partners(cluster, pod),
                pod,
            ),
        )
        lines = [*output(program(pod), gpu, name, devices, driver, parts), *printed.lines]
        if trouble:
            text = trouble.get("text", gpu_output.CUDA_FAILURE)
            lines = [*gpu_output.device_list(gpu, name, devices, parts), *text.splitlines()]
        self._logs.write(cluster, pod, lines)
        ends = pod["spec"].get("restartPolicy") in ("Never", "OnFailure")
        if ends and not sleeps(pod) and cluster.due(pod["metadata"]["uid"], "workload", 0.3):
            code = str(trouble.get("exit_code", 1) if trouble else printed.code)
            _annotate(cluster, pod, {EXIT_CODE: code})

    def allocate(self, node: str, count: int, present: list[str], pods: list[Object]) -> list[str]:
        """Return the devices for a pod.

        Pods of one run get different devices, even when they only follow each other.
        """
        users: dict[str, int] = {}
        for pod in pods:
            if pod["spec"].get("nodeName") == node and pod["status"].get("phase") not in ENDED:
                for device in self._held(pod):
                    users[device] = users.get(device, 0) + 1
        used = {
            index: (users.get(device, 0), self._last.get((node, device), 0))
            for index, device in enumerate(present)
        }
        chosen = [present[index] for index in choose(count, len(present), used)]
        self._turn += 1
        self._last |= {(node, device): self._turn for device in chosen}
        return chosen

    def _held(self, pod: Object) -> list[str]:
        told = (pod["metadata"].get("annotations") or {}).get(DEVICES, "")
        return told.split(",") if told else self._given.get(pod["metadata"]["uid"], [])


def _annotate(cluster: Cluster, pod: Object, annotations: dict[str, str]) -> None:
    metadata = pod["metadata"]
    cluster.patch("Pod", metadata["name"], metadata["namespace"], {"metadata": {"annotations": annotations}})
