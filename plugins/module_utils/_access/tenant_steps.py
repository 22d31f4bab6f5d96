# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of access_grant for tenants: check what they name, and see what earlier runs gave them."""

from __future__ import annotations

import contextlib
import typing as t

from .._catalogue import kueue
from .._core.errors import InputError, KindNotServedError
from .._core.objects import KubeObject, name
from .._core.ownership import TENANT, owned
from .._kube.client import Api
from .._kube.kinds import known
from .tenant_options import PATH
from .tenants import Tenant, tenant_of

# In the order of their removal: first what gives the rights, last what limits them.
KINDS: t.Final = ("RoleBinding", "Role", "ResourceQuota")
_LIMIT: t.Final = (
    "RBAC cannot say who may use a priority class. The ResourceQuota gives no GPU (nvidia.com/gpu) to pods "
    "with another class, or with none; it does not count MIG devices or claims."
)


def live(api: Api, names: t.Collection[str] | None = None) -> list[KubeObject]:
    """Return everything of ours that belongs to tenants, in the order of removal. names: of these alone."""
    return [
        obj
        for kind in KINDS
        for obj in api.list(known(kind), labels=TENANT)
        if owned(obj) and (names is None or tenant_of(obj) in names)
    ]


def check(api: Api, tenants: t.Sequence[Tenant]) -> None:
    """Raise InputError for a namespace or a priority class that the cluster lacks; warn of missing queues."""
    namespaces = {name(obj) for obj in api.list(known("Namespace"), metadata_only=True)} if tenants else set()
    for index, tenant in enumerate(tenants):
        for number, namespace in enumerate(tenant.namespaces):
            if namespace not in namespaces:
                where = f"{PATH}[{index}].namespaces[{number}]"
                message = f"{where}: the cluster has no namespace {namespace}. Nothing was changed."
                raise InputError(
                    "INPUT-VALUE", message, f"Run `oc new-project {namespace}`, or set {where} to another."
                )
        for number, priority_class in enumerate(tenant.priority_classes):
            if api.get(known("PriorityClass"), priority_class) is None:
                where = f"{PATH}[{index}].priority_classes[{number}]"
                message = f"{where}: the cluster has no priority class {priority_class}. Nothing was changed."
                raise InputError("INPUT-VALUE", message, f"Set {where} to one of `oc get priorityclasses`.")
        if tenant.priority_classes:
            api.progress(_LIMIT)
    _warn_of_queues(api, tenants)


def _warn_of_queues(api: Api, tenants: t.Iterable[Tenant]) -> None:
    named = [tenant for tenant in tenants if tenant.queues]
    for version in kueue.VERSIONS if named else ():
        with contextlib.suppress(KindNotServedError):
            kind = api.resolve(f"{kueue.GROUP}/{version}", kueue.LOCAL_QUEUE)
            for tenant in named:
                for namespace in tenant.namespaces:
                    there = {name(queue) for queue in api.list(kind, namespace)}
                    if missing := sorted({*tenant.queues} - there):
                        api.warn(f"Namespace {namespace} has no LocalQueue {', '.join(missing)}.")
            return
    if named:
        api.warn("The cluster does not serve Kueue, so the queues of tenants have no meaning yet.")
