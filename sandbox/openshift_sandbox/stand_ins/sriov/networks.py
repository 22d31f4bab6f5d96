# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the SR-IOV operator where a SriovNetwork or SriovIBNetwork becomes a definition for Multus.

After v1.6 the real one also writes a condition `Ready`, which no release of OpenShift 4 has.
"""

from __future__ import annotations

import json
import typing as t

from openshift_sandbox.client import ApiError
from openshift_sandbox.stand_ins.cluster_network.attachments import RESOURCE
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.sriov.names import NAMESPACE, OPERATOR, PREFIX

FINALIZER: t.Final = "netattdef.finalizers.sriovnetwork.openshift.io"
LAST: t.Final = "operator.sriovnetwork.openshift.io/last-network-namespace"
DEFINITION: t.Final = "NetworkAttachmentDefinition"
TYPES: t.Final = {"SriovNetwork": "sriov", "SriovIBNetwork": "ib-sriov"}


class SriovNetworks(Reconciler):
    kinds = ("Deployment", "Namespace", DEFINITION, "SriovIBNetwork", "SriovNetwork")

    def reconcile(self, cluster: Cluster, now: float) -> None:
        if not cluster.available(OPERATOR, NAMESPACE):
            return
        for kind in TYPES:
            for network in cluster.objects(kind, NAMESPACE):
                if network["metadata"].get("deletionTimestamp"):
                    self._remove(cluster, network)
                elif cluster.due(network["metadata"]["uid"], "sriov_operator", 0.3):
                    self._keep(cluster, network)

    def _keep(self, cluster: Cluster, network: Object) -> None:
        metadata = network["metadata"]
        if FINALIZER not in (metadata.get("finalizers") or []):
            body = {"metadata": {"finalizers": [*(metadata.get("finalizers") or []), FINALIZER]}}
            cluster.patch(network["kind"], metadata["name"], NAMESPACE, body)
        try:
            wanted = definition(network)
        except ValueError:
            return  # the real operator writes this into its log only
        namespace, last = wanted["metadata"]["namespace"], (metadata.get("annotations") or {}).get(LAST)
        if last and last != namespace:
            cluster.delete(DEFINITION, metadata["name"], last)
        live = cluster.find(DEFINITION, metadata["name"], namespace)
        if cluster.find("Namespace", namespace) is None or (live and _same(live, wanted)):
            return
        try:
            cluster.apply(wanted)
        except ApiError as error:
            if error.status not in (400, 403):
                raise
            return
        if last != namespace:
            last_body = {"metadata": {"annotations": {LAST: namespace}}}
            cluster.patch(network["kind"], metadata["name"], NAMESPACE, last_body)

    def _remove(self, cluster: Cluster, network: Object) -> None:
        metadata = network["metadata"]
        namespace = network["spec"].get("networkNamespace") or NAMESPACE
        if cluster.find(DEFINITION, metadata["name"], namespace):
            cluster.delete(DEFINITION, metadata["name"], namespace)
        kept = [one for one in metadata.get("finalizers") or [] if one != FINALIZER]
        cluster.patch(network["kind"], metadata["name"], NAMESPACE, {"metadata": {"finalizers": kept}})


def _same(live: Object, wanted: Object) -> bool:
    annotations = live["metadata"].get("annotations") or {}
    return bool(live["spec"] == wanted["spec"] and annotations == wanted["metadata"]["annotations"])


def definition(network: Object) -> Object:
    """Return the NetworkAttachmentDefinition. Raises ValueError where texts of the network are no JSON."""
    spec, name = network["spec"], network["metadata"]["name"]
    plugin: Object = {"type": TYPES[network["kind"]]}
    if network["kind"] == "SriovNetwork":
        plugin["vlan"] = spec.get("vlan", 0)
        keys = {"spoofChk": "spoofchk", "trust": "trust", "vlanProto": "vlanProto"}
        plugin |= {ours: spec[theirs] for theirs, ours in keys.items() if spec.get(theirs)}
        plugin["vlanQoS"] = spec.get("vlanQoS", 0)
        rates = {"minTxRate": "min_tx_rate", "maxTxRate": "max_tx_rate"}
        plugin |= {ours: spec[theirs] for theirs, ours in rates.items() if theirs in spec}
    if spec.get("capabilities"):
        plugin["capabilities"] = json.loads(spec["capabilities"])
    if spec.get("linkState"):
        plugin["link_state"] = spec["linkState"]
    plugin["ipam"] = json.loads(spec.get("ipam") or "{}")
    config: Object = {"cniVersion": "1.0.0", "name": name}
    if spec.get("metaPlugins"):
        config["plugins"] = [plugin, *json.loads(f"[{spec['metaPlugins']}]")]
    else:
        config |= plugin
    return {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": DEFINITION,
        "metadata": {
            "name": name,
            "namespace": spec.get("networkNamespace") or NAMESPACE,
            "annotations": {RESOURCE: PREFIX + spec["resourceName"]},
        },
        "spec": {"config": json.dumps(config, indent=2)},
    }
