# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators: which releases of OpenShift they support."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._update import operator_support


def csv(name: str, phase: str = "Succeeded", most: str = "") -> KubeObject:
    notes = {"olm.properties": f'[{{"type":"olm.maxOpenShiftVersion","value":"{most}"}}]'} if most else {}
    return {
        "metadata": {"name": name, "namespace": "n", "annotations": notes},
        "spec": {"version": name.partition(".v")[2]},
        "status": {"phase": phase, "message": "waits"},
    }


OPERATORS = [
    (csv("gpu-operator-certified.v26.7.0"), (4, 22), "ok", "as of 2026-08-31"),
    (csv("gpu-operator-certified.v26.7.0"), (4, 23), "warning", "supported on OpenShift 4.18 to 4.22"),
    (csv("gpu-operator-certified.v25.10.1"), (4, 22), "warning", "4.14 to 4.20"),
    (csv("gpu-operator-certified.v24.9.0"), (4, 23), "unknown", "states no last release"),
    (
        csv("gpu-operator-certified.v26.7.0", "Installing", most="4.22"),
        (4, 23),
        "blocking",
        "olm.maxOpenShiftVersion",
    ),
    (csv("nfd.4.22.0"), (4, 22), "ok", "stays as it is"),
    (csv("nfd.4.22.0"), (4, 23), "unknown", "states no last release"),
    (csv("any.v1.0.0", most="4.22"), (4, 23), "blocking", "made for OpenShift up to 4.22"),
    (csv("any.v1.0.0", most="4.23"), (4, 23), "unknown", "states no last release"),
    (csv("any.v1.0.0", phase="Failed"), (4, 22), "warning", "is Failed: waits"),
]


@pytest.mark.parametrize(("live", "target", "verdict", "text"), OPERATORS)
def test_operators_and_releases(live: KubeObject, target: tuple[int, int], verdict: str, text: str) -> None:
    (check,) = operator_support.checks([live], (4, 22), target)
    assert (check.verdict, text in check.message, check.name) == (
        verdict,
        True,
        f"operator {live['metadata']['name']}",
    )


def test_a_copied_csv_says_nothing() -> None:
    copied = csv("any.v1.0.0")
    copied["status"]["reason"] = "Copied"
    assert operator_support.checks([copied], (4, 22), (4, 23)) == []
