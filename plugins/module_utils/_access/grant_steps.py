# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of access_grant: give each playbook its roles, service account and bindings, or take them away."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject
from .._core.ownership import owned
from .._frame.argspec import StateParams
from .._kube.client import Api
from .._kube.kinds import known
from . import grant, grant_options, needs, steps, tenant_options, tenant_steps, tenants as tenant_objects
from .tenants import Tenant

# In the order of their removal: first what gives the rights.
_KINDS: t.Final = tuple(map(known, ("ClusterRoleBinding", "RoleBinding", "ClusterRole", "ServiceAccount")))
_NAMESPACE: t.Final = known("Namespace")
# Kind, namespace and name.
Key = tuple[str, str, str]


class AccessGrantParams(StateParams):
    """The options of access_grant.

    namespaces: place of the table -> a name, or a list of names. tenants: None leaves those of before.
    """

    playbooks: list[str]
    namespace: str
    namespaces: dict[str, t.Any]
    subjects: list[dict[str, t.Any]]
    tenants: list[dict[str, t.Any]] | None


def ensure(api: Api, params: AccessGrantParams) -> dict[str, t.Any]:
    """Return what was granted, line by line. Raise AcceleratorError before the first write."""
    wanted = grant_options.read(
        params["playbooks"], params["namespace"], params["namespaces"], params["subjects"]
    )
    tenants = tenant_options.read(params["tenants"])
    _require_administrator(api)
    live = _live(api, wanted) | {_key(obj): obj for obj in _of_tenants(api, params, tenants)}
    if params["state"] == "absent":
        _remove(api, live.values())
        return {"table": [], "accounts": []}
    wanted, missing = _placed(api, wanted)
    tenant_steps.check(api, tenants or ())
    objects = [obj for playbook in wanted.playbooks for obj in grant.objects(playbook, wanted)]
    objects += [obj for tenant in tenants or () for obj in tenant_objects.objects(tenant)]
    _refuse_foreign(api, objects, live)
    for namespace in missing:
        # Without the label of ownership: a removal of the GPU stack would delete the namespace, and with it
        # the rights.
        api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}, own=False)
    for obj in objects:
        before = live.pop(_key(obj), None)
        api.apply(obj, force_conflicts=before is not None, live=before)
    _remove(api, live.values())
    accounts = [grant.account(playbook, wanted.namespace)["metadata"] for playbook in wanted.playbooks]
    return {
        "table": [*grant.table(wanted), *map(tenant_objects.line, tenants or ())],
        "accounts": [
            {"playbook": playbook, "name": metadata["name"], "namespace": metadata["namespace"]}
            for playbook, metadata in zip(wanted.playbooks, accounts, strict=True)
        ],
    }


def _require_administrator(api: Api) -> None:
    """Raise API-RIGHTS if the identity may not give rights away."""
    missing = steps.missing_rights(api, needs.of("rbac", (), {}, ()).needed)
    if missing:
        listed = [f"{need.verb} {need.full}" for need in missing]
        raise AcceleratorError(
            "API-RIGHTS",
            user=steps.user(api) or "This identity",
            playbook="rbac",
            missing=", ".join(listed),
            remedy="Run the playbook with the kubeconfig of an administrator: `oc auth can-i '*' '*' "
            "--all-namespaces` says yes for one.",
            evidence=listed,
            facts={"missing": [need._asdict() for need in missing]},
        )


def _live(api: Api, wanted: grant.Wanted) -> dict[Key, KubeObject]:
    """Return everything of ours that gives rights to these playbooks, in the order of removal."""
    return {
        _key(obj): obj
        for kind in _KINDS
        for obj in api.list(kind, labels=grant.LABEL)
        if owned(obj) and grant.playbook_of(obj) in wanted.playbooks
    }


def _of_tenants(api: Api, params: AccessGrantParams, tenants: t.Sequence[Tenant] | None) -> list[KubeObject]:
    """Return what earlier runs gave tenants, as far as this task may change it.

    A task that names no tenants leaves them, but one that takes away the rights of all playbooks takes these
    too.
    """
    is_absent = params["state"] == "absent"
    if tenants is None:
        return tenant_steps.live(api) if is_absent and not params["playbooks"] else []
    return tenant_steps.live(api, {tenant.name for tenant in tenants} if is_absent else None)


def _placed(api: Api, wanted: grant.Wanted) -> tuple[grant.Wanted, list[str]]:
    """Return the wanted grants without places that this cluster lacks, and the namespaces to create.

    A namespace of OpenShift itself is missing where a capability is off, and nothing needs rights there.
    """
    needed = {place for playbook in wanted.playbooks for place in grant.roles(playbook) if place}
    namespaces, missing = dict(wanted.namespaces), dict[str, None]()
    existing = {namespace["metadata"]["name"] for namespace in api.list(_NAMESPACE, metadata_only=True)}
    for place in sorted(needed):
        absent = [name for name in namespaces[place] if name not in existing]
        if place in grant.CREATED:
            missing |= dict.fromkeys(absent)
            continue
        namespaces[place] = [name for name in namespaces[place] if name in existing]
        for name in absent:
            api.warn(f"The cluster has no namespace {name}: no rights are given there.")
    if wanted.namespace not in existing:
        missing[wanted.namespace] = None
    return wanted._replace(namespaces=namespaces), list(missing)


def _refuse_foreign(api: Api, objects: t.Iterable[KubeObject], live: t.Mapping[Key, KubeObject]) -> None:
    """Raise API-CONFLICT if others created an object of one of these names."""
    foreign = []
    for obj in objects:
        kind, namespace, name = key = _key(obj)
        if key not in live and api.get(known(kind), name, namespace or None) is not None:
            foreign.append((known(kind), name, namespace))
    if foreign:
        names = [
            f"{kind.kind} {f'{namespace}/' if namespace else ''}{name}" for kind, name, namespace in foreign
        ]
        first, name, namespace = foreign[0]
        where = f" -n {namespace}" if namespace else ""
        raise AcceleratorError(
            "API-CONFLICT",
            f"{', '.join(names)}: this collection did not create them. Nothing was changed.",
            f"Delete what stands in the way, and run again: `oc delete {first.resource} {name}{where}`. No "
            "pod ends.",
            evidence=names,
        )


def _remove(api: Api, objects: t.Iterable[KubeObject]) -> None:
    for obj in objects:
        kind, namespace, name = _key(obj)
        api.delete(known(kind), name, namespace or None, wait=False)


def _key(obj: KubeObject) -> Key:
    return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
