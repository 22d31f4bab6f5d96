# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the webhooks of the network operator: two policies for one part of a node are refused.

The real ones also judge repositories, versions and the JSON of device plugins.
"""

from __future__ import annotations

import re
import typing as t

from openshift_sandbox.client import Client
from openshift_sandbox.stand_ins.core.reconciler import Cluster, Object, Reconciler
from openshift_sandbox.stand_ins.core.webhooks import KIND, Denial, Webhooks, rule, webhook
from openshift_sandbox.stand_ins.network_operator.daemon_sets import OF_NODES
from openshift_sandbox.stand_ins.network_operator.operator import operator_of, overlap

PATH: t.Final = "/nic/validate"
CONFIGURATION: t.Final = "nvidia-network-operator-webhooks"
API: t.Final = "mellanox.com/v1alpha1"
# The operator says 50 where it means 30.
LONGEST_NAME: t.Final = 30
_RESOURCE: t.Final = re.compile(r"^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$")
_NAMES: t.Final = {
    "hostdevicenetworks": "vhostdevicenetwork.kb.io",
    "nicclusterpolicies": "vnicclusterpolicy.kb.io",
    "nicnodepolicies": "vnicnodepolicy.kb.io",
}


class NicWebhooks(Reconciler):
    kinds = ("Deployment", KIND)

    def __init__(self) -> None:
        self._webhooks = Webhooks()

    def reconcile(self, cluster: Cluster, now: float) -> None:
        there = [
            webhook(name, PATH, [rule("mellanox.com", [resource], ["CREATE", "UPDATE"])], "Fail")
            for resource, name in _NAMES.items()
        ]
        self._webhooks.keep(cluster, CONFIGURATION, there if operator_of(cluster) else [])


def review(request: Object, client: Client) -> Denial | None:
    """Judge a policy, or a network for whole adapters."""
    obj = request["object"]
    if obj["kind"] == "HostDeviceNetwork":
        return judge_network(obj)
    policies = client.list(API, "nicnodepolicies")
    if obj["kind"] == "NicClusterPolicy":
        text = twice(obj, policies, is_from_nodes=False)
    else:
        if len(obj["metadata"]["name"]) > LONGEST_NAME:
            return _invalid(
                obj,
                "metadata.name",
                obj["metadata"]["name"],
                "NicNodePolicy name must be at most 50 characters to avoid exceeding DaemonSet name limits",
            )
        text = "; ".join(
            found
            for one in client.list(API, "nicclusterpolicies")
            if (found := twice(one, [obj], is_from_nodes=True))
        )
        name = obj["metadata"]["name"]
        every = [obj, *(one for one in policies if one["metadata"]["name"] != name)]
        text = text or overlap(every, client.list("v1", "nodes"))
    return Denial(text, 403, "Forbidden") if text else None


def twice(cluster_policy: Object, policies: t.Iterable[Object], *, is_from_nodes: bool) -> str:
    """Return which parts the policy of the cluster and those of nodes both have."""
    defined = cluster_policy.get("spec") or {}
    both = [
        (key, policy["metadata"]["name"])
        for policy in policies
        for key in OF_NODES
        if key in defined and key in (policy.get("spec") or {})
    ]
    if is_from_nodes:
        words = 'NicClusterPolicy already defines {}; NicNodePolicy "{}" cannot also define it'
    else:
        words = 'NicNodePolicy "{1}" already defines {0}; NicClusterPolicy cannot also define it'
    return "; ".join(words.format(*one) for one in both)


def judge_network(network: Object) -> Denial | None:
    """Return why a HostDeviceNetwork is refused."""
    name = str((network.get("spec") or {}).get("resourceName") or "")
    if _RESOURCE.match(name):
        return None
    text = (
        "Invalid Resource name, it must consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
        "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
    )
    return _invalid(network, "Spec", name, text)


def _invalid(obj: Object, path: str, value: str, text: str) -> Denial:
    kind, name = obj["kind"], obj["metadata"]["name"]
    return Denial(
        f'{kind}.mellanox.com "{name}" is invalid: {path}: Invalid value: "{value}": {text}', 422, "Invalid"
    )
