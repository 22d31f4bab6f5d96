# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the module nfd_labels, and their types."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

Labels = dict[str, t.Any]


class RuleEntry(t.TypedDict):
    """An entry of `rules`: the name of a NodeFeatureRule and its `spec.rules`."""

    name: str
    rules: list[dict[str, t.Any]]


class FeatureEntry(t.TypedDict):
    """An entry of `features`: nodes, and what the NodeFeatures of these nodes publish."""

    name: str
    nodes: list[str] | None
    node_selector: Labels | None
    labels: Labels | None
    attributes: dict[str, t.Any] | None
    flags: dict[str, t.Any] | None
    instances: dict[str, t.Any] | None


class Expectation(t.TypedDict):
    """An entry of `expect`. min_nodes: the least number of nodes. labels: None stands for an absent label."""

    nodes: list[str] | None
    node_selector: Labels | None
    min_nodes: int
    labels: Labels


@dataclass(frozen=True)
class NfdLabelsParams:
    """The options of nfd_labels. settle, grace: in seconds. compare: name of a set of nodes -> selection."""

    name: str
    namespace: str
    adopt: t.Literal["report", "take"]
    pci_classes: list[str]
    label_fields: list[str]
    worker_tolerations: list[dict[str, t.Any]] | None
    rules: list[RuleEntry]
    features: list[FeatureEntry]
    expect: list[Expectation]
    compare: dict[str, t.Any] | None
    stale_features: t.Literal["ignore", "report", "remove"]
    prune: bool
    settle: float
    grace: float
    state: t.Literal["present", "absent"]
    wait: bool
    wait_timeout: int
    lock_timeout: int


_LABELS: t.Final = {
    "nodes": {"type": "list", "elements": "str"},
    "node_selector": {"type": "dict"},
    "min_nodes": {"type": "int", "default": 1},
    "labels": {"type": "dict", "required": True},
}
_PUBLISHED: t.Final = {
    "name": {"type": "str", "required": True},
    "nodes": {"type": "list", "elements": "str"},
    "node_selector": {"type": "dict"},
    "labels": {"type": "dict"},
    "attributes": {"type": "dict"},
    "flags": {"type": "dict"},
    "instances": {"type": "dict"},
}
_RULE: t.Final = {
    "name": {"type": "str", "required": True},
    "rules": {"type": "list", "elements": "dict", "default": []},
}

OPTIONS: t.Final[dict[str, t.Any]] = {
    "name": {"type": "str", "default": "nfd-instance"},
    "namespace": {"type": "str", "default": "openshift-nfd"},
    "adopt": {"type": "str", "choices": ["report", "take"], "default": "report"},
    "pci_classes": {"type": "list", "elements": "str", "default": ["02", "03", "0b40", "12"]},
    "label_fields": {"type": "list", "elements": "str", "default": ["vendor"]},
    "worker_tolerations": {"type": "list", "elements": "dict"},
    "rules": {"type": "list", "elements": "dict", "default": [], "options": _RULE},
    "features": {"type": "list", "elements": "dict", "default": [], "options": _PUBLISHED},
    "expect": {"type": "list", "elements": "dict", "default": [], "options": _LABELS},
    "compare": {"type": "dict"},
    "stale_features": {"type": "str", "choices": ["ignore", "report", "remove"], "default": "ignore"},
    "prune": {"type": "bool", "default": True},
    "settle": {"type": "float", "default": 1},
    "grace": {"type": "float", "default": 60},
}
