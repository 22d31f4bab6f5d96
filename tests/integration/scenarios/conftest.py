# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: a sandbox with the SCENARIO of the test file."""

from __future__ import annotations

import typing as t

import pytest
from cluster import own
from integration.scenarios.place import Place
from integration.troubles.demo import Demo
from integration.wire import Audit


@pytest.fixture(scope="module")
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Place]:
    with own(request.module.SCENARIO) as cluster:
        demo = Demo(tmp_path_factory.mktemp("scenario"), cluster.kubeconfig)
        yield Place(cluster, demo, Audit(cluster.needs_sandbox().audit_log, cluster.client))
