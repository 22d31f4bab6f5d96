# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of nfd_labels: apply the instance, rules and NodeFeatures, and wait for the labels."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from .._core.errors import AcceleratorError, KindNotServedError, NotReadyError
from .._core.objects import KubeObject, Snapshot
from .._core.ownership import owned, selector
from .._core.readiness import Readiness
from .._frame.adopt_or_apply import refuse_conflicts
from .._kube.client import Api, Query
from .._kube.kinds import Kind, known
from .._nodes import labels as node_labels
from . import features as nfd_features, groups, instance, report, rules
from .expectation import Judge, held, selected
from .params import NfdLabelsParams

INSTANCE: t.Final = known("NodeFeatureDiscovery")
NODE: t.Final = known("Node")
# Number of nodes whose NodeFeatures are read if labels are missing; each can have 100 kB.
_EXPLAINED: t.Final = 5


def check(params: NfdLabelsParams) -> None:
    """Raise InputError for options that cannot work, before the first request."""
    rules.check(params.rules)
    nfd_features.check(params.features)
    if params.state == "present":
        nfd_features.check_present(params.features)
        report.check(params)


def present(api: Api, params: NfdLabelsParams) -> dict[str, t.Any]:
    """Apply the instance, rules and NodeFeatures, wait for the labels, and return the facts."""
    instances, is_served = found_instances(api)
    live = instance.choose(instances, params.name, params.namespace)
    charts = upstream(api) if live is None else []
    if charts:
        api.warn(report.upstream_found(charts, bool(instances) or is_served))
    elif not is_served and not api.check_mode:
        api.list(INSTANCE)
    else:
        _keep_instance(api, params, instances, live)
        params = replace(params, name=live["metadata"]["name"] if live else params.name)
    _keep_rules(api, params)
    _keep_features(api, params)
    judge = Judge(params, api.clock)
    snapshot = _waited(api, params, judge, charts)
    facts = report.summarize(snapshot, params, judge.lost, predicted=api.check_mode)
    if params.stale_features != "ignore":
        facts["stale"] = [*facts["stale"], *_orphans(api, params)]
    for text in report.warnings(facts):
        api.warn(text)
    return facts


def found_instances(api: Api) -> tuple[list[KubeObject], bool]:
    """Return the instances of every namespace, and whether the cluster serves the kind."""
    try:
        return api.list(INSTANCE), True
    except KindNotServedError:
        return [], False


def upstream(api: Api) -> list[KubeObject]:
    """Return the Deployments of an NFD that a Helm chart installed."""
    return api.list(known("Deployment"), labels=selector(instance.UPSTREAM))


def _keep_instance(
    api: Api, params: NfdLabelsParams, instances: list[KubeObject], live: KubeObject | None
) -> None:
    if live is None:
        api.apply(instance.build(params, None))
        return
    for text in [
        *instance.warnings(params, instances, live),
        *rules.held_back(live["spec"].get("labelWhiteList"), params.rules),
    ]:
        api.warn(text)
    name, namespace = live["metadata"]["name"], live["metadata"]["namespace"]
    if owned(live):
        wanted = instance.build(replace(params, name=name), live)
        refuse_conflicts(live, instance.without_config(wanted), params.adopt)
        api.apply(wanted, force_conflicts=True, live=live)
    elif params.adopt == "take":
        api.apply(instance.adopted(params, live), force_conflicts=True, own=False, live=live)
    elif patch := instance.difference(params, live):
        api.merge_patch(INSTANCE, name, namespace, patch)


def _keep_rules(api: Api, params: NfdLabelsParams) -> None:
    if not params.rules:
        return
    kind = groups.kind_of_rules(api)
    if kind is None and not api.check_mode:
        raise instance.no_rules()
    for rule in params.rules:
        if kind is None:
            api.apply(rules.build(rule, params.namespace))
        else:
            groups.keep_rule(
                api,
                kind,
                rules.build(rule, params.namespace, kind.api_version, kind.namespaced),
                params.adopt == "take",
            )


def _keep_features(api: Api, params: NfdLabelsParams) -> None:
    """Apply one NodeFeature per node and entry; delete those of nodes that an entry no longer selects."""
    if not params.features:
        return
    nodes = api.list(
        NODE,
        labels=node_labels.common_selector([entry["node_selector"] or {} for entry in params.features]),
    )
    for entry in params.features:
        names = [str(node["metadata"]["name"]) for node in selected(nodes, entry)]
        if absent := sorted(set(entry["nodes"] or ()) - set(names)):
            api.warn(
                f"features[{entry['name']}]: node {', '.join(absent)} does not exist; "
                "run this again when it has joined."
            )
        mark = selector({nfd_features.ENTRY: entry["name"]})
        kind, published = _published(api, params.namespace, mark)
        wanted = [nfd_features.build(entry, name, params.namespace, kind.api_version) for name in names]
        there = {one["metadata"]["name"]: one for one in published}
        is_new = any(feature["metadata"]["name"] not in there for feature in wanted)
        for feature in wanted:
            api.apply(feature, live=there.pop(feature["metadata"]["name"], None))
        for name in there:
            api.delete(kind, name, params.namespace)
        if is_new:
            groups.drop(
                api,
                groups.OLDER_FEATURE,
                groups.older(api, kind, groups.OLDER_FEATURE, namespace=params.namespace, labels=mark),
            )


def _published(api: Api, namespace: str, labels: str) -> tuple[Kind, list[KubeObject]]:
    try:
        return groups.features(api, namespace, labels=labels)
    except KindNotServedError:
        if not api.check_mode:
            raise
        return groups.FEATURE, []


def _waited(
    api: Api, params: NfdLabelsParams, judge: Judge, charts: list[KubeObject]
) -> dict[str, list[KubeObject]]:
    queries = {"instances": Query(INSTANCE)}
    if charts:
        queries = {
            "upstream": Query(
                known("Deployment"),
                charts[0]["metadata"]["namespace"],
                labels=selector(instance.UPSTREAM),
            )
        }
    if selectors := report.selectors(params):
        queries["nodes"] = Query(NODE, labels=node_labels.common_selector(selectors))

    # The server's time before it lists the nodes.
    date = "" if api.changes else api.http.date

    def asked(seen: Snapshot) -> Readiness:
        snapshot = {"nodes": [], **seen}
        verdict = judge(snapshot)
        return replace(verdict, held=held(snapshot, params, date)) if verdict.is_ready else verdict

    try:
        return {"nodes": [], **api.wait(queries, asked, "node labels", params.settle)}
    except NotReadyError as exc:
        if exc.code in ("NFD-LABEL-MISSING", "NFD-TAINT"):
            exc.facts["met"] = judge.met
        if exc.code == "NFD-LABEL-MISSING":
            exc.evidence = _explained(api, exc.evidence, judge.missing)
        raise


def _explained(api: Api, evidence: list[str], missing: dict[str, tuple[KubeObject, list[str]]]) -> list[str]:
    """Return the lines with the causes that the NodeFeatures of the nodes tell."""
    names = sorted(missing)[:_EXPLAINED]
    try:
        _kind, features = groups.features(api, labels=f"{nfd_features.NODE_NAME} in ({','.join(names)})")
    except AcceleratorError:
        return evidence
    causes = {
        name: {nfd_features.cause(missing[name][0], label, features): label for label in missing[name][1]}
        for name in names
    }
    return [
        f"{line} ({'; '.join(causes[name])})" if causes.get(name := line.partition(":")[0]) else line
        for line in evidence
    ]


def _orphans(api: Api, params: NfdLabelsParams) -> list[dict[str, str]]:
    nodes = {one["metadata"]["name"] for one in api.list(NODE, metadata_only=True)}
    kind, features = groups.features(api, metadata_only=True)
    found = nfd_features.orphans(features, nodes)
    if params.stale_features == "remove":
        for one in found:
            api.delete(kind, one.name, one.namespace, owned_only=False)
    elif found:
        collector = api.get(known("Deployment"), "nfd-gc", params.namespace)
        api.warn(report.orphans_found(found, collector))
    return [one.as_result() for one in found]
