# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: runs of the demo against the cluster of the tests."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.troubles.demo import Demo


@pytest.fixture(scope="module")
def demo(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Demo]:
    cluster.needs_sandbox()
    made = Demo(tmp_path_factory.mktemp("troubles"), cluster.kubeconfig)
    yield made
    assert made.remove().rc == 0
