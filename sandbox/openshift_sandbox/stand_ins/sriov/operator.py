# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the SR-IOV network operator: states of nodes, device plugins, webhooks, finalizers.

The real one also runs a config daemon and a device plugin on each node as DaemonSets; here other stand-ins
do their work, without pods. Like the real one it keeps the state of a node that its selector leaves for 30
minutes: while the driver of the adapters loads again, a selector by its label leaves the node.
"""

from __future__ import annotations

import typing as t
from datetime import UTC, datetime, timedelta

from openshift_sandbox.hardware.instance_types import of_node
from openshift_sandbox.hardware.ports import ports
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.selectors import matches
from openshift_sandbox.stand_ins.core.webhooks import KIND, MUTATING, Webhooks, rule, webhook
from openshift_sandbox.stand_ins.sriov.names import (
    API,
    CURRENT,
    DESIRED,
    IDLE,
    NAMESPACE,
    PLUGIN,
    PREFIX,
    STATE,
    annotation,
    config_of,
)
from openshift_sandbox.stand_ins.sriov.policies import (
    configures,
    desired,
    discovered,
    labels_of,
    resources,
    selects,
)

KEPT: t.Final = "sriovnetwork.openshift.io/keep-state-until"
STALE: t.Final = 1800.0
FINALIZER: t.Final = "operatorconfig.finalizers.sriovnetwork.openshift.io"
DEFAULTS, VALIDATE, INJECT = "/sriov/default", "/sriov/validate", "/sriov/inject"
OPERATOR_WEBHOOK: t.Final = "sriov-operator-webhook-config"
INJECTOR: t.Final = "network-resources-injector-config"
_CHANGES: t.Final = ["CREATE", "UPDATE", "DELETE"]
_RULES: t.Final = [
    rule("sriovnetwork.openshift.io", [one], _CHANGES)
    for one in ("sriovnetworknodepolicies", "sriovoperatorconfigs", "sriovnetworkpoolconfigs")
]


class SriovOperator(Reconciler):
    kinds = (
        "Deployment",
        KIND,
        MUTATING,
        "Node",
        "SriovNetworkNodePolicy",
        "SriovNetworkNodeState",
        "SriovNetworkPoolConfig",
        "SriovOperatorConfig",
    )

    def __init__(self) -> None:
        self._validating = Webhooks(KIND)
        self._mutating = Webhooks(MUTATING)

    def reconcile(self, cluster: Cluster, now: float) -> None:
        config = config_of(cluster)
        if config is None:
            return
        is_leaving = bool(config["metadata"].get("deletionTimestamp"))
        self._register(cluster, {} if is_leaving else config["spec"])
        finalizers = config["metadata"].get("finalizers") or []
        if is_leaving == (FINALIZER in finalizers):
            kept = [one for one in finalizers if one != FINALIZER]
            self._patch(cluster, config, {"finalizers": kept if is_leaving else [*kept, FINALIZER]})
        if is_leaving or not cluster.due(config["metadata"]["uid"], "sriov_operator", 0.3):
            return
        policies = [
            one
            for one in cluster.objects("SriovNetworkNodePolicy", NAMESPACE)
            if one["metadata"]["name"] != "default"
        ]
        nodes = {one["metadata"]["name"]: one for one in cluster.objects("Node") if configures(config, one)}
        for node in nodes.values():
            self._state(cluster, config, node, [one for one in policies if selects(one, node)])
        for state in cluster.objects("SriovNetworkNodeState", NAMESPACE):
            if state["metadata"]["name"] not in nodes:
                self._leave(cluster, state)
            elif annotation(state, KEPT):
                cluster.restart(state["metadata"]["uid"], "sriov_stale_state")
                self._patch(cluster, state, {"annotations": {KEPT: None}})

    def _leave(self, cluster: Cluster, state: Object) -> None:
        """Delete the state of a node without a daemon, some time later."""
        if cluster.due(state["metadata"]["uid"], "sriov_stale_state", STALE):
            cluster.delete("SriovNetworkNodeState", state["metadata"]["name"], NAMESPACE)
        elif not annotation(state, KEPT):
            until = datetime.now(UTC) + timedelta(seconds=cluster.delay("sriov_stale_state", STALE))
            self._patch(cluster, state, {"annotations": {KEPT: until.strftime("%Y-%m-%dT%H:%M:%SZ")}})

    def _register(self, cluster: Cluster, spec: Object) -> None:
        name = "operator-webhook.sriovnetwork.openshift.io"
        judge = webhook(name, VALIDATE, _RULES, "Fail")
        fill = webhook(name, DEFAULTS, [_RULES[0] | {"operations": ["CREATE", "UPDATE"]}], "Fail")
        inject = webhook("network-resources-injector-config.k8s.io", INJECT, [rule("", ["pods"], ["CREATE"])])
        judges = bool(spec.get("enableOperatorWebhook"))
        self._validating.keep(cluster, OPERATOR_WEBHOOK, [judge] if judges else [])
        self._mutating.keep(cluster, OPERATOR_WEBHOOK, [fill] if judges else [])
        self._mutating.keep(cluster, INJECTOR, [inject] if spec.get("enableInjector") else [])

    def _state(self, cluster: Cluster, config: Object, node: Object, policies: list[Object]) -> None:
        """Keep the state of a node: its adapters, and what the policies want of them."""
        name = node["metadata"]["name"]
        live = cluster.find("SriovNetworkNodeState", name, NAMESPACE)
        if live is None:
            owner = {
                "apiVersion": API,
                "kind": "SriovOperatorConfig",
                "name": config["metadata"]["name"],
                "uid": config["metadata"]["uid"],
                "controller": True,
                "blockOwnerDeletion": True,
            }
            metadata = {"name": name, "namespace": NAMESPACE, "ownerReferences": [owner]}
            cluster.create(
                {"apiVersion": API, "kind": "SriovNetworkNodeState", "metadata": metadata, "spec": {}}
            )
            return
        self._annotate(cluster, node, live)
        if "syncStatus" not in (live.get("status") or {}):
            found = [discovered(port) for port in ports(name, of_node(node))]
            status = {"interfaces": found, "system": {"rdmaMode": "shared"}, "syncStatus": "Succeeded"}
            self._patch(cluster, live, {}, {"status": status | {"lastSyncError": ""}}, "status")
            return
        found = live["status"].get("interfaces") or []
        wanted: Object = {"interfaces": desired(policies, found)} if found else {}
        if mode := self._rdma_mode(cluster, node):
            wanted["system"] = {"rdmaMode": mode}
        known = {key: value for key, value in live.get("spec", {}).items() if key in ("interfaces", "system")}
        if (known | {"interfaces": known.get("interfaces") or []}) != ({"interfaces": []} | wanted):
            changes = {"interfaces": wanted.get("interfaces") or [], "system": wanted.get("system")}
            self._patch(cluster, live, {}, {"spec": changes})
        self._label(cluster, node, "Enabled" if resources(wanted.get("interfaces") or []) else "Disabled")

    def _rdma_mode(self, cluster: Cluster, node: Object) -> str:
        pools = [
            one["spec"]
            for one in cluster.objects("SriovNetworkPoolConfig", NAMESPACE)
            if matches(one["spec"].get("nodeSelector") or {}, labels_of(node))
        ]
        return str(pools[0].get("rdmaMode") or "") if len(pools) == 1 else ""

    def _annotate(self, cluster: Cluster, node: Object, state: Object) -> None:
        """Give annotations of drains their first value."""
        for obj, keys in ((state, (DESIRED, CURRENT)), (node, (STATE,))):
            missing = {key: IDLE for key in keys if key not in (obj["metadata"].get("annotations") or {})}
            if missing:
                self._patch(cluster, obj, {"annotations": missing})

    def _label(self, cluster: Cluster, node: Object, value: str) -> None:
        if labels_of(node).get(PLUGIN) != value:
            self._patch(cluster, node, {"labels": {PLUGIN: value}})

    def _patch(
        self,
        cluster: Cluster,
        obj: Object,
        metadata: Object,
        more: Object | None = None,
        subresource: str | None = None,
    ) -> None:
        name, namespace = obj["metadata"]["name"], obj["metadata"].get("namespace")
        body = ({"metadata": metadata} if metadata else {}) | (more or {})
        cluster.patch(obj["kind"], name, namespace, body, subresource)


def offered(node: Object, interfaces: t.Sequence[Object]) -> dict[str, str]:
    """Return the resources that the kubelet reports: those of a policy that is gone stay, with 0."""
    known = (node.get("status") or {}).get("allocatable") or {}
    mine = {f"{PREFIX}{name}": str(count) for name, count in resources(interfaces).items()}
    return {name: "0" for name in known if name.startswith(PREFIX)} | mine
