# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for OVN-Kubernetes and NMState where they tell which interface carries the network of a node.

It is eno1, or with the trouble `adapter_carries_node` an adapter of NVIDIA. Only nodes with such adapters
have the annotation here. The real ones write far more.
"""

from __future__ import annotations

import json
import typing as t

from openshift_sandbox.hardware.instance_types import of_node
from openshift_sandbox.hardware.ports import mac, ports
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.troubles import on_node

GATEWAY: t.Final = "k8s.ovn.org/l3-gateway-config"
STATE: t.Final = "NodeNetworkState"
UPLINK: t.Final = "eno1"
API: t.Final = "nmstate.io/v1beta1"


class Uplinks(Reconciler):
    kinds = ("Node", STATE)

    def reconcile(self, cluster: Cluster, now: float) -> None:
        for node in cluster.objects("Node"):
            name, found = node["metadata"]["name"], ports(node["metadata"]["name"], of_node(node))
            trouble = on_node(cluster, "adapter_carries_node", node)
            uplink = UPLINK
            if trouble and found:
                uplink = str(trouble.get("interface", found[0].name))
            text = json.dumps({"default": gateway(node, uplink)})
            if found and (node["metadata"].get("annotations") or {}).get(GATEWAY) != text:
                cluster.patch("Node", name, None, {"metadata": {"annotations": {GATEWAY: text}}})
            if cluster.served(STATE):
                self._tell(cluster, node, uplink)

    def _tell(self, cluster: Cluster, node: Object, uplink: str) -> None:
        name, wanted = node["metadata"]["name"], current_state(node, uplink)
        live = cluster.find(STATE, name)
        if live is None:
            live = cluster.create({"apiVersion": API, "kind": STATE, "metadata": {"name": name}})
        if (live.get("status") or {}).get("currentState") != wanted:
            cluster.patch(STATE, name, None, {"status": {"currentState": wanted}}, "status")


def address_of(node: Object) -> str:
    """Return the address of a node."""
    found = (one["address"] for one in node["status"].get("addresses") or [] if one["type"] == "InternalIP")
    return next(found, "192.168.111.2")


def gateway(node: Object, uplink: str) -> Object:
    """Return how a node reaches other networks: the bridge has the MAC address of its uplink."""
    name, address = node["metadata"]["name"], address_of(node)
    return {
        "mode": "shared",
        "bridge-id": "br-ex",
        "interface-id": f"br-ex_{name}",
        "mac-address": mac(name, uplink),
        "ip-addresses": [f"{address}/24"],
        "next-hops": [f"{address.rpartition('.')[0]}.1"],
        "node-port-enable": "true",
        "vlan-id": "0",
    }


def current_state(node: Object, uplink: str) -> Object:
    """Return interfaces and routes as NMState lists them."""
    name, address = node["metadata"]["name"], address_of(node)
    found = ports(name, of_node(node))
    interfaces: list[Object] = [
        {"name": UPLINK, "type": "ethernet", "state": "up", "mac-address": mac(name, UPLINK).upper()},
        *(
            {
                "name": port.name,
                "type": "infiniband" if port.nic.link == "IB" else "ethernet",
                "state": "up",
                "driver": "mlx5_core",
                "mac-address": port.mac.upper(),
                "ipv4": {"enabled": False},
            }
            for port in found
        ),
        {"name": "br-ex", "type": "ovs-bridge", "state": "up",
         "bridge": {"port": [{"name": uplink}, {"name": "br-ex"}]}},
        {"name": "br-ex", "type": "ovs-interface", "state": "up", "mac-address": mac(name, uplink).upper(),
         "ipv4": {"enabled": True, "address": [{"ip": address, "prefix-length": 24}]}},
    ]  # fmt: skip
    routes = [
        {
            "destination": "0.0.0.0/0",
            "next-hop-address": f"{address.rpartition('.')[0]}.1",
            "next-hop-interface": "br-ex",
        }
    ]
    return {"interfaces": interfaces, "routes": {"running": routes}}
