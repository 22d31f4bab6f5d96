# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""MachineSets that mirror a MachineSet of Cluster API, and the policy that protects them.

Cluster API itself does not run here.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.catalogue.crds import TECH_PREVIEW
from openshift_sandbox.seed.nodes import MACHINE_NAMESPACE, Object, machine_set
from openshift_sandbox.seed.platforms.registry import platform

POLICY: t.Final = "machine-api-machine-set-vap"
POLICY_API: t.Final = "admissionregistration.k8s.io/v1"
INSTALLED: t.Final = "2026-08-20T08:00:00Z"
BECAUSE: t.Final = "This is because status.authoritativeAPI is set to Cluster API."
FIELDS: t.Final = ("deletePolicy", "minReadySeconds", "replicas", "selector", "template")

GUARDED: t.Final = {
    "labels": (
        "machine.openshift.io/*, kubernetes.io/* or cluster.x-k8s.io/* label",
        r"^(machine\\.openshift\\.io|kubernetes\\.io)|cluster\\.x-k8s\\.io/",
    ),
    "annotations": (
        "machine.openshift.io/* or cluster.x-k8s.io/* or clusters.x-k8s.io/* annotation",
        r"^machine\\.openshift\\.io|clusters?\\.x-k8s\\.io",
    ),
}
"""What else is locked: its name, and the keys."""


def names(cluster: Object) -> set[str]:
    """Return the names of the mirrored MachineSets."""
    return {one["name"] for one in cluster.get("mirrored_sets", [])}


def with_mirrored(cluster: Object, sets: list[Object]) -> list[Object]:
    """Return the installer's MachineSets and those of the scenario.

    Where both have a name, the installer's set is mirrored.
    """
    known = {one["metadata"]["name"] for one in sets}
    more = [_made(cluster, one) for one in cluster.get("mirrored_sets", []) if one["name"] not in known]
    return [mirrored(one) if one["metadata"]["name"] in names(cluster) else one for one in (*sets, *more)]


def mirrored(obj: Object) -> Object:
    """Return a MachineSet or Machine with the authority Cluster API: the Machine API leaves it alone."""
    told = {"authoritativeAPI": "ClusterAPI", "synchronizedAPI": "ClusterAPI", "synchronizedGeneration": 1}
    conditions = [
        _condition(
            "Synchronized", "ResourceSynchronized", f"Successfully synchronized CAPI {obj['kind']} to MAPI"
        )
    ]
    return obj | {
        "spec": obj["spec"] | {"authoritativeAPI": "ClusterAPI"},
        "status": obj["status"] | told | {"conditions": conditions},
    }


def policies(cluster: Object) -> list[Object]:
    """Return the policy and its binding; none without the feature set whose CRDs have the fields."""
    if cluster.get("feature_set") != TECH_PREVIEW:
        return []
    return [
        {
            "apiVersion": POLICY_API,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": POLICY},
            "spec": _rules(),
        },
        {
            "apiVersion": POLICY_API,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": POLICY},
            "spec": {
                "policyName": POLICY,
                "validationActions": ["Deny"],
                "matchResources": {"namespaceSelector": _in(MACHINE_NAMESPACE)},
            },
        },
    ]


def _rules() -> Object:
    return {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": ["machine.openshift.io"],
                    "apiVersions": ["v1beta1"],
                    "operations": ["UPDATE"],
                    "resources": ["machinesets"],
                }
            ]
        },
        "matchConditions": [
            {
                "name": "authority-is-cluster-api",
                "expression": "object.?status.?authoritativeAPI.orValue('') == 'ClusterAPI'",
            }
        ],
        "variables": [
            {"name": f"{age}_{field}", "expression": f"{obj}.metadata.?{field}.orValue({{}})"}
            for age, obj in (("new", "object"), ("old", "oldObject"))
            for field in GUARDED
        ],
        "validations": [
            {
                "expression": " && ".join(
                    f"object.spec.?{field} == oldObject.spec.?{field}" for field in FIELDS
                ),
                "message": (
                    "You may only modify spec.authoritativeAPI. Any other change inside .spec is not "
                    f"allowed. {BECAUSE}"
                ),
            },
            *(
                {"expression": _kept(field), "message": f"Cannot add, modify or delete any {what}. {BECAUSE}"}
                for field, (what, _keys) in GUARDED.items()
            ),
        ],
    }


def _made(cluster: Object, wanted: Object) -> Object:
    kind = wanted["instance_type"]
    return machine_set(
        cluster,
        wanted["name"],
        platform(cluster).provider_spec(cluster, "worker", wanted["zone"], kind),
        kind,
        0,
    )


def _kept(field: str) -> str:
    """Return the CEL expression: no guarded key is added, changed or removed."""
    new, old, guarded = (
        f"variables.new_{field}",
        f"variables.old_{field}",
        f"k.matches('{GUARDED[field][1]}')",
    )
    return (
        f"{new}.all(k, !{guarded} || (k in {old} && {old}[k] == {new}[k])) && {old}.all(k, !{guarded} || k "
        f"in {new})"
    )


def _in(namespace: str) -> Object:
    return {"matchLabels": {"kubernetes.io/metadata.name": namespace}}


def _condition(kind: str, reason: str, message: str) -> Object:
    return {
        "type": kind,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": INSTALLED,
    }
