# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the cluster network operator: networks of its configuration become definitions for Multus.

The real one also runs the cluster's network, and reports wrong entries in the ClusterOperator `network`.
"""

from __future__ import annotations

import json

from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler

NAME = "cluster"


class AdditionalNetworks(Reconciler):
    kinds = ("Namespace", "Network", "NetworkAttachmentDefinition")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        network = cluster.find("Network", NAME)
        if network is None:
            return
        wanted = {
            (one["metadata"]["namespace"], one["metadata"]["name"]): one
            for one in (
                definition(entry, network) for entry in network["spec"].get("additionalNetworks") or []
            )
        }
        for place, one in wanted.items():
            live = cluster.find("NetworkAttachmentDefinition", place[1], place[0])
            if cluster.find("Namespace", place[0]) and (live is None or live["spec"] != one["spec"]):
                cluster.apply(one)
        for live in cluster.objects("NetworkAttachmentDefinition"):
            metadata = live["metadata"]
            owners = {owner["uid"] for owner in metadata.get("ownerReferences") or []}
            if (
                network["metadata"]["uid"] in owners
                and (metadata["namespace"], metadata["name"]) not in wanted
            ):
                cluster.delete("NetworkAttachmentDefinition", metadata["name"], metadata["namespace"])


def definition(entry: Object, network: Object) -> Object:
    """Return the NetworkAttachmentDefinition of an entry."""
    owner = {
        "apiVersion": "operator.openshift.io/v1",
        "kind": "Network",
        "name": NAME,
        "uid": network["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    return {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {
            "name": entry["name"],
            "namespace": entry.get("namespace") or "default",
            "ownerReferences": [owner],
        },
        "spec": {"config": entry.get("rawCNIConfig") or _macvlan(entry)},
    }


def _macvlan(entry: Object) -> str:
    simple = entry.get("simpleMacvlanConfig") or {}
    addresses = (simple.get("ipamConfig") or {}).get("type", "DHCP")
    config = {"cniVersion": "0.3.1", "name": entry["name"], "type": "macvlan"}
    config |= {key: simple[key] for key in ("master", "mtu") if simple.get(key)}
    return json.dumps(
        config | {"mode": simple.get("mode", "bridge").lower(), "ipam": {"type": addresses.lower()}}
    )
