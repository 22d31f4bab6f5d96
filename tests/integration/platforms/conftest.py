# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: pools on the platform of the SCENARIO that a test file names.

AWS is the sandbox of the whole run; every other platform has a sandbox of its own.
"""

from __future__ import annotations

import typing as t

import pytest
from cluster import own
from integration.platforms.pools import Pools


@pytest.fixture
def pools(platform: Pools) -> t.Iterator[Pools]:
    """Remove all pools after the test, so that a failed test does not break the next one."""
    yield platform
    for name in platform.names():
        platform.remove({"name": name})


@pytest.fixture(scope="module")
def platform(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Pools]:
    directory = tmp_path_factory.mktemp("platform")
    scenario = request.module.SCENARIO
    if scenario == "aws":
        yield Pools.on(request.getfixturevalue("cluster"), directory)
        return
    with own(scenario) as cluster:
        yield Pools.on(cluster, directory)
