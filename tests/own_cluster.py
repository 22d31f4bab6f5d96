# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fixture `cluster` of test files that each have a sandbox of their own, with their SCENARIO."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, own


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> t.Iterator[Cluster]:
    with own(request.module.SCENARIO) as found:
        yield found
