# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the network operator where its networks become definitions for Multus.

The real one pastes the text `ipam` into the definition as it is: whether it is JSON is for the webhook of
Multus to say. Like the real one it keeps `reason` after an error is over.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.client import ApiError
from openshift_sandbox.stand_ins.cluster_network.attachments import RESOURCE
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.network_operator.operator import operator_of

API: t.Final = "mellanox.com/v1alpha1"
DEFINITION: t.Final = "NetworkAttachmentDefinition"
PREFIX: t.Final = "nvidia.com/"
# Kind -> the field of the status that names the definition.
KINDS: t.Final = {
    "HostDeviceNetwork": "hostDeviceNetworkAttachmentDef",
    "IPoIBNetwork": "ipoibNetworkAttachmentDef",
    "MacvlanNetwork": "macvlanNetworkAttachmentDef",
}


class NicNetworks(Reconciler):
    kinds = ("Deployment", "Namespace", DEFINITION, *KINDS)

    def reconcile(self, cluster: Cluster, now: float) -> None:
        if operator_of(cluster) is None:
            return
        for kind in KINDS:
            for network in cluster.objects(kind):
                uid = network["metadata"]["uid"]
                if not network["metadata"].get("deletionTimestamp") and cluster.due(
                    uid, "network_operator", 0.3
                ):
                    self._keep(cluster, network)

    def _keep(self, cluster: Cluster, network: Object) -> None:
        kind, name, spec = network["kind"], network["metadata"]["name"], network.get("spec") or {}
        if "'" in spec.get("ipam", ""):
            text = "failed to render objects: error converting YAML to JSON: yaml: did not find expected key"
            self._write(cluster, network, {"state": "error", "reason": f"failed to render {kind}: {text}"})
            return
        wanted = definition(network)
        namespace, last_key = wanted["metadata"]["namespace"], last_namespace(kind)
        last = (network["metadata"].get("annotations") or {}).get(last_key)
        if last and last != namespace:
            cluster.delete(DEFINITION, name, last)
        live = cluster.find(DEFINITION, name, namespace)
        try:
            if live is None or live["spec"] != wanted["spec"]:
                cluster.apply(wanted)
        except ApiError as error:
            if error.status not in (400, 403, 404):
                raise
            reason = f"failed to create/update objects: {error.message}"
            self._write(cluster, network, {"state": "notReady", "reason": reason})
            return
        if kind != "HostDeviceNetwork" and last != namespace:
            body = {"metadata": {"annotations": {last_key: namespace}}}
            cluster.patch(kind, name, None, body)
        link = f"k8s.cni.cncf.io/v1/namespaces/{namespace}/{DEFINITION}/{name}"
        self._write(cluster, network, {"state": "ready", KINDS[kind]: link})

    def _write(self, cluster: Cluster, network: Object, wanted: Object) -> None:
        before = network.get("status") or {}
        if any(before.get(key) != value for key, value in wanted.items()):
            cluster.patch(network["kind"], network["metadata"]["name"], None, {"status": wanted}, "status")


def last_namespace(kind: str) -> str:
    """Return the annotation that says where the definition of a network was last."""
    return f"operator.{kind.lower()}.mellanox.com/last-network-namespace"


def definition(network: Object) -> Object:
    """Return the definition of a network: its configuration is a text that may be no JSON."""
    kind, spec, metadata = network["kind"], network.get("spec") or {}, network["metadata"]
    ipam = "".join((spec.get("ipam") or "{}").split())
    if kind == "HostDeviceNetwork":
        parts = ['"type":"host-device"']
    elif kind == "IPoIBNetwork":
        parts = ['"type":"ipoib"', f'"master": "{spec.get("master", "")}"']
    else:
        parts = ['"type":"macvlan"']
        parts += [f'"{key}": "{spec[key]}"' for key in ("master", "mode") if spec.get(key)]
        parts += [f'"mtu" : {spec["mtu"]}'] if spec.get("mtu") else []
    plugin = ", ".join([*parts, f'"ipam":{ipam}'])
    head = f'"cniVersion":"0.3.1", "name":"{metadata["name"]}"'
    more = spec.get("metaPlugins")
    config = f'{{ {head}, "plugins": [ {{ {plugin} }}, {more} ] }}' if more else f"{{ {head}, {plugin} }}"
    owner = {"apiVersion": API, "kind": kind, "name": metadata["name"], "uid": metadata["uid"]}
    made: Object = {
        "name": metadata["name"],
        "namespace": spec.get("networkNamespace") or "default",
        "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}],
    }
    if kind == "HostDeviceNetwork":
        resource = str(spec.get("resourceName", ""))
        whole = resource if resource.startswith(PREFIX) else PREFIX + resource
        made["annotations"] = {RESOURCE: whole}
    return {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": DEFINITION,
        "metadata": made,
        "spec": {"config": config},
    }
