# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of a driver's tag, as each release of the GPU operator writes it."""

from __future__ import annotations

import pytest

from openshift_sandbox.stand_ins.gpu_operator.labels import PRESENT
from openshift_sandbox.stand_ins.gpu_operator.rules.facts import RELEASE, kernels
from openshift_sandbox.stand_ins.gpu_operator.rules.release import Release

KERNEL = "feature.node.kubernetes.io/kernel-version.full"


@pytest.mark.parametrize(
    ("system", "version", "operator", "end"),
    [
        ("rhel", "9.8", (26, 3), "rhel9.8"),
        ("rhel", "9.8", (26, 7), "rhel9"),
        ("rhcos", "4.18", (26, 3), "rhcos4.18"),
        ("rhcos", "4.18", (26, 7), "rhcos4.18"),
    ],
)
def test_the_end_of_a_tag(system: str, version: str, operator: tuple[int, int], end: str) -> None:
    labels = {PRESENT: "true", KERNEL: "5.14", f"{RELEASE}ID": system, f"{RELEASE}VERSION_ID": version}
    node = {"metadata": {"name": "gpu-0", "labels": labels}}
    assert kernels([node], Release("nvidia-gpu-operator", operator)) == {"5.14": end}
