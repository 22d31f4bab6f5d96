# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Node feature discovery taken away: what we made, then what it put on nodes is watched until it is gone."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _node_feature as node_feature
from ansible_collections.accelerators.openshift.plugins.module_utils import _node_feature_object as node_feature_object
from ansible_collections.accelerators.openshift.plugins.module_utils import _node_feature_rule as node_feature_rule
from ansible_collections.accelerators.openshift.plugins.module_utils._api import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import KindNotServedError
from ansible_collections.accelerators.openshift.plugins.module_utils._kinds import Kind
from ansible_collections.accelerators.openshift.plugins.module_utils._node_feature_rule import Given
from ansible_collections.accelerators.openshift.plugins.module_utils._ownership import owned
from ansible_collections.accelerators.openshift.plugins.module_utils._patience import Patience
from ansible_collections.accelerators.openshift.plugins.module_utils._procedures._node_features import (
    FEATURE,
    INSTANCE,
    NODE,
    Manifest,
    Params,
    found_instances,
    kind_of_rules,
    upstream,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._readiness import Readiness, pending, ready, worst


class Part(t.NamedTuple):
    """Rules and NodeFeatures that go, and those that stay."""

    kind: Kind | None
    rules: list[Manifest]
    features: list[Manifest]
    other_rules: list[Manifest]
    other_features: list[Manifest]

    def given(self) -> Given:
        """What only those that go have given to nodes."""
        going = [*(_given(rule) for rule in self.rules), *(node_feature_object.given(one) for one in self.features)]
        labels, resources, taints = (frozenset().union(*(getattr(one, field) for one in going)) for field in Given._fields)
        return Given(labels, resources, taints).without([*(_given(rule) for rule in self.other_rules), *map(node_feature_object.given, self.other_features)])


def absent(api: Api, params: Params) -> dict[str, t.Any]:
    """Named rules and features alone, or else all of ours and the instance."""
    instances, _is_served = found_instances(api)
    is_partial = bool(params["rules"] or params["features"])
    part = _chosen(api, params, is_partial)
    given = part.given()
    removed = {"rules": _deleted(api, part.kind, part.rules), "features": _deleted(api, FEATURE, part.features)}
    if given:
        _until_gone(api, params, given, instances)
    live = next((one for one in instances if one["metadata"]["name"] == params["name"] and one["metadata"]["namespace"] == params["namespace"]), None)
    if not is_partial and live:
        _remove_instance(api, params, live, instances, part)
    kept = bool(live) and (is_partial or not owned(live))
    available = bool(kept and live and node_feature.is_available(live))
    return {"name": params["name"], "namespace": params["namespace"], "available": available, "rules": [], "features": [], "nodes": [], "removed": removed}


def _deleted(api: Api, kind: Kind | None, objects: list[Manifest]) -> list[str]:
    return [one["metadata"]["name"] for one in objects if kind and api.delete(kind, one["metadata"]["name"], one["metadata"].get("namespace"))]


def _chosen(api: Api, params: Params, is_partial: bool) -> Part:
    names, entries = ({one["name"] for one in params[option]} for option in ("rules", "features"))
    kind = kind_of_rules(api)
    rules = api.list(kind) if kind else []
    going = [one for one in rules if (one["metadata"]["name"] in names if is_partial else owned(one)) and _is_here(one, params)]
    features = _features(api, going, entries if is_partial else None)
    mine = [one for one in features if owned(one) and one["metadata"]["namespace"] == params["namespace"] and _is_of(one, entries, is_partial)]
    # A foreign rule that is named stays, and the Api says so.
    ours = [one for one in going if owned(one)]
    return Part(kind, going, mine, [one for one in rules if one not in ours], [one for one in features if one not in mine])


def _features(api: Api, rules: list[Manifest], entries: set[str] | None) -> list[Manifest]:
    """Ours, and those of others that publish what the rules give: read in small pages, since those of workers are long."""
    keys = frozenset().union(*(_given(rule).labels for rule in rules))
    if entries == set() and not keys:
        return []

    def keep(feature: Manifest) -> Manifest | None:
        published = (feature.get("spec") or {}).get("labels") or {}
        is_wanted = not node_feature_object.is_by_worker(feature) or any(node_feature_rule.full(key) in keys for key in published)
        return {**feature, "spec": {"labels": published}} if is_wanted else None

    try:
        return api.list(FEATURE, keep=keep)
    except KindNotServedError:
        return []


def _is_here(rule: Manifest, params: Params) -> bool:
    return rule["metadata"].get("namespace") in (None, params["namespace"])


def _is_of(feature: Manifest, entries: set[str], is_partial: bool) -> bool:
    return not is_partial or (feature["metadata"].get("labels") or {}).get(node_feature_object.ENTRY) in entries


def _given(rule: Manifest) -> Given:
    return node_feature_rule.given((rule.get("spec") or {}).get("rules") or [])


def _until_gone(api: Api, params: Params, given: Given, instances: list[Manifest]) -> None:
    if not any(node_feature.is_available(one) for one in instances) and not node_feature.judge_upstream(upstream(api)).is_ready:
        what = ", ".join(sorted(given.labels | given.resources | given.taints))
        api.warn(f"No nfd-master is Available, so nothing takes {what} off the nodes; it is done when NFD runs again.")
        return
    patience = Patience(api.clock, params["grace"], ("NFD-LABEL-LEFT",))

    def judge(snapshot: t.Mapping[str, t.Sequence[Manifest]]) -> Readiness:
        return worst(patience.harden(_left(snapshot["nodes"], given))) if any(_left(snapshot["nodes"], given)) else ready("Gone", "No node has it any more.")

    api.wait({"nodes": Query(NODE)}, judge, "labels taken away", params["settle"])


def _left(nodes: t.Sequence[Manifest], given: Given) -> list[Readiness]:
    lines = {str(node["metadata"]["name"]): node_feature_rule.left(node, given) for node in nodes}
    remedy = "Look at the log of nfd-master; it takes away what no rule and no NodeFeature gives any more."
    return [
        pending(f"Left:{name}", f"Node {name} still has {', '.join(keys)}.", code="NFD-LABEL-LEFT", remedy=remedy, details=(f"{name}: {', '.join(keys)}",))
        for name, keys in sorted(lines.items())
        if keys
    ]


def _remove_instance(api: Api, params: Params, live: Manifest, instances: list[Manifest], part: Part) -> None:
    """Without nfd-master nothing takes labels away, so the operator is asked to, unless that would hit what others published."""
    others = [
        *(f"NodeFeatureRule {one['metadata']['name']}" for one in part.other_rules if not owned(one)),
        *(f"NodeFeature {one['metadata']['name']}" for one in part.other_features if not node_feature_object.is_by_worker(one) and not owned(one)),
        *(f"NodeFeatureDiscovery {one['metadata']['namespace']}/{one['metadata']['name']}" for one in instances if one is not live),
    ]
    if owned(live) and params["prune"] and others:
        api.warn(f"Labels may stay on the nodes: {', '.join(others[:5])} is somebody else's, and the operator's job would take its labels away too.")
    elif owned(live) and params["prune"] and not live["spec"].get("prunerOnDelete"):
        api.merge_patch(INSTANCE, live["metadata"]["name"], live["metadata"]["namespace"], {"spec": {"prunerOnDelete": True}})
    api.delete(INSTANCE, live["metadata"]["name"], live["metadata"]["namespace"])
