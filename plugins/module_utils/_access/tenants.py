# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tenants: build the Role, the binding and the quota of priority classes that a tenant has in a namespace."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._core.ownership import TENANT
from .grant import Subject

_GROUP: t.Final = "rbac.authorization.k8s.io"
_READ: t.Final = ("get", "list", "watch")
_WRITE: t.Final = (*_READ, "create", "delete", "patch", "update")
# What counts as work: group, and the resources of which a tenant makes objects.
_WORK: t.Final = (
    ("batch", ("jobs",)),
    ("jobset.x-k8s.io", ("jobsets",)),
    ("kubeflow.org", ("mpijobs", "pytorchjobs")),
    ("leaderworkerset.x-k8s.io", ("leaderworkersets",)),
    ("trainer.kubeflow.org", ("trainjobs",)),
)
# The quota counts what pods request of this resource.
_GPUS: t.Final = "requests.nvidia.com/gpu"


class Tenant(t.NamedTuple):
    """A team. queues: its LocalQueues. priority_classes: those that its pods with GPUs may have."""

    name: str
    namespaces: tuple[str, ...]
    subjects: tuple[Subject, ...]
    queues: tuple[str, ...] = ()
    priority_classes: tuple[str, ...] = ()

    @property
    def object_name(self) -> str:
        """Return the name of its objects."""
        return f"accelerators-openshift-tenant-{self.name}"


def tenant_of(obj: KubeObject) -> str:
    """Return the tenant that an object with the label belongs to."""
    return str(obj["metadata"]["labels"][TENANT])


def objects(tenant: Tenant) -> list[KubeObject]:
    """Return everything of a tenant in the order of its writes: first what limits, then the rights."""
    found = []
    for namespace in tenant.namespaces:
        if tenant.priority_classes:
            found.append(_quota(tenant, namespace))
        found += [_role(tenant, namespace), _binding(tenant, namespace)]
    return found


def line(tenant: Tenant) -> str:
    """Return one line for people."""
    text = f"tenant {tenant.name} in {', '.join(tenant.namespaces)}"
    if tenant.queues:
        text += f", queues {', '.join(tenant.queues)}"
    if tenant.priority_classes:
        text += f", GPUs only with priority class {', '.join(tenant.priority_classes)}"
    return text


def _metadata(tenant: Tenant, namespace: str) -> KubeObject:
    return {"name": tenant.object_name, "namespace": namespace, "labels": {TENANT: tenant.name}}


def _role(tenant: Tenant, namespace: str) -> KubeObject:
    rules: list[KubeObject] = [
        _rule("", ("pods", "pods/log", "events", "resourcequotas"), _READ),
        _rule("quota.openshift.io", ("appliedclusterresourcequotas",), ("get", "list")),
        *(_rule(group, resources, _WRITE) for group, resources in _WORK),
        _rule("kueue.x-k8s.io", ("workloads",), _READ),
    ]
    if tenant.queues:
        rules.append(_rule("kueue.x-k8s.io", ("localqueues",), _READ) | {"resourceNames": [*tenant.queues]})
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "Role",
        "metadata": _metadata(tenant, namespace),
        "rules": rules,
    }


def _rule(group: str, resources: t.Sequence[str], verbs: t.Sequence[str]) -> KubeObject:
    return {"apiGroups": [group], "resources": [*resources], "verbs": [*verbs]}


def _binding(tenant: Tenant, namespace: str) -> KubeObject:
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": "RoleBinding",
        "metadata": _metadata(tenant, namespace),
        "roleRef": {"apiGroup": _GROUP, "kind": "Role", "name": tenant.object_name},
        "subjects": [subject.as_object() for subject in tenant.subjects],
    }


def _quota(tenant: Tenant, namespace: str) -> KubeObject:
    """Return the quota that gives no GPU to pods with another priority class, or with none."""
    scope = {"scopeName": "PriorityClass", "operator": "NotIn", "values": [*tenant.priority_classes]}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": _metadata(tenant, namespace),
        "spec": {"hard": {_GPUS: "0"}, "scopeSelector": {"matchExpressions": [scope]}},
    }
