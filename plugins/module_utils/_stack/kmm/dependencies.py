# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dependencies of a KMM Module: objects that we create before it, and objects that must exist."""

from __future__ import annotations

import typing as t

from ..._core.objects import KubeObject
from .manifest import PART_OF, places

# The value of option kmm, or of one of its suboptions.
Options = dict[str, t.Any]
_PRIVILEGED: t.Final = "system:openshift:scc:privileged"


class Need(t.NamedTuple):
    """An object that must exist. path: the option that names it."""

    kind: str
    name: str
    path: str


def accounts(kmm: Options) -> dict[str, str]:
    """Return the ServiceAccounts and the option that names each; every namespace has `default`."""
    found = {"kmm.service_account": kmm.get("service_account")}
    found |= {
        f"kmm.{key}.service_account": (kmm.get(key) or {}).get("service_account")
        for key in ("device_plugin", "dra")
    }
    return {name: path for path, name in found.items() if name and name != "default"}


def needs(kmm: Options) -> list[Need]:
    """Return the objects that the options name and that must exist before the Module."""
    secret = kmm.get("image_repo_secret")
    found = [Need("Secret", secret, "kmm.image_repo_secret")] if secret else []
    for path, place in places(kmm):
        build, sign = place.get("build") or {}, place.get("sign") or {}
        found += [Need("Secret", name, f"{path}.build.secrets") for name in build.get("secrets") or []]
        if text := build.get("dockerfile_config_map"):
            found.append(Need("ConfigMap", text, f"{path}.build.dockerfile_config_map"))
        names = [(key, sign.get(key)) for key in ("key_secret", "cert_secret")]
        found += [Need("Secret", name, f"{path}.sign.{key}") for key, name in names if name]
    if not kmm.get("create_service_accounts"):
        found += [Need("ServiceAccount", name, path) for name, path in accounts(kmm).items()]
    return found


def own(kmm: Options, name: str, namespace: str) -> list[KubeObject]:
    """Return the objects to create before the Module.

    Workers load kernel modules, so their ServiceAccount gets the privileged SecurityContextConstraints.
    """
    texts = {f"{name}-dockerfile": (kmm.get("build") or {}).get("dockerfile")}
    texts |= {
        f"{name}-{at}-dockerfile": (one.get("build") or {}).get("dockerfile")
        for at, one in enumerate(kmm.get("kernel_mappings") or [])
    }
    objects = [
        {**_object("v1", "ConfigMap", object_name, name, namespace), "data": {"dockerfile": text}}
        for object_name, text in texts.items()
        if text
    ]
    for account in accounts(kmm) if kmm.get("create_service_accounts") else ():
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": _PRIVILEGED}
        subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
        binding = _object(
            "rbac.authorization.k8s.io/v1", "RoleBinding", f"{account}-privileged", name, namespace
        )
        objects += [
            _object("v1", "ServiceAccount", account, name, namespace),
            {**binding, "roleRef": role, "subjects": [subject]},
        ]
    return objects


def _object(api_version: str, kind: str, object_name: str, module: str, namespace: str) -> KubeObject:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": object_name, "namespace": namespace, "labels": {PART_OF: module}},
    }
