# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge which rights are missing, and build the ClusterRole that grants them."""

from __future__ import annotations

import json
import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject
from .needs import Need

_ALL: t.Final = "*"
EVERYTHING: t.Final = Need(_ALL, _ALL, _ALL)
# The rights in this namespace, which has no RoleBindings, are those that an identity has everywhere.
NOWHERE: t.Final = "accelerators-openshift-access-review"


def question(need: Need) -> KubeObject:
    """Return the SelfSubjectAccessReview that asks for one right."""
    resource, _slash, sub = need.resource.partition("/")
    asked = {"verb": need.verb, "group": need.group, "resource": resource}
    asked |= {"subresource": sub} if sub else {}
    asked |= {"namespace": need.namespace} if need.namespace else {}
    return _review("SelfSubjectAccessReview", {"resourceAttributes": asked})


def rules_question(namespace: str) -> KubeObject:
    """Return the SelfSubjectRulesReview of a namespace; "" asks for the rights in the whole cluster."""
    return _review("SelfSubjectRulesReview", {"namespace": namespace or NOWHERE})


def _review(kind: str, spec: KubeObject) -> KubeObject:
    return {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "metadata": {}, "spec": spec}


def rules(answer: KubeObject) -> list[KubeObject]:
    """Return the rules of a SelfSubjectRulesReview."""
    return list((answer.get("status") or {}).get("resourceRules") or [])


def is_incomplete(answer: KubeObject) -> bool:
    """Return True if an authorizer of the cluster cannot list its rules."""
    return bool((answer.get("status") or {}).get("incomplete"))


def is_granted(need: Need, granted: t.Iterable[KubeObject]) -> bool:
    """Return True if one of the rules grants the right on every name."""
    return any(_grants(rule, need) for rule in granted)


def _grants(rule: KubeObject, need: Need) -> bool:
    _name, _slash, sub = need.resource.partition("/")
    resources = {need.resource, _ALL} | ({f"*/{sub}"} if sub else set())
    return (
        bool({need.verb, _ALL} & set(rule.get("verbs") or ()))
        and bool({need.group, _ALL} & set(rule.get("apiGroups") or ()))
        and bool(resources & set(rule.get("resources") or ()))
        and not rule.get("resourceNames")
    )


def lines(missing: t.Iterable[Need]) -> list[str]:
    """Return a line for each resource and namespace, with its verbs."""
    found: dict[tuple[str, str], list[str]] = {}
    for need in missing:
        found.setdefault((need.full, need.namespace), []).append(need.verb)
    return [
        f"{', '.join(verbs)} {resource} "
        + (f"in namespace {namespace}" if namespace else "in the whole cluster")
        for (resource, namespace), verbs in found.items()
    ]


def cluster_role(needs: t.Iterable[Need], name: str) -> KubeObject:
    """Return the ClusterRole that grants these rights."""
    verbs: dict[tuple[str, str], set[str]] = {}
    for need in needs:
        verbs.setdefault((need.group, need.resource), set()).add(need.verb)
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, resource), given in sorted(verbs.items()):
        together.setdefault((group, tuple(sorted(given))), []).append(resource)
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": [
            {"apiGroups": [group], "resources": resources, "verbs": list(given)}
            for (group, given), resources in together.items()
        ],
    }


def role_name(playbook: str) -> str:
    """Return the name of the ClusterRole of a playbook."""
    return f"accelerators-openshift-{playbook.replace('_', '-')}"


def refusal(playbook: str, missing: t.Sequence[Need], user: str, role: KubeObject) -> AcceleratorError:
    """Return the error about everything that is missing."""
    listed = lines(missing)
    name = role["metadata"]["name"]
    who = user or "USER"
    manifest = json.dumps(role, separators=(",", ":"))
    remedy = (
        f"As an administrator, run: echo '{manifest}' | oc apply -f - && "
        f"oc adm policy add-cluster-role-to-user {name} {who}"
    )
    return AcceleratorError(
        "API-RIGHTS",
        user=user or "This identity",
        playbook=playbook,
        missing="; ".join(listed),
        remedy=remedy,
        evidence=listed,
        facts={
            "missing": [need._asdict() for need in missing],
            "cluster_role": role,
        },
    )
