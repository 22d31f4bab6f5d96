# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Admission policies: the objects that make the API server tell, refuse or change pods, and their proof."""

from __future__ import annotations

import json
import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject
from .._core.ownership import owned
from . import rules
from .rules import Entries

NAME: t.Final = "accelerators-openshift-gpu-pods"
# The pools whose rules the policy has, as JSON. Another file of pools may have brought some of them.
POOLS: t.Final = "accelerators.openshift/pools"
# There, if another policy adds tolerations.
ADDS: t.Final = "accelerators.openshift/adds"
GROUP: t.Final = "admissionregistration.k8s.io"
ACTIONS: t.Final = {"audit": "Audit", "warn": "Warn", "deny": "Deny"}
_PLATFORM: t.Final = ("openshift-", "kube-")
# Namespaces of operators whose pods the policies never look at.
OPERATORS: t.Final = ("nvidia-gpu-operator", "nvidia-network-operator")
# Owners that are objects of operators, in whatever namespace they work: group of the API, and its kinds (all
# of them where none is named; nvidia.com also has kinds of applications). Such an operator's own pods, for
# example nvidia-cuda-validator, use no device and tolerate the taint.
_OWNERS: t.Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("nvidia.com", ("ClusterPolicy", "NVIDIADriver", "GPUCluster")),
    ("mellanox.com", ()),
    ("nfd.openshift.io", ()),
    ("nfd.k8s-sigs.io", ()),
    ("kmm.sigs.x-k8s.io", ()),
    ("sro.openshift.io", ()),
    ("sriovnetwork.openshift.io", ()),
)
_IS_NEW: t.Final = (
    "request.operation == 'CREATE' || (request.kind.kind == 'CronJob' ? "
    "dyn(object).spec.jobTemplate != dyn(oldObject).spec.jobTemplate : "
    "dyn(object).spec.template != dyn(oldObject).spec.template)"
)
_IMAGE: t.Final = "registry.k8s.io/pause:3.10"  # never pulled: the pod is only a dry run


def entries(live: KubeObject | None) -> dict[str, dict[str, t.Any]]:
    """Return the pools whose rules the live policy has."""
    found: dict[str, dict[str, t.Any]] = json.loads(_annotations(live).get(POOLS) or "{}")
    return found


def adds(live: KubeObject | None) -> bool:
    """Return whether another policy adds tolerations."""
    return ADDS in _annotations(live)


def _annotations(live: KubeObject | None) -> dict[str, str]:
    return ((live or {}).get("metadata") or {}).get("annotations") or {}


def refuse_foreign(live: KubeObject | None) -> None:
    """Raise AcceleratorError if the policy was made by others."""
    if live is not None and not owned(live):
        kind = live["kind"]
        remedy = f"Run `oc delete {kind.lower()} {NAME}`, or leave gpu_policy_admission out. No pod ends."
        raise AcceleratorError("POLICY-FOREIGN", object=f"{kind} {NAME}", remedy=remedy)


def telling(pools: Entries, exempt: t.Sequence[str], *, adds: bool) -> KubeObject:
    """Return the policy that tells pods why they do not run. adds: another policy adds tolerations."""
    notes = {POOLS: json.dumps(pools, sort_keys=True), **({ADDS: "true"} if adds else {})}
    found = [
        {"expression": rule.expression, "message": rule.message, "reason": "Forbidden"}
        for rule in rules.rules(pools, adds)
    ]
    create, both = ["CREATE"], ["CREATE", "UPDATE"]
    resources = [
        _rule("", ["pods"], create),
        _rule("apps", ["deployments", "statefulsets"], both),
        _rule("batch", ["jobs"], create),
        _rule("batch", ["cronjobs"], both),
    ]
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": NAME, "annotations": notes},
        "spec": {
            # A rule that fails itself must not keep pods from starting.
            "failurePolicy": "Ignore",
            "matchConstraints": {"namespaceSelector": _others(exempt), "resourceRules": resources},
            "matchConditions": [*_conditions(), {"name": "new-pods", "expression": _IS_NEW}],
            "variables": rules.variables(pools),
            # The API server takes no policy without a rule; pools without taints need none.
            "validations": found or [{"expression": "true"}],
        },
    }


def telling_binding(action: str) -> KubeObject:
    """Return the binding of that policy. action: a key of ACTIONS."""
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": NAME},
        "spec": {"policyName": NAME, "validationActions": [ACTIONS[action]]},
    }


def adding(pools: Entries, exempt: t.Sequence[str]) -> KubeObject:
    """Return the policy that adds tolerations to pods which ask for devices."""
    wanted = ("containers", "tolerations", "asked")
    variables = [
        variable
        for variable in rules.variables(pools)
        if variable["name"] in wanted or variable["name"].startswith(rules.TOLERATES)
    ]
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": NAME},
        "spec": {
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "IfNeeded",
            "matchConstraints": {
                "namespaceSelector": _others(exempt),
                "resourceRules": [_rule("", ["pods"], ["CREATE"])],
            },
            "matchConditions": _conditions(),
            "variables": [{"name": "spec", "expression": "object.spec"}, *variables],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": rules.patches(pools)}}],
        },
    }


def adding_binding() -> KubeObject:
    """Return the binding of the policy that adds tolerations."""
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": NAME},
        "spec": {"policyName": NAME},
    }


def _rule(group: str, resources: list[str], operations: list[str]) -> KubeObject:
    return {"apiGroups": [group], "apiVersions": ["v1"], "operations": operations, "resources": resources} | {
        "scope": "*"
    }


def _others(exempt: t.Sequence[str]) -> KubeObject:
    """Return the selector of all namespaces but these."""
    if not exempt:
        return {}
    expression = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [*exempt]}
    return {"matchExpressions": [expression]}


def _conditions() -> list[KubeObject]:
    text = " || ".join(f"request.namespace.startsWith('{prefix}')" for prefix in _PLATFORM)
    owned = "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, "
    return [
        {"name": "not-of-the-platform", "expression": f"!({text})"},
        {"name": "not-of-an-operator", "expression": f"!({owned}{' || '.join(map(_owns, _OWNERS))}))"},
    ]


def _owns(owner: tuple[str, tuple[str, ...]]) -> str:
    """Return the expression for an owner `o` that is an object of an operator."""
    group, kinds = owner
    is_of_group = f"o.apiVersion.startsWith('{group}/')"
    return f"({is_of_group} && o.kind in {json.dumps(kinds)})" if kinds else is_of_group


def proof(namespace: str, resource: str) -> KubeObject:
    """Return a pod that asks for a device and tolerates nothing."""
    amounts = {"cpu": "1m", "memory": "1Mi", resource: "1"}
    container = {
        "name": "proof",
        "image": _IMAGE,
        "resources": {"requests": amounts, "limits": amounts},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
    }
    metadata = {"generateName": "gpu-policy-proof-", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def policy_message(status: int, body: t.Any, warnings: t.Iterable[str]) -> str:
    """Return what the policy said about the pod, as a warning or as a refusal; "" if it said nothing."""
    texts = [str(body.get("message") or "")] if status >= 400 and isinstance(body, dict) else list(warnings)
    return next((text for text in texts if NAME in text), "")


def gained(body: t.Any, taint: t.Mapping[str, str]) -> str:
    """Return the toleration of the taint, if the API server gave it to the proof; "" otherwise."""
    spec = (body if isinstance(body, dict) else {}).get("spec") or {}
    found = next((entry for entry in spec.get("tolerations") or [] if entry.get("key") == taint["key"]), None)
    return json.dumps(found, sort_keys=True) if found else ""


def not_active(namespace: str) -> AcceleratorError:
    """Return the error for an API server that says nothing about a pod without the toleration."""
    return AcceleratorError("POLICY-NOT-ACTIVE", policy=NAME, namespace=namespace)
