# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of a ClusterPolicy: the example of the installed operator, or our own default."""

from __future__ import annotations

import typing as t

import pytest
from unit.stack.clusterpolicy.test_manifest import GPU, params, version

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    default_spec,
    manifest as clusterpolicy_manifest,
)


def test_the_default_is_complete() -> None:
    spec = clusterpolicy_manifest.build(params(), default_spec.DEFAULT, None)["spec"]
    assert set(default_spec.REQUIRED) <= set(spec)
    assert spec["daemonsets"]["tolerations"] == [GPU]
    assert default_spec.DEFAULT["daemonsets"].get("tolerations") is None


def test_the_installed_operator_gives_the_base() -> None:
    installed = version(
        [
            {"kind": "NVIDIADriver", "spec": {"a": 1}},
            {"kind": "ClusterPolicy", "spec": {"driver": {"enabled": True}, "mig": {"strategy": "mixed"}}},
        ]
    )
    base = default_spec.example([version([]), installed])
    assert base["mig"] == {"strategy": "mixed"}
    assert set(default_spec.REQUIRED) <= set(base)


@pytest.mark.parametrize("examples", ["no json", "{}", "[1]", [], [{"kind": "ClusterPolicy", "spec": {}}]])
def test_a_useless_example_falls_back_to_the_default(examples: t.Any) -> None:
    assert default_spec.example([version(examples)]) is default_spec.DEFAULT
    assert default_spec.example([]) is default_spec.DEFAULT
