# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What contract and integration tests share: one cluster for a whole run."""

from __future__ import annotations

import typing as t

import pytest

if t.TYPE_CHECKING:
    from cluster import Cluster


@pytest.fixture(scope="session")
def cluster() -> t.Iterator[Cluster]:
    # Not at the top: unit tests also run where the sandbox's packages are not installed.
    from cluster import running

    with running() as cluster:
        yield cluster
