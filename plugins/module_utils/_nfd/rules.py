# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""NodeFeatureRules: their checks, their manifest, and what they give to nodes."""

from __future__ import annotations

import re
import typing as t

from .._catalogue.well_known import FEATURE
from .._core.errors import InputError
from .._core.objects import KubeObject
from .._core.syntax import key_fault, value_fault
from .._nodes.labels import text
from .params import RuleEntry

# API groups of the CRD: from OpenShift 4.19 on, and up to 4.18.
GROUPS: t.Final = ("nfd.k8s-sigs.io", "nfd.openshift.io")
OPERATORS: t.Final = (
    "In",
    "NotIn",
    "InRegexp",
    "Exists",
    "DoesNotExist",
    "Gt",
    "Lt",
    "GtLt",
    "IsTrue",
    "IsFalse",
)
EFFECTS: t.Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
# The only domains below kubernetes.io in which nfd-master accepts labels.
_ALLOWED: t.Final = (".feature.node.kubernetes.io", ".profile.node.kubernetes.io")
_QUANTITY: t.Final = re.compile(r"[0-9]+([.][0-9]+)?(m|k|[KMGTPE]i?)?")
_TEXTS: t.Final = ("labels", "annotations", "extendedResources", "vars")
# Annotations of a Node in which nfd-master lists what it has set.
LABELS_NOTE, RESOURCES_NOTE, TAINTS_NOTE = (
    f"nfd.node.kubernetes.io/{name}" for name in ("feature-labels", "extended-resources", "taints")
)


class Given(t.NamedTuple):
    """Keys, with their domain, of what rules and NodeFeatures give to nodes."""

    labels: frozenset[str] = frozenset()
    resources: frozenset[str] = frozenset()
    taints: frozenset[str] = frozenset()

    def without(self, others: t.Iterable[Given]) -> Given:
        """Return what none of the others gives."""
        rest = list(others)
        labels, resources, taints = (
            frozenset().union(*(getattr(one, field) for one in rest)) for field in self._fields
        )
        return Given(self.labels - labels, self.resources - resources, self.taints - taints)

    def __bool__(self) -> bool:
        return any(tuple(self))


def build(
    rule: RuleEntry, namespace: str, api_version: str = f"{GROUPS[0]}/v1alpha1", namespaced: bool = True
) -> KubeObject:
    """Return the NodeFeatureRule, in the namespace if the cluster serves the kind namespaced."""
    place = {"namespace": namespace} if namespaced else {}
    return {
        "apiVersion": api_version,
        "kind": "NodeFeatureRule",
        "metadata": {"name": rule["name"], **place},
        "spec": {"rules": plain(rule["rules"])},
    }


def plain(rules: t.Sequence[KubeObject]) -> list[KubeObject]:
    """Return the rules with the values of labels as text: YAML has true and 7."""
    made = []
    for rule in rules:
        one = dict(rule)
        for field in _TEXTS:
            if isinstance(one.get(field), dict):
                one[field] = {str(key): text(value) or "" for key, value in one[field].items()}
        made.append(one)
    return made


def has_taints(rules: t.Iterable[RuleEntry]) -> bool:
    return any(rule.get("taints") for entry in rules for rule in entry.get("rules") or [])


def check(rules: t.Sequence[RuleEntry]) -> None:
    """Raise NFD-RULE, with the path, for a rule that nfd-master would ignore with a line in its log."""
    seen: set[str] = set()
    for index, entry in enumerate(rules):
        path = f"rules[{index}]"
        if entry["name"] in seen:
            raise _wrong(
                f"{path}.name",
                f"{entry['name']!r} appears twice",
                "Give every rule object a different name.",
            )
        seen.add(entry["name"])
        for number, rule in enumerate(entry.get("rules") or []):
            _check_rule(rule, f"{path}.rules[{number}]")


def _check_rule(rule: KubeObject, path: str) -> None:
    if not rule.get("name"):
        raise _wrong(
            f"{path}.name", "is missing", "Name every rule: the log of nfd-master speaks of it by name."
        )
    for field, check_value in (("labels", value_fault), ("extendedResources", _quantity_fault)):
        for key, value in (rule.get(field) or {}).items():
            _check_key(str(key), f"{path}.{field}")
            fault = "" if str(value).startswith("@") else check_value(text(value) or "")
            if fault:
                raise _wrong(
                    f"{path}.{field}[{key}]",
                    f"is {value!r}, which {fault}",
                    "Change it, or take it from a feature: @domain.feature.element.",
                )
    for number, taint in enumerate(rule.get("taints") or []):
        where = f"{path}.taints[{number}]"
        if taint.get("effect") not in EFFECTS:
            raise _wrong(
                f"{where}.effect", f"is {taint.get('effect')!r}", f"Allowed are {', '.join(EFFECTS)}."
            )
        if "/" not in str(taint.get("key", "")):
            raise _wrong(
                f"{where}.key",
                f"is {taint.get('key')!r}; nfd-master sets no taint without a domain",
                "Write DOMAIN/NAME, as in example.com/fpga.",
            )
        _check_key(str(taint["key"]), f"{where}.key")
    matches = [
        *(rule.get("matchFeatures") or []),
        *(one for part in rule.get("matchAny") or [] for one in part.get("matchFeatures") or []),
    ]
    for match in matches:
        _check_match(match, path)


def _check_match(match: KubeObject, path: str) -> None:
    feature = str(match.get("feature") or "")
    if feature.count(".") < 1:
        raise _wrong(
            f"{path}.matchFeatures",
            f"has feature {feature!r}",
            "Write DOMAIN.FEATURE, for example pci.device, kernel.version or cpu.cpuid.",
        )
    terms = {
        **(match.get("matchExpressions") or {}),
        **({"matchName": match["matchName"]} if match.get("matchName") else {}),
    }
    for name, term in terms.items():
        if not isinstance(term, dict) or term.get("op") not in OPERATORS:
            said = term.get("op") if isinstance(term, dict) else term
            raise _wrong(
                f"{path}.matchFeatures[{feature}].{name}.op",
                f"is {said!r}",
                f"Allowed are {', '.join(OPERATORS)}.",
            )
        if any(not isinstance(value, str) for value in term.get("value") or []):
            raise _wrong(
                f"{path}.matchFeatures[{feature}].{name}.value",
                f"is {term['value']}, and every value must be a text",
                "Put the values in quotes.",
            )


def _check_key(key: str, path: str) -> None:
    if fault := key_fault(key):
        raise _wrong(f"{path}[{key}]", f"is no legal key: it {fault}", "Write NAME or DOMAIN/NAME.")
    domain = key.rpartition("/")[0]
    if (domain == "kubernetes.io" or domain.endswith(".kubernetes.io")) and not f".{domain}".endswith(
        _ALLOWED
    ):
        raise _wrong(
            f"{path}[{key}]",
            "is in a domain that nfd-master does not write to",
            f"Use a domain of your own, or {FEATURE[:-1]}.",
        )


def _quantity_fault(value: str) -> str:
    return "" if _QUANTITY.fullmatch(value) else "is no quantity such as 2 or 8Gi"


def given(rules: t.Iterable[KubeObject]) -> Given:
    """Return what the rules of one object give to nodes, without the results of templates."""
    rules = list(rules)
    taints = frozenset(str(taint.get("key")) for rule in rules for taint in rule.get("taints") or [])
    return Given(_keys(rules, "labels"), _keys(rules, "extendedResources"), taints)


def _keys(rules: t.Iterable[KubeObject], field: str) -> frozenset[str]:
    return frozenset(full(str(key)) for rule in rules for key in rule.get(field) or {})


def held_back(allowed: str | None, rules: t.Sequence[RuleEntry]) -> list[str]:
    """Return a warning if the instance's labelWhiteList suppresses labels of these rules."""
    labels = sorted({label for entry in rules for label in given(entry.get("rules") or []).labels})
    try:
        held = [label for label in labels if allowed and not re.search(allowed, label.rpartition("/")[2])]
    except re.error:  # not every expression of Go is one of Python
        return []
    return (
        [f"labelWhiteList {allowed!r} of the instance holds back {', '.join(held)}: no node will have it."]
        if held
        else []
    )


def copied_from(rule: KubeObject) -> str:
    """Return the uid of the rule in the older group of which this one is the operator's copy.

    Empty if it is no copy.
    """
    owners = rule["metadata"].get("ownerReferences") or []
    return next(
        (
            str(one["uid"])
            for one in owners
            if one.get("controller") and str(one.get("apiVersion")).startswith(f"{GROUPS[1]}/")
        ),
        "",
    )


def full(key: str) -> str:
    """Return the key with its domain: nfd-master adds its own to a key without one."""
    return key if "/" in key else f"{FEATURE}{key}"


def left(node: KubeObject, wanted: Given) -> list[str]:
    """Return what nfd-master still lists as its own on this node, of the wanted keys.

    A label that a user has set is not in its annotations.
    """
    notes = (node["metadata"].get("annotations")) or {}
    labels, resources = (
        {full(one) for one in (notes.get(note) or "").split(",") if one}
        for note in (LABELS_NOTE, RESOURCES_NOTE)
    )
    taints = {re.split("[=:]", one)[0] for one in (notes.get(TAINTS_NOTE) or "").split(",") if one}
    return sorted((labels & wanted.labels) | (resources & wanted.resources) | (taints & wanted.taints))


def _wrong(path: str, problem: str, remedy: str) -> InputError:
    return InputError("NFD-RULE", f"{path} {problem}.", remedy)
