# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The platform bare metal: a Machine takes a free BareMetalHost that its selector matches."""

from __future__ import annotations

import typing as t

from .._core.input import Field, Problems
from .._core.syntax import key_fault, value_fault
from .platform import Paths, Reports, Wanted, known_fields, refuse_disk, refuse_markets, refuse_zones

KEY: t.Final = "baremetal"
NAME: t.Final = "BareMetal"
OWN_TYPE: t.Final = "your own name for a kind of host"
HAS_TYPE_LABEL: t.Final = False
NO_IMAGE: t.Final = "Remove image, or set baremetal.image with url and checksum."
REPORTS: t.Final[Reports] = "nothing"
CHOSEN: t.Final[dict[str, str]] = {}
ZONED: t.Final = False
OPERATORS: t.Final = ("In", "NotIn", "Exists", "DoesNotExist")
OPTIONS: t.Final[dict[str, Field]] = {
    "host_selector": Field("labels"),
    "host_expressions": Field(
        "list",
        fields={
            "key": Field("text", required=True, fault=key_fault),
            "operator": Field("text", required=True, choices=OPERATORS),
            "values": Field("list", entry=Field("text", fault=value_fault)),
        },
    ),
    "image": Field(
        "map", fields={"url": Field("text", required=True), "checksum": Field("text", required=True)}
    ),
}
SHAPE: t.Final[dict[str, t.Any]] = {
    "apiVersion": None,
    "kind": None,
    "metadata": {"creationTimestamp": None},
    "image": {"url": None, "checksum": None},
    "customDeploy": {"method": None},
    "userData": {"name": None, "namespace": None},
    "hostSelector": {
        "matchLabels": None,
        "matchExpressions": [{"key": None, "operator": None, "values": None}],
    },
}
# Fields for the installation of a host, not those that select it.
COPIED: t.Final = ("apiVersion", "kind", "image", "customDeploy", "userData")
IMAGE: t.Final = "image"
# Operator of a pool -> the provider's word.
_WRITTEN: t.Final = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


def zone(provider: t.Mapping[str, t.Any]) -> str:
    return ""


def instance_type(provider: t.Mapping[str, t.Any]) -> str:
    return ""


def check(wanted: Wanted, paths: Paths, problems: Problems) -> None:
    refuse_markets(wanted, "bare metal", paths, problems)
    refuse_zones(
        wanted,
        "hosts of bare metal have no zones.",
        "Choose hosts with baremetal.host_selector instead.",
        paths,
        problems,
    )
    refuse_disk(wanted, (), "bare metal", paths, problems)
    chosen = (
        wanted.options.get("host_selector")
        or wanted.options.get("host_expressions")
        or (wanted.patch.get("hostSelector") or {})
    )
    if not chosen:
        also = " on bare metal: without it a machine takes any free host, with or without GPUs"
        remedy = "Label the BareMetalHosts, and select the label: baremetal: {host_selector: {gpu: h100}}."
        problems.add("POOL-REQUIRED", f"{paths.options}.host_selector", remedy=remedy, also=also)
    for index, expression in enumerate(wanted.options.get("host_expressions") or []):
        operator, values = expression.get("operator"), expression.get("values") or []
        if operator in ("In", "NotIn") and not values:
            where = f"{paths.options}.host_expressions[{index}].values"
            problems.add("POOL-REQUIRED", where, also=f" for {operator}")
        elif operator in ("Exists", "DoesNotExist") and values:
            where = f"{paths.options}.host_expressions[{index}].values"
            problems.add("POOL-CONFLICT", where, remedy="Remove it.", other=f"operator {operator}")


def build(source: t.Mapping[str, t.Any], wanted: Wanted) -> dict[str, t.Any]:
    source = known_fields(source, SHAPE)
    provider = {key: source[key] for key in COPIED if source.get(key) is not None}
    if wanted.options.get("image"):
        # A host has only one deploy method: the image replaces the reference's.
        provider = {
            **{key: value for key, value in provider.items() if key != "customDeploy"},
            "image": dict(wanted.options["image"]),
        }
    selector: dict[str, t.Any] = {}
    if wanted.options.get("host_selector"):
        selector["matchLabels"] = dict(wanted.options["host_selector"])
    if wanted.options.get("host_expressions"):
        selector["matchExpressions"] = [
            _expression(expression) for expression in wanted.options["host_expressions"]
        ]
    return {**provider, "hostSelector": selector}


def _expression(expression: dict[str, t.Any]) -> dict[str, t.Any]:
    written = {"key": expression["key"], "operator": _WRITTEN[expression["operator"]]}
    return {**written, "values": list(expression["values"])} if expression.get("values") else written
