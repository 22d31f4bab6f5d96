# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the tests of stacks."""

from __future__ import annotations

import copy

import pytest
from unit.stack.builders import FIXTURE, Snapshot


@pytest.fixture
def seen() -> Snapshot:
    return copy.deepcopy(FIXTURE)
