# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The matrix's own sandbox, and the option that writes what happens into docs/destructive.md."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, running


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write what happens into docs/destructive.md")


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> t.Iterator[Cluster]:
    """Yield a sandbox of its own: the pool and the stack stay from cell to cell, and nothing removes them."""
    with running(request.module.SCENARIO) as found:
        yield found
