# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Rules and NodeFeatures in whichever API group the cluster serves, and moved from OpenShift's own to upstream's, which it has served beside it since 4.19."""

from __future__ import annotations

import contextlib
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import KindNotServedError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY, owned
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind, known
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import rules

Manifest = dict[str, t.Any]
NEWER, OLDER = rules.GROUPS
FEATURE: t.Final = known("NodeFeature")
OLDER_FEATURE: t.Final = FEATURE._replace(api_version=f"{OLDER}/v1alpha1")
OLDER_RULE: t.Final = OLDER_FEATURE._replace(kind="NodeFeatureRule", plural="nodefeaturerules")
# So many are named when they have moved.
_SHOWN: t.Final = 5


def kind_of_rules(api: Api) -> Kind | None:
    """Group and scope of NodeFeatureRule depend on the release, so the server is asked, once a task."""
    for group in rules.GROUPS:
        with contextlib.suppress(KindNotServedError):
            return api.resolve(f"{group}/v1alpha1", "NodeFeatureRule")
    return None


def features(api: Api, namespace: str | None = None, **query: t.Any) -> tuple[Kind, list[Manifest]]:
    """NodeFeatures, and the kind that this cluster's nfd-master reads."""
    try:
        return FEATURE, api.list(FEATURE, namespace, **query)
    except KindNotServedError:
        with contextlib.suppress(KindNotServedError):
            return OLDER_FEATURE, api.list(OLDER_FEATURE, namespace, **query)
        raise


def older(api: Api, kind: Kind | None, of: Kind, **query: t.Any) -> list[Manifest]:
    """What is left in the older group of a cluster that reads the newer one, kind. of: the older one."""
    if kind is None or kind.group != NEWER or not kind.namespaced:
        return []
    try:
        return api.list(of, **query)
    except KindNotServedError:
        return []


def keep_rule(api: Api, kind: Kind, manifest: Manifest, take: bool) -> None:
    """take: whether fields of somebody else are taken over. A rule of ours in the older group, which the operator copies, becomes one in the newer."""
    name, namespace = manifest["metadata"]["name"], manifest["metadata"].get("namespace")
    live = api.get(kind, name, namespace)
    source = _source(api, kind, live, name, namespace)
    if source is None or not owned(source):
        if source is not None and take:
            api.warn(
                f"NodeFeatureRule {name} of {OLDER} is somebody else's: the operator writes its copy in {NEWER} anew whenever that one changes. Delete it."
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
        # Else the garbage collector would take it along.
        rest = [one for one in held if one["uid"] != source["metadata"]["uid"]]
        api.merge_patch(kind, name, namespace, {"metadata": {"ownerReferences": rest}})
    drop(api, OLDER_RULE, [source])


def drop(api: Api, kind: Kind, sources: t.Iterable[Manifest]) -> None:
    """Takes away what has its successor in the newer group."""
    names = [
        one["metadata"]["name"]
        for one in sources
        if api.delete(kind, one["metadata"]["name"], one["metadata"]["namespace"])
    ]
    if names:
        told = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
        api.warn(
            f"{kind.kind} {told}: moved from {OLDER} to {NEWER}, the group that nfd-master reads from OpenShift 4.19 on."
        )


def _source(api: Api, kind: Kind, live: Manifest | None, name: str, namespace: str | None) -> Manifest | None:
    """The rule of the older group that the operator makes this one from. It is looked for when there is none yet, and when this one is a copy."""
    if kind.group != NEWER or not kind.namespaced or (live is not None and not rules.copied_from(live)):
        return None
    try:
        return api.get(OLDER_RULE, name, namespace)
    except KindNotServedError:
        return None
