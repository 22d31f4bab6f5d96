"""NodeFeatureRules and NodeFeatures: their checks, and what they give to nodes."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd import (
    features as nfd_features,
    rules as nfd_rules,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd.params import (
    FeatureEntry,
    RuleEntry,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd.rules import Given

FEATURE = "feature.node.kubernetes.io/"
Data = dict[str, t.Any]


def rules(**rule: t.Any) -> list[RuleEntry]:
    return [{"name": "r", "rules": [{"name": "x", **rule}]}]


@pytest.mark.parametrize(("namespaced", "place"), [(True, {"namespace": "openshift-nfd"}), (False, {})])
def test_rules_go_where_the_cluster_serves_them(namespaced: bool, place: dict[str, str]) -> None:
    rule = nfd_rules.build(
        {"name": "r", "rules": [{"name": "x"}]}, "openshift-nfd", "nfd.k8s-sigs.io/v1alpha1", namespaced
    )
    assert rule["metadata"] == {"name": "r", **place}
    assert rule["spec"] == {"rules": [{"name": "x"}]}


def test_values_become_text() -> None:
    (made,) = nfd_rules.plain(
        [{"name": "x", "labels": {"a": True, "b": 7}, "extendedResources": {"example.com/c": 2}}]
    )
    assert made == {
        "name": "x",
        "labels": {"a": "true", "b": "7"},
        "extendedResources": {"example.com/c": "2"},
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (rules() * 2, "rules[1].name 'r' appears twice"),
        ([{"name": "r", "rules": [{}]}], "rules[0].rules[0].name is missing"),
        (rules(labels={"a b": "x"}), "labels[a b] is no legal key"),
        (rules(labels={"a": "x/y"}), "labels[a] is 'x/y'"),
        (rules(labels={"node-role.kubernetes.io/gpu": "true"}), "a domain that nfd-master does not write to"),
        (
            rules(labels={"xfeature.node.kubernetes.io/gpu": "true"}),
            "a domain that nfd-master does not write to",
        ),
        (rules(extendedResources={"example.com/a": "many"}), "is no quantity"),
        (rules(taints=[{"key": "example.com/a"}]), "taints[0].effect is None"),
        (rules(taints=[{"key": "a", "effect": "NoSchedule"}]), "no taint without a domain"),
        (rules(matchFeatures=[{"feature": "pci"}]), "has feature 'pci'"),
        (
            rules(matchFeatures=[{"feature": "pci.device", "matchExpressions": {"class": {"op": "Is"}}}]),
            "class.op is 'Is'",
        ),
        (
            rules(
                matchAny=[
                    {
                        "matchFeatures": [
                            {
                                "feature": "pci.device",
                                "matchExpressions": {"class": {"op": "In", "value": [200]}},
                            }
                        ]
                    }
                ]
            ),
            "every value must be a text",
        ),
    ],
)
def test_what_nfd_master_would_drop_in_silence(given: list[RuleEntry], words: str) -> None:
    with pytest.raises(InputError) as caught:
        nfd_rules.check(given)
    assert caught.value.code == "NFD-RULE"
    assert words in caught.value.message


def test_a_good_rule_passes() -> None:
    match = {
        "feature": "pci.device",
        "matchExpressions": {"vendor": {"op": "In", "value": ["10de"]}},
        "matchName": {"op": "Exists"},
    }
    taints = [{"key": "example.com/a", "value": "x", "effect": "NoSchedule"}]
    labels = {
        "a": "@kernel.version.major",
        "sub.feature.node.kubernetes.io/b": "true",
        "profile.node.kubernetes.io/c": True,
    }
    nfd_rules.check(
        rules(
            labels=labels,
            extendedResources={"example.com/a": "@local.feature.count", "example.com/b": 2},
            taints=taints,
            matchFeatures=[match],
        )
    )


def test_what_a_rule_gives() -> None:
    given = nfd_rules.given(
        rules(labels={"a": "1"}, extendedResources={"example.com/r": "2"}, taints=[{"key": "example.com/t"}])[
            0
        ]["rules"]
    )
    assert given == Given(
        frozenset({f"{FEATURE}a"}), frozenset({"example.com/r"}), frozenset({"example.com/t"})
    )
    assert not given.without([given])
    assert given.without([Given(labels=given.labels)]) == Given(frozenset(), given.resources, given.taints)


def test_only_what_nfd_master_counts_as_its_own_is_left() -> None:
    given = Given(
        frozenset({f"{FEATURE}a", "example.com/b"}),
        frozenset({"example.com/r"}),
        frozenset({"example.com/t"}),
    )
    notes = {
        "feature-labels": "a,cpu-model.id",
        "extended-resources": "example.com/r",
        "taints": "example.com/t=x:NoSchedule",
    }
    node = {
        "metadata": {
            "labels": {"example.com/b": "by hand"},
            "annotations": {f"nfd.node.kubernetes.io/{key}": value for key, value in notes.items()},
        }
    }
    assert nfd_rules.left(node, given) == ["example.com/r", "example.com/t", f"{FEATURE}a"]
    assert nfd_rules.left({"metadata": {}}, given) == []


@pytest.mark.parametrize(("allowed", "count"), [(None, 0), ("", 0), ("^pci", 1), ("gpu", 0), ("(?<x", 0)])
def test_a_white_list_holds_labels_back(allowed: str | None, count: int) -> None:
    assert len(nfd_rules.held_back(allowed, rules(labels={"example.com/gpu": "true"}))) == count


# NodeFeatures


def entry(**more: t.Any) -> FeatureEntry:
    plain: FeatureEntry = {
        "name": "rack",
        "nodes": ["n"],
        "node_selector": None,
        "labels": None,
        "attributes": None,
        "flags": None,
        "instances": None,
    }
    return t.cast(FeatureEntry, {**plain, **more})


def test_a_node_feature() -> None:
    made = nfd_features.build(
        entry(
            labels={"rack": 17},
            attributes={"example.shell": {"id": 4}},
            flags={"example.state": ["warm"]},
            instances={"example.card": [{"slot": 1}]},
        ),
        "n.example.com",
        "openshift-nfd",
    )
    assert made["metadata"]["name"] == "rack-n.example.com"
    assert made["metadata"]["labels"] == {
        "nfd.node.kubernetes.io/node-name": "n.example.com",
        "accelerators.openshift/node-feature": "rack",
    }
    assert made["spec"] == {
        "labels": {f"{FEATURE}rack": "17"},
        "features": {
            "attributes": {"example.shell": {"elements": {"id": "4"}}},
            "flags": {"example.state": {"elements": {"warm": {}}}},
            "instances": {"example.card": {"elements": [{"attributes": {"slot": "1"}}]}},
        },
    }
    assert nfd_features.given(made).labels == {f"{FEATURE}rack"}
    assert not nfd_features.is_by_worker(made)


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ([entry(labels={"a": 1}), entry(labels={"a": 1})], "appears twice"),
        ([entry(name="Rack", labels={"a": 1})], "features[0].name is 'Rack'"),
        ([entry(labels={"a/": 1})], "is no legal key"),
        ([entry(labels={"a": "x y"})], "labels[a] is 'x y'"),
        ([entry(attributes={"shell": {"id": 4}})], "has feature 'shell'"),
        ([entry()], "publishes nothing"),
        ([entry(nodes=None, labels={"a": 1})], "selects no node"),
    ],
)
def test_node_features_are_checked(features: list[FeatureEntry], words: str) -> None:
    def check() -> None:
        nfd_features.check(features)
        nfd_features.check_present(features)

    with pytest.raises(InputError) as caught:
        check()
    assert (caught.value.code, words in caught.value.message) == ("NFD-FEATURE", True)


def published(
    name: str, node: str, labels: dict[str, str] | None = None, devices: list[dict[str, str]] | None = None
) -> Data:
    instances = {"pci.device": {"elements": [{"attributes": one} for one in devices or []]}}
    metadata = {
        "name": name,
        "namespace": "openshift-nfd",
        "labels": {"nfd.node.kubernetes.io/node-name": node},
    }
    return {"metadata": metadata, "spec": {"labels": labels or {}, "features": {"instances": instances}}}


def test_node_features_of_nodes_that_are_gone() -> None:
    found = nfd_features.orphans(
        [published("a", "a"), published("x-b", "b"), {"metadata": {"name": "c", "namespace": "x"}}], {"a"}
    )
    assert [one.as_result() for one in found] == [
        {"node": "b", "message": "node b does not exist", "name": "x-b", "namespace": "openshift-nfd"}
    ]


def test_a_worker_that_has_not_published_since_the_kernel_changed() -> None:
    node = {
        "metadata": {"name": "a", "labels": {f"{FEATURE}kernel-version.full": "5.14"}},
        "status": {"nodeInfo": {"kernelVersion": "5.15"}},
    }
    stale = nfd_features.outdated(node)
    assert stale is not None
    assert "labelled with kernel 5.14 and runs 5.15" in stale.message
    node["status"] = {"nodeInfo": {"kernelVersion": "5.14"}}
    assert nfd_features.outdated(node) is None
    assert nfd_features.outdated({"metadata": {"name": "a"}}) is None


PCI = f"{FEATURE}pci-10de.present"
GPU = {"class": "0302", "vendor": "10de"}


@pytest.mark.parametrize(
    ("features", "note", "words"),
    [
        ([], "", "no nfd-worker has published anything"),
        ([published("rack-a", "a")], "", "no nfd-worker has published anything"),
        ([published("a", "a", {PCI: "true"})], "", "openshift-nfd/a has it, nfd-master has not set it"),
        ([published("a", "a", {PCI: "true"})], "cpu-x,pci-10de.present", "another client removed it"),
        (
            [published("a", "a", devices=[GPU])],
            "",
            "PCI class 0302, which deviceClassWhitelist does not let through",
        ),
        ([published("a", "a", devices=[{"class": "0302", "vendor": "1002"}])], "", "does not see it"),
        ([published("b", "b", {PCI: "true"})], "", "no nfd-worker has published anything"),
    ],
)
def test_why_a_label_is_missing(features: list[Data], note: str, words: str) -> None:
    node = {"metadata": {"name": "a", "annotations": {"nfd.node.kubernetes.io/feature-labels": note}}}
    assert words in nfd_features.cause(node, PCI, features)
