# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifest of backend sro: what cannot work, and the SpecialResource."""

from __future__ import annotations

import pytest
from unit.stack.sro.builders import CHART, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.sro import (
    manifest as sro_manifest,
)


def test_the_object_is_built() -> None:
    given = params(
        sro={
            "chart": CHART,
            "set": {"a": 1},
            "node_selector": {"x": "y"},
            "management_state": "Managed",
        }
    )
    assert sro_manifest.build(given)["spec"] == {
        "chart": CHART,
        "namespace": "kmod",
        "set": {"apiVersion": "sro.openshift.io/v1beta1", "kind": "Values", "a": 1},
        "nodeSelector": {"x": "y"},
        "managementState": "Managed",
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": ""}, "name is missing"),
        ({"sro": {"chart": CHART, "migrate_to": "kmm"}}, "exclude each other"),
        ({"namespace": ""}, "namespace is missing"),
    ],
)
def test_what_cannot_work_is_refused_at_once(change: KubeObject, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        sro_manifest.check(params(**change))
    if caught.value.code == "INPUT-REQUIRED":
        assert caught.value.remedy.startswith("Set ")
