# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the tests of drivers."""

from __future__ import annotations

import copy

import pytest
from unit.stack.drivers.nodes import FIXTURE, Snapshot, driver


@pytest.fixture
def seen() -> Snapshot:
    snapshot: Snapshot = copy.deepcopy(FIXTURE)
    driver(snapshot)["spec"]["template"]["spec"]["containers"] = [
        {"name": "nvidia-driver-ctr", "image": "nvcr.io/nvidia/driver:595.91.07-rhel9.8"}
    ]
    return snapshot
