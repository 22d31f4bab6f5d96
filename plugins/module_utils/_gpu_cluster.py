# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""GPUCluster: from options to a manifest, and the truth about the DRA stack, which ResourceSlices tell instead of allocatable."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _cluster_policy as cluster_policy
from ansible_collections.accelerators.openshift.plugins.module_utils import _geometry_live as geometry
from ansible_collections.accelerators.openshift.plugins.module_utils import _gpu_cluster_options, _resource_slices
from ansible_collections.accelerators.openshift.plugins.module_utils import _operands as operands
from ansible_collections.accelerators.openshift.plugins.module_utils._cluster_policy_options import spec as fields
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import InputError, NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._node_labels import NVIDIA_PCI, has_nvidia_pci
from ansible_collections.accelerators.openshift.plugins.module_utils._pool_nodes import judge_size, nodes_of
from ansible_collections.accelerators.openshift.plugins.module_utils._readiness import Readiness, failed, pending, ready
from ansible_collections.accelerators.openshift.plugins.module_utils._stack_pods import judge_pods

Data = dict[str, t.Any]
Snapshot = t.Mapping[str, t.Sequence[Data]]

API_VERSION: t.Final = "nvidia.com/v1alpha1"
NAME: t.Final = "gpu-cluster"
# Seen in the first moments of every healthy start, and final when they last.
PASSING: t.Final = ("GPU-NFD-EMPTY", "GPU-DRV-CRASH", "GPU-OPERAND-CRASH", "GPU-IMAGE", "GPU-MODE", "GPU-DRA-SLICES")
COMPONENTS: t.Final = ("dra-driver", "dra-validator", "dcgm-dra", "dcgm-exporter-dra")


def check(params: Data) -> None:
    if params["name"] != NAME:
        raise InputError("INPUT-VALUE", f"name is {params['name']!r}: a GPUCluster has to be named {NAME}.", f"Leave name out, or set {NAME}.")
    for part in ("dra_driver", "dcgm", "dcgm_exporter"):
        cluster_policy.check_image((params.get("gpu_cluster") or {}).get(part) or {}, f"gpu_cluster.{part}", "INPUT-DRIVER-IMAGE")


def refuse_policy(policies: t.Iterable[Data]) -> None:
    """Told before the first write: beside a ClusterPolicy neither stack would run."""
    names = sorted(str(one["metadata"]["name"]) for one in policies)
    if names:
        raise NotReadyError(
            "GPU-CP-CONFLICT",
            f"ClusterPolicy {names[0]} exists, and a GPUCluster beside it stops both; the operator moves no node from one stack to the other.",
            "Take it away first (special_resource with state: absent, when no pod needs its GPUs any more), or keep backend clusterpolicy.",
            [f"clusterpolicy/{name}" for name in names],
        )


def build(params: Data, example: Data, live: Data | None) -> Data:
    wishes = fields({"gpu_cluster": params.get("gpu_cluster")}, _gpu_cluster_options.TABLE).get("gpuCluster") or {}
    domains = (wishes.get("draDriver") or {}).get("computeDomains")
    if domains is not None:
        wishes["draDriver"]["computeDomains"] = {"enabled": domains}
    spec = cluster_policy.merge(example, cluster_policy.merge(wishes, params["spec"]))
    spec.setdefault("draDriver", {})
    spec.setdefault("daemonsets", {})["tolerations"] = cluster_policy.wanted_tolerations(params, live)
    return {"apiVersion": API_VERSION, "kind": "GPUCluster", "metadata": {"name": NAME}, "spec": spec}


def judge(snapshot: Snapshot, pools: t.Sequence[Data]) -> list[Readiness]:
    """Causes come before consequences; the last part is what the operator says of itself."""
    live = next((one for one in snapshot["clusters"] if one["metadata"]["name"] == NAME), None)
    if live is None:
        return [pending("NoCluster", f"GPUCluster {NAME} is not there yet.", code="GPU-DRA-NOTREADY", remedy="Look at the events of the GPU operator.")]
    error = cluster_policy.condition(live, "Error")
    if error.get("status") == "True" and error.get("reason") == "PrerequisiteNotMet":
        remedy = "Keep one of the two stacks; the ClusterPolicy has to go before a GPUCluster is made."
        return [failed("Conflict", f"GPUCluster {NAME}: {error.get('message', '')}", code="GPU-CP-CONFLICT", remedy=remedy)]
    parts = [judge_size(snapshot["nodes"], pool) for pool in pools]
    parts += [part for pool in pools for node in nodes_of(snapshot["nodes"], pool) for part in _judge_node(node, pool, snapshot)]
    return [*parts, _judge_status(live, error)]


def _judge_node(node: Data, pool: Data, snapshot: Snapshot) -> list[Readiness]:
    name, marks = node["metadata"]["name"], geometry.labels(node)
    if not has_nvidia_pci(marks):
        remedy = "Look at nfd-worker on that node, and at the PCI classes of the NodeFeatureDiscovery."
        return [_part(name, "Label", f"label {NVIDIA_PCI} is missing, so the operator leaves the node out", "GPU-NFD-EMPTY", remedy)]
    if marks.get(operands.MODE, "dra") != "dra":
        remedy = f"It is left over from the other stack: `oc label node {name} {operands.MODE}-`."
        return [_part(name, "Mode", f"label {operands.MODE} is {marks[operands.MODE]}", "GPU-MODE", remedy)]
    here = [one for one in snapshot["daemonsets"] if operands.is_operand(one) and operands.matches(operands.selector(one), marks)]
    if blocked := sorted({taint for one in here for taint in operands.untolerated(node, operands.tolerations(one))}):
        return [_part(name, "Taint", f"taint {', '.join(blocked)} is not tolerated by the operator's pods", "GPU-TAINT", "Add it to tolerations.")]
    pods = {pod["metadata"]["name"]: pod for pod in snapshot["pods"]}
    found = operands.on_node(node, snapshot["daemonsets"], snapshot["pods"], operands.current_revisions(snapshot["revisions"]))
    served = {one.component for one in found}
    lacking = [part for part in COMPONENTS if marks.get(operands.DEPLOY + part) == "true" and part not in served and part in COMPONENTS[:2]]
    late = judge_pods(node, [(one, pods.get(one.pod)) for one in found if not one.ready], lacking)
    if late:
        return list(late)
    if lacking or "dra-driver" not in served:
        what = f"{' and '.join(lacking) or 'the DRA driver'} has no DaemonSet for it yet"
        return [_part(name, "Lacking", what, "GPU-OPERAND-LACKING", "Look at the log of the GPU operator.")]
    return _judge_devices(name, node, pool, snapshot)


def _judge_devices(name: str, node: Data, pool: Data, snapshot: Snapshot) -> list[Readiness]:
    offer = _resource_slices.offer(name, snapshot["slices"])
    offered, wanted = _resource_slices.resources(offer.devices), geometry.expected(node, pool.get("expected") or {})
    remedy = f"Look at `oc get resourceslices --field-selector spec.nodeName={name} -o yaml` and at the log of its nvidia-dra-driver-kubelet-plugin pod."
    if not offer.complete:
        return [_part(name, "Slices", "its ResourceSlices are not all there", "GPU-DRA-SLICES", remedy)]
    wrong = [f"{offered.get(one, 0)} of {number} {one}" for one, number in wanted.items() if offered.get(one, 0) != number]
    if wrong or not offered:
        return [_part(name, "Slices", f"its ResourceSlices offer {', '.join(wrong) or 'no device'}", "GPU-DRA-SLICES", remedy)]
    return []


def _judge_status(live: Data, error: Data) -> Readiness:
    if cluster_policy.state(live) == "ready":
        return ready("Reconciled")
    said = f": {error['message']}" if error.get("message") else ""
    message = f"GPUCluster {NAME} is {cluster_policy.state(live) or 'without a state'}{said}."
    return pending("NotReady", message, code="GPU-DRA-NOTREADY", remedy=f"Look at `oc describe gpucluster {NAME}` and at the log of the GPU operator.")


def _part(node: str, reason: str, what: str, code: str, remedy: str) -> Readiness:
    return pending(f"{reason}:{node}", f"Node {node}: {what}.", code=code, remedy=remedy, details=(f"{node}: {what}",))


def summarize(snapshot: Snapshot, pools: t.Sequence[Data]) -> Data:
    live = next((one for one in snapshot["clusters"] if one["metadata"]["name"] == NAME), dict[str, t.Any]())
    nodes = []
    for pool in pools:
        for node in nodes_of(snapshot["nodes"], pool):
            devices = _resource_slices.offer(node["metadata"]["name"], snapshot["slices"]).devices
            shown = [
                {"name": one["name"], **{key: _resource_slices.attribute(one, key) for key in ("uuid", "productName", "driverVersion")}} for one in devices
            ]
            expected, offered = geometry.expected(node, pool.get("expected") or {}), _resource_slices.resources(devices)
            nodes.append({"name": node["metadata"]["name"], "pool": pool["name"], "expected": expected, "offered": offered, "devices": shown})
    version = next((device["driverVersion"] for node in nodes for device in node["devices"]), "")
    return {"name": NAME, "state": cluster_policy.state(live), "reason": cluster_policy.reason(live), "driver_version": version, "nodes": nodes}
