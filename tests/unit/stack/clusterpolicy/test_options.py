# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of a ClusterPolicy are fields of its API, and the other way round."""

from __future__ import annotations

import json
import typing as t

import pytest
import yaml
from unit.stack.clusterpolicy.test_manifest import CRDS, RAW, REFERENCE

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    options as clusterpolicy_options,
)
from openshift_sandbox.catalogue.crds import overlaid


def paths(options: t.Mapping[str, t.Any], prefix: str = "") -> t.Iterator[tuple[str, str]]:
    for name, one in options.items():
        path = f"{prefix}.{clusterpolicy_options.camel(name)}"
        yield path, one["type"]
        yield from paths(one.get("options") or {}, path)


@pytest.mark.skipif(
    not CRDS.is_file(), reason="the CRDs of the GPU operator were not built yet (sandbox build)"
)
def test_every_option_is_a_field_of_the_api() -> None:
    crd = overlaid(
        next(
            one
            for one in json.loads(CRDS.read_text())
            if one["metadata"]["name"] == "clusterpolicies.nvidia.com"
        )
    )
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    kinds = {"dict": "object", "str": "string", "bool": "boolean", "int": "integer", "list": "array"}
    for path, kind in paths(clusterpolicy_options.FIELDS):
        field = schema
        for key in path[1:].split("."):
            field = (field.get("properties") or {}).get(key) or pytest.fail(f"{path} is not there")
        assert field.get("type", "string") == kinds[kind], path


@pytest.mark.skipif(not REFERENCE.is_file(), reason="no reference CRD is here")
def test_every_field_of_the_newest_api_is_an_option_or_has_a_reason() -> None:
    (version,) = yaml.safe_load(REFERENCE.read_text())["spec"]["versions"]
    typed = {path[1:] for path, _kind in paths(clusterpolicy_options.FIELDS)}
    assert set(untyped(version["schema"]["openAPIV3Schema"]["properties"]["spec"], "", typed)) == RAW


def untyped(schema: dict[str, t.Any], path: str, typed: set[str]) -> t.Iterator[str]:
    """Fields that are neither an option nor inside one that takes a whole map."""
    below = schema.get("properties") or {}
    if path in typed and not any(one.startswith(f"{path}.") for one in typed):
        return
    if not below and path not in typed:
        yield path
    for name, inner in below.items():
        yield from untyped(inner, f"{path}.{name}" if path else name, typed)
