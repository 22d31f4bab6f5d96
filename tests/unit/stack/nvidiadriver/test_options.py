# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of an NVIDIADriver are fields of its API."""

from __future__ import annotations

import json
import typing as t

import pytest
from unit.stack.nvidiadriver.test_manifest import CRDS

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.options import camel
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
    options as nvidiadriver_options,
)
from openshift_sandbox.catalogue.crds import overlaid


def paths(options: t.Mapping[str, t.Any], prefix: str = "") -> t.Iterator[str]:
    for name, one in options.items():
        path = f"{prefix}.{camel(name)}"
        yield path
        yield from paths(one.get("options") or {}, path)


@pytest.mark.skipif(
    not CRDS.is_file(), reason="the CRDs of the GPU operator were not built yet (sandbox build)"
)
def test_every_option_is_a_field_of_the_api() -> None:
    crd = overlaid(
        next(
            one
            for one in json.loads(CRDS.read_text())
            if one["metadata"]["name"] == "nvidiadrivers.nvidia.com"
        )
    )
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    for path in paths(nvidiadriver_options.FIELDS):
        field = schema
        for key in path[1:].split("."):
            field = (field.get("properties") or {}).get(key) or pytest.fail(f"{path} is not there")
