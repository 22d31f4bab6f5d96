# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifest of backend sro: the options checked, and the SpecialResource that they describe."""

from __future__ import annotations

import typing as t

from ..._core.errors import InputError
from ..._core.objects import KubeObject, at, merge
from ..params import StackParams

API_VERSION: t.Final = "sro.openshift.io/v1beta1"


def old_name(params: StackParams) -> str:
    return str(at(params.sro, "special_resource") or params.name or "")


def target(params: StackParams) -> str:
    """Return the backend that replaces the SpecialResource; empty without a migration."""
    return str(at(params.sro, "migrate_to") or "")


def check(params: StackParams) -> None:
    """Raise InputError for options that cannot work."""
    sro = params.sro or {}
    if not old_name(params):
        why = ", and sro.special_resource too: a SpecialResource has no usual name"
        raise InputError("INPUT-REQUIRED", option="name", example="my-driver", also=why)
    if target(params) and sro.get("chart"):
        raise InputError("INPUT-EXCLUSIVE", option="sro.chart", other="sro.migrate_to")
    if sro.get("chart") and not params.namespace:
        why = ": the chart is installed there"
        raise InputError("INPUT-REQUIRED", option="namespace", example="my-driver", also=why)


def build(params: StackParams) -> KubeObject:
    """Return the SpecialResource to apply: the options, with the raw spec merged over them."""
    sro = params.sro or {}
    spec = {
        "chart": sro["chart"],
        "namespace": params.namespace,
        "set": {"apiVersion": API_VERSION, "kind": "Values", **sro["set"]} if sro.get("set") else None,
        "nodeSelector": sro.get("node_selector"),
        "managementState": sro.get("management_state"),
    }
    spec = {key: value for key, value in spec.items() if value}
    return {
        "apiVersion": API_VERSION,
        "kind": "SpecialResource",
        "metadata": {"name": old_name(params)},
        "spec": merge(spec, params.spec),
    }
