# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifest of backend custom: what cannot work, and the object that is applied."""

from __future__ import annotations

from dataclasses import replace

import pytest
from unit.stack.custom.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.backend import OPTIONS, choose
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.custom import (
    manifest as custom_manifest,
)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"custom": None}, "custom is missing"),
        (
            {"custom": {"definition": {"kind": "A", "metadata": {"name": "a"}}}},
            "custom.definition.apiVersion",
        ),
        (
            {"custom": {"definition": {"apiVersion": "v1", "kind": "A", "metadata": None}}},
            "custom.definition.metadata.name",
        ),
        ({"custom": {"ready": None}}, "custom.ready"),
        ({"custom": {"ready": "status.["}}, "custom.ready"),
        ({"custom": {"failed": "nope(@)"}}, "custom.failed: 'nope(@)': Unknown function: nope()"),
        ({"name": "other"}, "name is other"),
        ({"tolerations": [{"operator": "Exists"}]}, "tolerations"),
    ],
)
def test_what_cannot_work_is_refused_at_once(change: KubeObject, path: str) -> None:
    given = params(**change)
    if change.get("custom", {}) is None:
        given = replace(given, custom=None)
    with pytest.raises(InputError, match=path.replace("(", r"\(").replace(")", r"\)").replace("[", r"\[")):
        custom_manifest.check(given)


def test_the_definition_names_the_object_and_the_raw_spec_is_merged() -> None:
    options = vars(params(spec={"image": {"pull": "Always"}}))
    _backend, given = choose(dict.fromkeys(OPTIONS) | options | {"name": None, "namespace": None})
    assert (given.name, given.namespace) == ("fpga", "fpga")
    built = custom_manifest.build(given, True)
    assert built["spec"] == {"image": {"tag": "1", "pull": "Always"}}
    assert built["metadata"] == {"name": "fpga", "namespace": "fpga"}
    assert custom_manifest.build(given, False)["metadata"] == {"name": "fpga"}
