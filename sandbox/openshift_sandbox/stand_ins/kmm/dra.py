# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for KMM's DeviceClasses, and for the DRA drivers of its Modules.

The real drivers find devices; here the argument --devices of a Ready pod is the slice.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node
from openshift_sandbox.stand_ins.device_plugins.any_vendor import DEVICES
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import ready_on
from openshift_sandbox.stand_ins.kmm import modules
from openshift_sandbox.stand_ins.kmm.modules import Object

NAMESPACE: t.Final = f"{modules.PREFIX}/module.namespace"
ROLE: t.Final = f"{modules.PREFIX}/role"


def resource_slice(node: Object, driver: str, count: int) -> Object:
    """Return the slice of a driver on a node."""
    name = node["metadata"]["name"]
    devices = [
        {"name": f"card-{index}", "attributes": {"serial": {"string": f"{name}-{index}"}}}
        for index in range(count)
    ]
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    metadata = {"name": f"{name}-{driver}", "ownerReferences": [owner]}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": metadata,
        "spec": {"driver": driver, "nodeName": name, "pool": pool, "devices": devices},
    }


class KmmDra(Reconciler):
    kinds = ("DeviceClass", "Module", "Node", "Pod", "ResourceSlice")

    def __init__(self) -> None:
        self._published: dict[str, Object] = {}

    def reconcile(self, cluster: Cluster, now: float) -> None:
        wanted: dict[str, Object] = {}
        for module in cluster.objects("Module"):
            dra = module["spec"].get("dra")
            if dra and not module["metadata"].get("deletionTimestamp"):
                wanted |= {one["metadata"]["name"]: one for one in self._slices(cluster, module, dra)}
            self._classes(
                cluster,
                module,
                [] if module["metadata"].get("deletionTimestamp") else (dra or {}).get("deviceClasses") or [],
            )
        for name in sorted(set(self._published) - set(wanted)):
            cluster.delete("ResourceSlice", name)
            del self._published[name]
        for name, one in wanted.items():
            if self._published.get(name) != one or cluster.find("ResourceSlice", name) is None:
                cluster.apply(one)
                self._published[name] = one

    def _slices(self, cluster: Cluster, module: Object, dra: Object) -> t.Iterator[Object]:
        count = next(
            (
                int(one.removeprefix(DEVICES))
                for one in dra["container"].get("args") or ()
                if one.startswith(DEVICES)
            ),
            0,
        )
        marks = {modules.MODULE: module["metadata"]["name"], ROLE: "dra"}
        running = ready_on(
            cluster.objects("Pod", module["metadata"]["namespace"]),
            lambda pod: marks.items() <= (pod["metadata"].get("labels") or {}).items(),
        )
        for node in cluster.objects("Node"):
            if node["metadata"]["name"] in running:
                lost = on_node(cluster, "devices_lost", node)
                yield resource_slice(
                    node, dra["driverName"], max(count - (int(lost.get("count", 1)) if lost else 0), 0)
                )

    def _classes(self, cluster: Cluster, module: Object, asked: t.Sequence[Object]) -> None:
        namespace, name = modules.place(module)
        marks = {modules.MODULE: name, NAMESPACE: namespace}
        there = {
            one["metadata"]["name"]: one
            for one in cluster.objects("DeviceClass")
            if marks.items() <= (one["metadata"].get("labels") or {}).items()
        }
        for one in asked:
            if one["name"] not in there:
                spec = {key: one[key] for key in ("selectors", "config") if key in one}
                cluster.apply(
                    {
                        "apiVersion": "resource.k8s.io/v1",
                        "kind": "DeviceClass",
                        "metadata": {"name": one["name"], "labels": marks},
                        "spec": spec,
                    }
                )
        for gone in set(there) - {one["name"] for one in asked}:
            cluster.delete("DeviceClass", gone)
