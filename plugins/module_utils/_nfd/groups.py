# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""API groups of rules and NodeFeatures: OpenShift's, and from 4.19 on upstream's, to which objects move."""

from __future__ import annotations

import contextlib
import typing as t

from .._core.errors import KindNotServedError
from .._core.objects import KubeObject
from .._core.ownership import MANAGED_BY, owned
from .._kube.client import Api
from .._kube.kinds import Kind, known
from . import rules

NEWER, OLDER = rules.GROUPS
FEATURE: t.Final = known("NodeFeature")
OLDER_FEATURE: t.Final = FEATURE._replace(api_version=f"{OLDER}/v1alpha1")
OLDER_RULE: t.Final = OLDER_FEATURE._replace(kind="NodeFeatureRule", plural="nodefeaturerules")
# Number of names in the warning about moved objects.
_SHOWN: t.Final = 5


def kind_of_rules(api: Api) -> Kind | None:
    """Return the kind NodeFeatureRule with the group and scope that this cluster serves, or None."""
    for group in rules.GROUPS:
        with contextlib.suppress(KindNotServedError):
            return api.resolve(f"{group}/v1alpha1", "NodeFeatureRule")
    return None


def features(api: Api, namespace: str | None = None, **query: t.Any) -> tuple[Kind, list[KubeObject]]:
    """Return the kind NodeFeature that this cluster's nfd-master reads, and its objects."""
    try:
        return FEATURE, api.list(FEATURE, namespace, **query)
    except KindNotServedError:
        with contextlib.suppress(KindNotServedError):
            return OLDER_FEATURE, api.list(OLDER_FEATURE, namespace, **query)
        raise


def older(api: Api, kind: Kind | None, of: Kind, **query: t.Any) -> list[KubeObject]:
    """Return the objects of the older kind `of` that are left on a cluster whose nfd-master reads `kind`."""
    if kind is None or kind.group != NEWER or not kind.namespaced:
        return []
    return api.list_if_served(of, **query)


def keep_rule(api: Api, kind: Kind, manifest: KubeObject, take: bool) -> None:
    """Apply a rule. take: whether to take over the fields of other managers.

    A rule of this collection in the older group, which the operator copies, moves to the newer group.
    """
    name, namespace = manifest["metadata"]["name"], manifest["metadata"].get("namespace")
    live = api.get(kind, name, namespace)
    source = _source(api, kind, live, name, namespace)
    if source is None or not owned(source):
        if source is not None and take:
            api.warn(
                f"This collection did not create NodeFeatureRule {name} of {OLDER}: "
                f"the operator overwrites its copy in {NEWER} whenever that one changes. Delete it: "
                "no pod ends."
            )
        api.apply(manifest, force_conflicts=take, live=live)
        return
    api.apply(
        {**manifest, "metadata": {**manifest["metadata"], "labels": {**MANAGED_BY}}},
        force_conflicts=True,
        live=live,
    )
    made = api.get(kind, name, namespace)
    if made is not None and (held := made["metadata"].get("ownerReferences")):
        # Else the garbage collector would delete it together with its owner.
        rest = [one for one in held if one["uid"] != source["metadata"]["uid"]]
        api.merge_patch(kind, name, namespace, {"metadata": {"ownerReferences": rest}})
    drop(api, OLDER_RULE, [source])


def drop(api: Api, kind: Kind, sources: t.Iterable[KubeObject]) -> None:
    """Delete objects that have moved to the newer group, and warn about it."""
    names = [
        one["metadata"]["name"]
        for one in sources
        if api.delete(kind, one["metadata"]["name"], one["metadata"]["namespace"])
    ]
    if names:
        shown = ", ".join(names[:_SHOWN]) + (
            f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        )
        api.warn(
            f"{kind.kind} {shown}: moved from {OLDER} to {NEWER}, "
            "the group that nfd-master reads from OpenShift 4.19 on."
        )


def _source(
    api: Api, kind: Kind, live: KubeObject | None, name: str, namespace: str | None
) -> KubeObject | None:
    """Return the rule of the older group that the operator copies to this one, or None.

    Only a rule that does not exist yet, or that is a copy, can have one.
    """
    if kind.group != NEWER or not kind.namespaced or (live is not None and not rules.copied_from(live)):
        return None
    try:
        return api.get(OLDER_RULE, name, namespace)
    except KindNotServedError:
        return None
