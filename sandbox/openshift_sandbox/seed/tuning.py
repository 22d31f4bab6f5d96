# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the node tuning operator makes in a fresh cluster: Tuned `default`, and a Profile for each node."""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.nodes import Object

TUNED_API: t.Final = "tuned.openshift.io/v1"
GROUP: t.Final = "tuned.openshift.io"
NAMESPACE: t.Final = "openshift-cluster-node-tuning-operator"
DEFAULT: t.Final = "default"
KEYS: t.Final = "tuned.openshift.io/"
BOOTCMDLINE: t.Final = f"{KEYS}bootcmdline"
DEPENDENCIES: t.Final = f"{KEYS}bootcmdline-deps"
CONTROL_PLANE: t.Final = "openshift-control-plane"
NODE: t.Final = "openshift-node"
INSTALLED: t.Final = "2026-08-20T08:00:00Z"
OPENSHIFT: t.Final = {
    "name": "openshift",
    "data": "[main]\n"
    "summary=Optimize systems running OpenShift (provider specific parent profile)\n"
    "include=-provider-${f:exec:cat:/var/lib/ocp-tuned/provider},openshift\n",
}
APPLIED: t.Final = ("Applied", "True", "AsExpected", "TuneD profile applied.")
HEALTHY: t.Final = (
    "Degraded",
    "False",
    "AsExpected",
    "No warning or error messages observed applying the TuneD daemon profile.",
)


def default_tuned() -> Object:
    """Return the Tuned `default`, which the operator restores whenever its spec differs."""
    roles = [{"label": f"node-role.kubernetes.io/{role}"} for role in ("control-plane", "infra")]
    return {
        "apiVersion": TUNED_API,
        "kind": "Tuned",
        "metadata": {"name": DEFAULT, "namespace": NAMESPACE},
        "spec": {
            "profile": [dict(OPENSHIFT)],
            "recommend": [
                {"profile": CONTROL_PLANE, "priority": 30, "match": roles},
                {"profile": NODE, "priority": 40},
            ],
        },
        "status": {"conditions": [_condition("Valid", "True", "AsExpected", "")]},
    }


def profiles(cluster: Object, nodes: t.Sequence[Object], tuned: Object) -> list[Object]:
    """Return the Profiles of these nodes, all applied; `tuned` is the Tuned `default` as the API has it."""
    return [profile(cluster, node, tuned) for node in nodes if is_linux(node)]


def profile(cluster: Object, node: Object, tuned: Object) -> Object:
    """Return the Profile of a node, with its status, where nobody tuned anything."""
    wanted = CONTROL_PLANE if "node-role.kubernetes.io/control-plane" in _labels(node) else NODE
    made = new_profile(cluster, node, tuned, wanted, [OPENSHIFT])
    return made | {
        "status": {
            "tunedProfile": wanted,
            "observedGeneration": 1,
            "conditions": [_condition(*APPLIED), _condition(*HEALTHY)],
        }
    }


def new_profile(
    cluster: Object, node: Object, tuned: Object, wanted: str, definitions: t.Sequence[Object]
) -> Object:
    """Return a Profile as the operator creates it: the wanted TuneD profile, and the texts of all."""
    config = {"tunedProfile": wanted, "debug": False, "verbosity": 0, "tunedConfig": {}}
    provider = str(node["spec"].get("providerID") or "").partition("://")[0]
    owner = {"apiVersion": TUNED_API, "kind": "Tuned", "name": DEFAULT, "uid": tuned["metadata"]["uid"]}
    return {
        "apiVersion": TUNED_API,
        "kind": "Profile",
        "metadata": {
            "name": node["metadata"]["name"],
            "namespace": NAMESPACE,
            "annotations": {DEPENDENCIES: dependencies(cluster, [tuned])},
            "ownerReferences": [owner | {"controller": True, "blockOwnerDeletion": True}],
        },
        "spec": {
            "config": config | ({"providerName": provider} if provider else {}),
            "profile": [dict(one) for one in definitions],
        },
    }


def dependencies(cluster: Object, tuneds: t.Sequence[Object]) -> str:
    """Return the release and the generation of each Tuned, from which a Profile was calculated."""
    listed = sorted((one["metadata"]["name"], one["metadata"].get("generation", 1)) for one in tuneds)
    return ",".join([str(cluster["version"]), *(f"{name}:{generation}" for name, generation in listed)])


def node_annotations(cluster: Object) -> dict[str, str]:
    """Return what the TuneD daemon of a node writes on it: no kernel argument, from Tuned `default`."""
    return {BOOTCMDLINE: "", DEPENDENCIES: f"{cluster['version']},{DEFAULT}:1"}


def is_linux(node: Object) -> bool:
    """Return whether a node runs Linux: no other node has a Profile."""
    return _labels(node).get("kubernetes.io/os") == "linux"


def _labels(node: Object) -> dict[str, str]:
    return dict(node["metadata"].get("labels") or {})


def _condition(kind: str, status: str, reason: str, message: str) -> Object:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": INSTALLED,
    }
