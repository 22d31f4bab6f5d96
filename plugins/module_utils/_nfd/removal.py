# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of own rules, NodeFeatures and the instance, and the wait until their labels are gone."""

from __future__ import annotations

import typing as t

from .._core.errors import KindNotServedError, text_of
from .._core.objects import KubeObject
from .._core.ownership import MANAGED_BY, owned, selector
from .._core.readiness import Grace, Readiness, pending, ready, worst
from .._kube.client import Api, Query
from .._kube.kinds import Kind
from . import features as nfd_features, groups, instance, rules as nfd_rules
from .params import NfdLabelsParams
from .rules import Given
from .steps import INSTANCE, NODE, found_instances, upstream


class Removal(t.NamedTuple):
    """Rules and NodeFeatures to delete, each with its kind, and those that stay."""

    rules: list[tuple[Kind, KubeObject]]
    features: list[tuple[Kind, KubeObject]]
    other_rules: list[KubeObject]
    other_features: list[KubeObject]

    def given(self) -> Given:
        """Return what the nodes get only by the objects to delete."""
        going = [
            *(_given(rule) for _kind, rule in self.rules),
            *(nfd_features.given(one) for _kind, one in self.features),
        ]
        labels, resources, taints = (
            frozenset().union(*(getattr(one, field) for one in going)) for field in Given._fields
        )
        return Given(labels, resources, taints).without(
            [
                *(_given(rule) for rule in self.other_rules),
                *map(nfd_features.given, self.other_features),
            ]
        )


def absent(api: Api, params: NfdLabelsParams) -> dict[str, t.Any]:
    """Delete the named rules and features, or else everything of this collection. Return the facts."""
    instances, _is_served = found_instances(api)
    is_partial = bool(params.rules or params.features)
    removal = _chosen(api, params, is_partial)
    given = removal.given()
    removed = {"rules": _deleted(api, removal.rules), "features": _deleted(api, removal.features)}
    if given:
        _until_gone(api, params, given, instances)
    live = next(
        (
            one
            for one in instances
            if one["metadata"]["name"] == params.name and one["metadata"]["namespace"] == params.namespace
        ),
        None,
    )
    if not is_partial and live:
        _remove_instance(api, params, live, instances, removal)
    kept = bool(live) and (is_partial or not owned(live))
    available = bool(kept and live and instance.is_available(live))
    return {
        "name": params.name,
        "namespace": params.namespace,
        "available": available,
        "rules": [],
        "features": [],
        "nodes": [],
        "removed": removed,
    }


def _deleted(api: Api, objects: list[tuple[Kind, KubeObject]]) -> list[str]:
    """Delete the objects and return their names. The operator's copy of an own rule goes with it."""
    sources = {one["metadata"]["uid"] for _kind, one in objects if owned(one)}
    gone = [
        one["metadata"]["name"]
        for kind, one in objects
        if api.delete(
            kind,
            one["metadata"]["name"],
            one["metadata"].get("namespace"),
            owned_only=nfd_rules.copied_from(one) not in sources,
        )
    ]
    return list(dict.fromkeys(gone))


def _chosen(api: Api, params: NfdLabelsParams, is_partial: bool) -> Removal:
    names, entries = ({one["name"] for one in named} for named in (params.rules, params.features))
    kind = groups.kind_of_rules(api)
    # The older group first: while a rule of it exists, the operator recreates its copy.
    rules = [(groups.OLDER_RULE, one) for one in groups.older(api, kind, groups.OLDER_RULE)]
    rules += [(kind, one) for one in api.list(kind)] if kind else []
    sources = {one["metadata"]["uid"] for _kind, one in rules if owned(one)}

    def is_ours(rule: KubeObject) -> bool:
        return owned(rule) or nfd_rules.copied_from(rule) in sources

    going = [
        (of, one)
        for of, one in rules
        if (one["metadata"]["name"] in names if is_partial else is_ours(one))
        and _is_here(one, params.namespace)
    ]
    of_features, features = _features(api, [one for _kind, one in going], entries if is_partial else None)
    mine = [
        one
        for one in features
        if owned(one)
        and one["metadata"]["namespace"] == params.namespace
        and _is_of(one, entries, is_partial)
    ]
    # A named foreign rule stays; the Api warns about it.
    ours = [one for _kind, one in going if is_ours(one)]
    published = [
        (groups.OLDER_FEATURE, one)
        for one in (_older_features(api, params.namespace, of_features) if entries or not is_partial else [])
        if _is_of(one, entries, is_partial)
    ]
    published += [(of_features, one) for one in mine]
    return Removal(
        going,
        published,
        [one for _kind, one in rules if one not in ours],
        [one for one in features if one not in mine],
    )


def _older_features(api: Api, namespace: str, kind: Kind) -> list[KubeObject]:
    place = {"namespace": namespace, "labels": selector(MANAGED_BY)}
    return groups.older(api, kind, groups.OLDER_FEATURE, **place)


def _features(api: Api, rules: list[KubeObject], entries: set[str] | None) -> tuple[Kind, list[KubeObject]]:
    """Return the NodeFeatures of this collection, and foreign ones that publish the labels of the rules.

    They are filtered while they are read, because those of workers are long.
    """
    keys = frozenset().union(*(_given(rule).labels for rule in rules))
    if entries == set() and not keys:
        return groups.FEATURE, []

    def keep(feature: KubeObject) -> KubeObject | None:
        published = (feature.get("spec") or {}).get("labels") or {}
        is_wanted = not nfd_features.is_by_worker(feature) or any(
            nfd_rules.full(key) in keys for key in published
        )
        return {**feature, "spec": {"labels": published}} if is_wanted else None

    try:
        return groups.features(api, keep=keep)
    except KindNotServedError:
        return groups.FEATURE, []


def _is_here(rule: KubeObject, namespace: str) -> bool:
    return rule["metadata"].get("namespace") in (None, namespace)


def _is_of(feature: KubeObject, entries: set[str], is_partial: bool) -> bool:
    return not is_partial or (feature["metadata"].get("labels") or {}).get(nfd_features.ENTRY) in entries


def _given(rule: KubeObject) -> Given:
    return nfd_rules.given((rule.get("spec") or {}).get("rules") or [])


def _until_gone(api: Api, params: NfdLabelsParams, given: Given, instances: list[KubeObject]) -> None:
    if (
        not any(instance.is_available(one) for one in instances)
        and not instance.judge_upstream(upstream(api)).is_ready
    ):
        what = ", ".join(sorted(given.labels | given.resources | given.taints))
        api.warn(
            f"No nfd-master is Available, so nothing removes {what} from the nodes until NFD runs again."
        )
        return
    patience = Grace(api.clock, params.grace, ("NFD-LABEL-LEFT",))

    def judge(snapshot: t.Mapping[str, t.Sequence[KubeObject]]) -> Readiness:
        return (
            worst(patience.harden(_left(snapshot["nodes"], given)))
            if any(_left(snapshot["nodes"], given))
            else ready("Gone", "No node has them any more.")
        )

    api.wait({"nodes": Query(NODE)}, judge, "labels taken away", params.settle)


def _left(nodes: t.Sequence[KubeObject], given: Given) -> list[Readiness]:
    lines = {str(node["metadata"]["name"]): nfd_rules.left(node, given) for node in nodes}
    return [
        pending(
            f"Left:{name}",
            **text_of("NFD-LABEL-LEFT", node=name, labels=", ".join(keys))._asdict(),
            details=(f"{name}: {', '.join(keys)}",),
        )
        for name, keys in sorted(lines.items())
        if keys
    ]


def _remove_instance(
    api: Api, params: NfdLabelsParams, live: KubeObject, instances: list[KubeObject], removal: Removal
) -> None:
    """Delete the instance. The operator's job (prunerOnDelete) removes all labels if no owner is foreign."""
    others = [
        *(f"NodeFeatureRule {one['metadata']['name']}" for one in removal.other_rules if not owned(one)),
        *(
            f"NodeFeature {one['metadata']['name']}"
            for one in removal.other_features
            if not nfd_features.is_by_worker(one) and not owned(one)
        ),
        *(
            f"NodeFeatureDiscovery {one['metadata']['namespace']}/{one['metadata']['name']}"
            for one in instances
            if one is not live
        ),
    ]
    if owned(live) and params.prune and others:
        api.warn(
            f"Labels may stay on the nodes: {', '.join(others[:5])} has another owner, "
            "and the operator's job would remove its labels too."
        )
    elif owned(live) and params.prune and not live["spec"].get("prunerOnDelete"):
        api.merge_patch(
            INSTANCE,
            live["metadata"]["name"],
            live["metadata"]["namespace"],
            {"spec": {"prunerOnDelete": True}},
        )
    api.delete(INSTANCE, live["metadata"]["name"], live["metadata"]["namespace"])
