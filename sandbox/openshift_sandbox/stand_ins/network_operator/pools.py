# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for NV-IPAM, which gives each node a part of a pool of addresses.

No condition says that a subnet is too small: a node without a part is only missing in the status. The real
one also obeys perNodeExclusions.
"""

from __future__ import annotations

import ipaddress
import typing as t

from openshift_sandbox.catalogue.crds import nv_ipam_crds
from openshift_sandbox.stand_ins.core import events
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.selectors import expressed
from openshift_sandbox.stand_ins.network_operator.operator import NAME, operator_of


class Ipam(Reconciler):
    kinds = ("CIDRPool", "Deployment", "IPPool", "NicClusterPolicy", "Node")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        policy, operator = cluster.find("NicClusterPolicy", NAME), operator_of(cluster)
        if operator is None or "nvIpam" not in ((policy or {}).get("spec") or {}):
            return
        if not cluster.served("IPPool"):
            # The bundle does not have them: the operator makes them with the first policy that wants NV-IPAM.
            for crd in nv_ipam_crds():
                cluster.client.apply(crd)
            return
        namespace = operator["metadata"]["namespace"]
        for kind, parts, reason, text in (
            ("IPPool", blocks, "NoFreeRanges", "failed to allocate IPs on Node"),
            ("CIDRPool", prefixes, "NoFreePrefixes", "failed to allocate prefix for Node"),
        ):
            for pool in cluster.objects(kind, namespace):
                nodes = [
                    node["metadata"]["name"]
                    for node in cluster.objects("Node")
                    if _selects(pool["spec"].get("nodeSelector"), node)
                ]
                self._allocate(cluster, pool, sorted(nodes), parts(pool), reason, text)

    def _allocate(
        self,
        cluster: Cluster,
        pool: Object,
        nodes: t.Sequence[str],
        parts: t.Iterator[Object],
        reason: str,
        text: str,
    ) -> None:
        """Give each node a part: the one that it has, else the next free one."""
        known = {one["nodeName"]: one for one in (pool.get("status") or {}).get("allocations") or []}
        kept = {name: one for name, one in known.items() if name in nodes}
        taken = [_key(one) for one in kept.values()]
        free = (part for part in parts if _key(part) not in taken)
        for name in nodes:
            if name in kept:
                continue
            part = next(free, None)
            if part is None:
                events.record(cluster, pool, "IPPoolController", reason, f"{text}: {name}", "Warning")
                continue
            kept[name] = {"nodeName": name} | part
        wanted = [kept[name] for name in nodes if name in kept]
        if (pool.get("status") or {}).get("allocations") != wanted:
            metadata, status = pool["metadata"], {"status": {"allocations": wanted}}
            cluster.patch(pool["kind"], metadata["name"], metadata["namespace"], status, "status")


def _selects(selector: Object | None, node: Object) -> bool:
    labels = node["metadata"].get("labels") or {}
    return selector is None or any(
        all(expressed(one, labels) for one in term.get("matchExpressions") or [])
        for term in selector["nodeSelectorTerms"]
    )


def _key(part: Object) -> str:
    return str(part.get("startIP") or part.get("prefix"))


def blocks(pool: Object) -> t.Iterator[Object]:
    """Yield the parts of an IPPool: blocks of one size, the first one behind the network's own address."""
    spec = pool["spec"]
    subnet, size = ipaddress.ip_network(spec["subnet"], strict=False), int(spec["perNodeBlockSize"])
    excluded = [
        (int(ipaddress.ip_address(one["startIP"])), int(ipaddress.ip_address(one["endIP"])))
        for one in spec.get("exclusions") or []
    ]
    edge = 0 if subnet.prefixlen >= subnet.max_prefixlen - 1 else 1
    last = int(subnet[-1]) - edge
    for first in range(int(subnet[0]) + edge, last + 1, size):
        end = first + size - 1
        texts = [str(type(subnet[0])(number)) for number in (first, end)]
        is_excluded = any(low <= first and end <= high for low, high in excluded)
        if end <= last and not is_excluded and not (size == 1 and texts[0] == spec.get("gateway")):
            yield {"startIP": texts[0], "endIP": texts[1]}


def prefixes(pool: Object) -> t.Iterator[Object]:
    """Yield the parts of a CIDRPool."""
    spec = pool["spec"]
    for part in ipaddress.ip_network(spec["cidr"]).subnets(new_prefix=int(spec["perNodeNetworkPrefix"])):
        index = spec.get("gatewayIndex")
        yield {"prefix": str(part)} | ({"gateway": str(part[int(index)])} if index is not None else {})
