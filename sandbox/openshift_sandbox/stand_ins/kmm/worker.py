# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for KMM's workers: pods that load and unload, the status, and the ready labels of nodes.

The real ones load kernel modules.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.pod_logs import PodLogs
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.kmm import modules
from openshift_sandbox.stand_ins.kmm.images import REGISTRY
from openshift_sandbox.stand_ins.kmm.modules import ACTION, OPERATOR, Object

EXIT: t.Final = "sandbox.openshift/exit-code"
IMAGE: t.Final = "registry.redhat.io/kmm/kernel-module-management-worker-rhel9:v2.6.0"
REFUSED: t.Final = "modprobe: ERROR: could not insert '{}': {}"
UNSIGNED, UNTRUSTED = "Required key not available", "Key was rejected by service"

Key = tuple[str, str]


def by_place(entries: list[Object] | None) -> dict[Key, Object]:
    """Return entries by namespace and name of their Module."""
    return {(one["namespace"], one["name"]): one for one in entries or []}


class KmmWorkers(Reconciler):
    kinds = ("Deployment", "Module", "Node", "NodeModulesConfig", "Pod")

    def __init__(self) -> None:
        self._logs = PodLogs()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        deployment = next(
            (one for one in cluster.objects("Deployment") if one["metadata"]["name"] == OPERATOR), None
        )
        if deployment is None or not cluster.available(OPERATOR, deployment["metadata"]["namespace"]):
            return
        for config in cluster.objects("NodeModulesConfig"):
            node = cluster.find("Node", config["metadata"]["name"])
            if node is not None:
                self._node(cluster, node, config)

    def _node(self, cluster: Cluster, node: Object, config: Object) -> None:
        wanted, there = (by_place((config.get(part) or {}).get("modules")) for part in ("spec", "status"))
        boot = node["status"]["nodeInfo"]["bootID"]
        for key in sorted({*wanted, *there}):
            entry, loaded = wanted.get(key), there.get(key)
            if loaded is not None and loaded.get("bootId") != boot:
                loaded = None
            same = (
                entry is not None
                and loaded is not None
                and loaded["config"] == entry["config"]
                and loaded.get("version") == entry.get("version")
            )
            if loaded is not None and not same:
                if self._worked(cluster, node, loaded, "Unload"):
                    self._write(cluster, config, [one for place, one in there.items() if place != key])
                    return
            elif entry is not None and loaded is None and self._worked(cluster, node, entry, "Load"):
                done = entry | {"bootId": boot}
                self._write(cluster, config, [*(one for place, one in there.items() if place != key), done])
                return
        self._label(
            cluster, node, wanted, {key: one for key, one in there.items() if one.get("bootId") == boot}
        )

    def _worked(self, cluster: Cluster, node: Object, entry: Object, action: str) -> bool:
        """Return whether the pod of a worker has succeeded; delete it then."""
        name = f"kmm-worker-{node['metadata']['name']}-{entry['name']}"
        live = cluster.find("Pod", name, entry["namespace"])
        if live is None:
            self._start(cluster, node, entry, action, name)
            return False
        if live["metadata"].get("deletionTimestamp"):
            return False
        annotations = live["metadata"].get("annotations") or {}
        trouble = _refusal(cluster, node, entry) if action == "Load" else ""
        if trouble and EXIT not in annotations:
            self._logs.write(cluster, live, ["Running modprobe", trouble])
            cluster.patch("Pod", name, entry["namespace"], {"metadata": {"annotations": {EXIT: "1"}}})
        phase, done = (live.get("status") or {}).get("phase"), live["metadata"]["labels"][ACTION] == action
        if (phase == "Succeeded" and not trouble) or not done or (EXIT in annotations and not trouble):
            cluster.delete("Pod", name, entry["namespace"])
        return bool(phase == "Succeeded" and done and not trouble)

    def _start(self, cluster: Cluster, node: Object, entry: Object, action: str, name: str) -> None:
        module = cluster.find("Module", entry["name"], entry["namespace"])
        if module is not None:
            labels = {
                ACTION: action,
                "app.kubernetes.io/component": "worker",
                "app.kubernetes.io/name": "kmm",
            }
            cluster.create(
                modules.pod(
                    module,
                    name,
                    labels,
                    IMAGE,
                    node["metadata"]["name"],
                    ["/usr/local/bin/worker", "kmod", action.lower()],
                )
            )

    def _write(self, cluster: Cluster, config: Object, entries: list[Object]) -> None:
        cluster.patch(
            "NodeModulesConfig", config["metadata"]["name"], None, {"status": {"modules": entries}}, "status"
        )

    def _label(
        self, cluster: Cluster, node: Object, wanted: t.Mapping[Key, Object], loaded: t.Mapping[Key, Object]
    ) -> None:
        labels, changes = node["metadata"].get("labels") or {}, dict[str, str | None]()
        right: dict[str, str] = {}
        for key, entry in loaded.items():
            if key in wanted and wanted[key]["config"] == entry["config"]:
                right[modules.ready_label(entry)] = ""
                if entry.get("version"):
                    right[modules.version_ready_label(entry)] = entry["version"]
        ours = {key for key in labels if key.startswith(f"{modules.PREFIX}/") and key.endswith(".ready")}
        changes.update(dict.fromkeys(ours - set(right)))
        changes.update({key: value for key, value in right.items() if labels.get(key) != value})
        if changes:
            cluster.patch("Node", node["metadata"]["name"], None, {"metadata": {"labels": changes}})


def _refusal(cluster: Cluster, node: Object, entry: Object) -> str:
    """Return what modprobe says where it fails.

    A node with Secure Boot wants modules that are signed for a certificate it trusts.
    """
    config, signed = entry["config"], REGISTRY.get(entry["config"]["containerImage"], "")
    if trouble := on_node(cluster, "kmm_worker_fails", node):
        return str(trouble.get("text", REFUSED.format(config["modprobe"]["moduleName"], UNSIGNED)))
    boot = on_node(cluster, "kmm_secure_boot", node)
    if boot is None or (signed and signed == boot.get("trusts", signed)):
        return ""
    return REFUSED.format(config["modprobe"]["moduleName"], UNTRUSTED if signed else UNSIGNED)
