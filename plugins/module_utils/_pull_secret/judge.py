# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rotation would do with each pull secret, and what it refuses before its first write."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from .._core import adoption
from .._core.errors import AcceleratorError
from .._core.objects import KubeObject
from . import docker_config
from .docker_config import Auths
from .uses import Used

CREATE, REPLACE, KEEP = "create", "replace", "keep"
_ACCOUNT: t.Final = "kubernetes.io/service-account.name"
# Start of a label or annotation -> the controller that writes Secrets.
_WRITERS: t.Final = {
    "reconcile.external-secrets.io/": "External Secrets",
    "externalsecrets.external-secrets.io/": "External Secrets",
    "sealedsecrets.bitnami.com/": "Sealed Secrets",
    "reflector.v1.k8s.emberstack.com/": "Reflector",
}


@dataclass(frozen=True)
class Rotation:
    """A pull secret with its content of today (None if there is no Secret) and the new one."""

    used: Used
    live: KubeObject | None
    before: Auths
    after: Auths

    @property
    def action(self) -> str:
        """Return CREATE, REPLACE or KEEP."""
        if self.live is None:
            return CREATE
        return KEEP if self.before == self.after else REPLACE

    @property
    def dropped(self) -> list[str]:
        """Return the registries of the old content that the new one lacks."""
        return sorted(set(self.before) - set(self.after))


def rotation(used: Used, live: KubeObject | None, after: Auths) -> Rotation:
    """Return what happens to one pull secret."""
    return Rotation(used, live, docker_config.read((live or {}).get("data") or {}), after)


def choose(found: t.Sequence[Used], names: t.Sequence[str]) -> list[Used]:
    """Return the pull secrets that the option names chooses; all without it. Raise AcceleratorError."""
    if not found:
        raise AcceleratorError("PULL-NONE")
    there = {f"{secret.namespace}/{secret.name}" for secret in found}
    unknown = [name for name in names if name not in there and name not in {used.name for used in found}]
    if unknown:
        raise AcceleratorError("PULL-UNKNOWN", names=", ".join(unknown), known=", ".join(sorted(there)))
    chosen = [secret for secret in found if {secret.name, f"{secret.namespace}/{secret.name}"} & set(names)]
    return chosen if names else list(found)


def refuse(rotation: Rotation, may_drop: bool) -> None:
    """Raise AcceleratorError if the Secret is not to be changed, or if the new content does not fit it."""
    if rotation.action == KEEP:
        return
    if rotation.live is not None:
        _refuse_owner(rotation.used, rotation.live)
        _refuse_type(rotation.used, rotation.live)
    _refuse_registry(rotation)
    if rotation.dropped and not may_drop:
        registries = ", ".join(rotation.dropped)
        raise AcceleratorError(
            "PULL-DROPS",
            secret=rotation.used.object_name,
            registries=registries,
            registry=rotation.dropped[0],
        )


def owner(live: KubeObject) -> str:
    """Return who writes the Secret and would undo a change, or ""."""
    metadata = live["metadata"]
    for reference in metadata.get("ownerReferences") or []:
        return f"{reference.get('kind')} {reference.get('name')}"
    marks = {**(metadata.get("labels") or {}), **(metadata.get("annotations") or {})}
    for key in sorted(marks):
        if writer := next((text for start, text in _WRITERS.items() if key.startswith(start)), ""):
            return writer
    if account := marks.get(_ACCOUNT):
        return f"ServiceAccount {account}"
    return adoption.other_manager(live)


def _refuse_owner(used: Used, live: KubeObject) -> None:
    if by := owner(live):
        raise AcceleratorError("PULL-OWNER", secret=used.object_name, owner=by)


def _refuse_type(used: Used, live: KubeObject) -> None:
    kind = live.get("type") or "Opaque"
    if kind != docker_config.TYPE or live.get("immutable"):
        what = "is immutable" if live.get("immutable") else f"has the type {kind}, not {docker_config.TYPE}"
        raise AcceleratorError(
            "PULL-TYPE", secret=used.object_name, why=what, name=used.name, namespace=used.namespace
        )


def _refuse_registry(rotation: Rotation) -> None:
    """Raise PULL-REGISTRY if images come from a registry that only the old content has a login for.

    An image that no content has a login for comes from a public registry, from a mirror, or with the pull
    secret of the whole cluster.
    """
    lost = [
        image
        for image in rotation.used.images
        if not docker_config.entry_of(rotation.after, image)
        and (rotation.live is None or docker_config.entry_of(rotation.before, image))
    ]
    if rotation.live is None and len(lost) < len(rotation.used.images):
        return
    if lost:
        registry = docker_config.host(lost[0])
        logins = ", ".join(sorted(rotation.after))
        raise AcceleratorError(
            "PULL-REGISTRY", secret=rotation.used.object_name, registry=registry, image=lost[0], logins=logins
        )
