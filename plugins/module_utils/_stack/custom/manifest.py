# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifest of backend custom: the user's object and expressions, checked and completed."""

from __future__ import annotations

import typing as t

from ..._core.errors import InputError
from ..._core.expression import Expression
from ..._core.objects import KubeObject, at, merge
from ..._nodes.pool_nodes import check_resources
from ..params import StackParams, StackPool

_AVAILABLE: t.Final = "status.conditions[?type=='Available'].status | [0] == 'True'"


class Expressions(t.NamedTuple):
    """The user's expressions about the object; only C(ready) is required."""

    ready: Expression
    failed: Expression | None
    says: Expression | None


def check(params: StackParams) -> None:
    """Raise InputError for options that cannot work."""
    custom = params.custom
    if not custom:
        example = f'{{definition: THE OBJECT, ready: "{_AVAILABLE}"}}'
        raise InputError("INPUT-REQUIRED", option="custom", example=example, also=", and backend is custom")
    _check_definition(custom["definition"])
    check_resources(custom.get("expected") or {}, "custom.expected")
    metadata = custom["definition"]["metadata"]
    for option in ("name", "namespace"):
        given, written = getattr(params, option), metadata.get(option)
        if written and given != written:
            message = f"{option} is {given}, and custom.definition.metadata.{option} is {written}."
            raise InputError("INPUT-VALUE", message, f"Leave {option} out.")
    if params.tolerations:
        message = "tolerations are given, and backend custom does not know where its object keeps them."
        raise InputError("INPUT-OPTION", message, "Write them into custom.definition.spec.")
    if params.state == "present":
        if not custom.get("ready"):
            why = ": without it the task cannot know when the object is ready"
            raise InputError("INPUT-REQUIRED", option="custom.ready", example=f'"{_AVAILABLE}"', also=why)
        expressions(params)


def _check_definition(definition: KubeObject) -> None:
    examples = {"apiVersion": "fpga.example.com/v1", "kind": "FpgaStack", "metadata.name": "fpga"}
    for path, example in examples.items():
        value = at(definition, path)
        if not value or not isinstance(value, str):
            raise InputError("INPUT-REQUIRED", option=f"custom.definition.{path}", example=example)


def expressions(params: StackParams) -> Expressions:
    """Return the compiled expressions; raise InputError for one that is no JMESPath."""
    custom = params.custom or {}
    failed, says = (
        Expression(f"custom.{key}", custom[key]) if custom.get(key) else None for key in ("failed", "says")
    )
    return Expressions(Expression("custom.ready", custom["ready"]), failed, says)


def build(params: StackParams, namespaced: bool) -> KubeObject:
    """Return the object to apply: the definition, with the raw spec merged over it."""
    definition = (params.custom or {})["definition"]
    metadata = {key: value for key, value in definition["metadata"].items() if key != "namespace"}
    if namespaced and params.namespace:
        metadata["namespace"] = params.namespace
    wanted = {**definition, "metadata": metadata}
    if params.spec:
        wanted["spec"] = merge(definition.get("spec") or {}, params.spec)
    return wanted


def pools(params: StackParams) -> list[StackPool]:
    """Return the pools; one that expects nothing of its own expects custom.expected."""
    common = (params.custom or {}).get("expected") or {}
    return [{**pool, "expected": pool.get("expected") or common} for pool in params.pools]
