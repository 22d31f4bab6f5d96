# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for KMM 2.6 with the DRA of 2.7: it turns Modules into NodeModulesConfigs and device plugins.

The real one also orders upgrades by labels of its own.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.pod_fit import tolerated
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Reconciler
from openshift_sandbox.stand_ins.kmm import modules
from openshift_sandbox.stand_ins.kmm.images import Images
from openshift_sandbox.stand_ins.kmm.modules import API, OPERATOR, Object

FINALIZER: t.Final = "kmm.node.kubernetes.io/module-finalizer"
PLUGINS: t.Final = (("devicePlugin", "device-plugin"), ("dra", "dra"))


def matching(module: Object, nodes: t.Iterable[Object]) -> list[Object]:
    """Return the nodes that the selector matches and whose taints are tolerated; KMM ignores the others."""
    selector, tolerations = module["spec"]["selector"], module["spec"].get("tolerations") or []
    found = [node for node in nodes if selector.items() <= (node["metadata"].get("labels") or {}).items()]
    hard = ("NoSchedule", "NoExecute")
    return [
        node
        for node in found
        if all(
            tolerated(one, tolerations) for one in node["spec"].get("taints") or [] if one["effect"] in hard
        )
    ]


def entry(module: Object, config: Object) -> Object:
    """Return the entry of a Module in a NodeModulesConfig."""
    namespace, name = modules.place(module)
    version = modules.container(module).get("version")
    found = {
        "name": name,
        "namespace": namespace,
        "serviceAccountName": modules.account(module),
        "config": config,
    }
    return found | ({"version": version} if version else {})


def plugin(module: Object, key: str, role: str) -> Object:
    """Return the DaemonSet for nodes that have loaded the kernel module of this version."""
    (namespace, name), version = modules.place(module), modules.container(module).get("version")
    part, loaded = module["spec"][key], {modules.ready_label(module): ""}
    labels = {modules.MODULE: name, f"{modules.PREFIX}/role": role} | (
        {"version": version} if version else {}
    )
    pod = {
        "nodeSelector": loaded | ({modules.version_ready_label(module): version} if version else {}),
        "tolerations": module["spec"].get("tolerations") or [],
        "serviceAccountName": part.get("serviceAccountName") or "default",
        "containers": [
            {"name": role}
            | {
                field: part["container"][field]
                for field in ("image", "args", "command")
                if field in part["container"]
            }
        ],
    }
    metadata = {
        "name": f"{name}-{role}-{modules.digest(name, version)}",
        "namespace": namespace,
        "labels": labels,
        "ownerReferences": [modules.owner(module)],
    }
    body = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": body}


class KmmOperator(Reconciler):
    kinds = ("Build", "DaemonSet", "Deployment", "Module", "Node", "NodeModulesConfig", "Pod", "Secret")

    def __init__(self) -> None:
        self._images = Images()
        self._plugins: dict[str, Object] = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        deployment = next(
            (one for one in cluster.objects("Deployment") if one["metadata"]["name"] == OPERATOR), None
        )
        if deployment is None or not cluster.available(OPERATOR, deployment["metadata"]["namespace"]):
            return
        for module in cluster.objects("Module"):
            if module["metadata"].get("deletionTimestamp"):
                self._leave(cluster, module)
            elif cluster.due(module["metadata"]["uid"], "kmm_operator", 0.2):
                self._serve(cluster, module)

    def _serve(self, cluster: Cluster, module: Object) -> None:
        if FINALIZER not in (module["metadata"].get("finalizers") or []):
            self._patch(cluster, module, {"metadata": {"finalizers": [FINALIZER]}})
        nodes = matching(module, cluster.objects("Node"))
        chosen = {node["metadata"]["name"] for node in nodes}
        for node in cluster.objects("Node"):
            if node["metadata"]["name"] in chosen:
                self._schedule(cluster, module, node)
            else:
                self._withdraw(cluster, module, node["metadata"]["name"])
        status = {"moduleLoader": self._numbers(cluster, module, nodes)}
        for key, role in PLUGINS:
            status |= (
                {key: self._run(cluster, module, key, role, len(nodes))} if module["spec"].get(key) else {}
            )
        if {key: (module.get("status") or {}).get(key) for key in status} != status:
            self._patch(cluster, module, {"status": status}, "status")

    def _schedule(self, cluster: Cluster, module: Object, node: Object) -> None:
        """Write the configuration of a node.

        A node of another version keeps its own; a node without a version label loses it.
        """
        kernel, name = modules.kernel_of(node), node["metadata"]["name"]
        version, mapping = modules.container(module).get("version"), modules.mapping_for(module, kernel)
        label = (node["metadata"].get("labels") or {}).get(modules.version_label(module))
        if mapping is None or (version and label is None):
            self._withdraw(cluster, module, name)
        elif (not version or label == version) and self._images.has(cluster, module, mapping, kernel):
            self._write(cluster, name, module, entry(module, modules.config_for(module, kernel) or {}))

    def _withdraw(self, cluster: Cluster, module: Object, node: str) -> None:
        self._write(cluster, node, module, None)

    def _write(self, cluster: Cluster, node: str, module: Object, wanted: Object | None) -> None:
        live = cluster.find("NodeModulesConfig", node)
        before = ((live or {}).get("spec") or {}).get("modules") or []
        others = [one for one in before if (one["namespace"], one["name"]) != modules.place(module)]
        after = others + ([wanted] if wanted else [])
        if live is None and wanted:
            cluster.create(
                {
                    "apiVersion": API,
                    "kind": "NodeModulesConfig",
                    "metadata": {"name": node},
                    "spec": {"modules": after},
                }
            )
        elif (
            live is not None
            and sorted(map(str, before)) != sorted(map(str, after))
            and not _alike(before, after)
        ):
            cluster.patch("NodeModulesConfig", node, None, {"spec": {"modules": after}})

    def _numbers(self, cluster: Cluster, module: Object, nodes: list[Object]) -> Object:
        desired = available = 0
        for node in nodes:
            live = cluster.find("NodeModulesConfig", node["metadata"]["name"]) or {}
            wanted, there = (
                find((live.get(part) or {}).get("modules"), module) for part in ("spec", "status")
            )
            desired += wanted is not None
            available += wanted is not None and there is not None and there["config"] == wanted["config"]
        return {
            "nodesMatchingSelectorNumber": len(nodes),
            "desiredNumber": desired,
            "availableNumber": available,
        }

    def _run(self, cluster: Cluster, module: Object, key: str, role: str, count: int) -> Object:
        wanted = plugin(module, key, role)
        name, namespace = wanted["metadata"]["name"], wanted["metadata"]["namespace"]
        live = cluster.find("DaemonSet", name, namespace)
        if live is None or self._plugins.get(name) != wanted:
            live, self._plugins[name] = cluster.apply(wanted), wanted
        mine = [
            one
            for one in cluster.objects("DaemonSet", namespace)
            if (one["metadata"].get("labels") or {}).get(modules.MODULE) == module["metadata"]["name"]
        ]
        for other in mine:
            status = other.get("status") or {}
            idle = status.get("observedGeneration") == other["metadata"].get("generation") and not status.get(
                "desiredNumberScheduled"
            )
            if (
                other["metadata"]["name"] != name
                and other["metadata"]["labels"].get(f"{modules.PREFIX}/role") == role
                and idle
            ):
                cluster.delete("DaemonSet", other["metadata"]["name"], namespace)
        ready = sum(
            (one.get("status") or {}).get("numberAvailable", 0)
            for one in mine
            if one["metadata"]["labels"].get(f"{modules.PREFIX}/role") == role
        )
        return {"nodesMatchingSelectorNumber": count, "desiredNumber": count, "availableNumber": ready}

    def _leave(self, cluster: Cluster, module: Object) -> None:
        """Delete the plugins, let every node unload, then let the Module go."""
        for live in cluster.objects("DaemonSet", module["metadata"]["namespace"]):
            if any(
                one["uid"] == module["metadata"]["uid"]
                for one in live["metadata"].get("ownerReferences") or []
            ):
                cluster.delete("DaemonSet", live["metadata"]["name"], live["metadata"]["namespace"])
        loaded = False
        for live in cluster.objects("NodeModulesConfig"):
            self._withdraw(cluster, module, live["metadata"]["name"])
            loaded |= (
                find((live.get("status") or {}).get("modules"), module) is not None
                or find((live.get("spec") or {}).get("modules"), module) is not None
            )
        if not loaded and FINALIZER in (module["metadata"].get("finalizers") or []):
            self._patch(
                cluster,
                module,
                {
                    "metadata": {
                        "finalizers": [one for one in module["metadata"]["finalizers"] if one != FINALIZER]
                    }
                },
            )

    def _patch(self, cluster: Cluster, module: Object, body: Object, subresource: str | None = None) -> None:
        cluster.patch(
            "Module", module["metadata"]["name"], module["metadata"]["namespace"], body, subresource
        )


def find(entries: list[Object] | None, module: Object) -> Object | None:
    """Return the entry of a Module, or None."""
    return next(
        (one for one in entries or [] if (one["namespace"], one["name"]) == modules.place(module)), None
    )


def _alike(one: list[Object], other: list[Object]) -> bool:
    """Return whether two lists of entries are the same, in any order, whatever the API server added."""
    return len(one) == len(other) and all(any(_within(wanted, there) for there in one) for wanted in other)


def _within(wanted: t.Any, there: t.Any) -> bool:
    if isinstance(wanted, dict):
        return isinstance(there, dict) and all(
            key in there and _within(value, there[key]) for key, value in wanted.items()
        )
    return bool(wanted == there)
