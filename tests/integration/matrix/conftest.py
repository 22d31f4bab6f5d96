# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stage for each file of the matrix."""

from __future__ import annotations

import typing as t

import pytest
from cluster import own
from integration.matrix.snapshot import Snapshot
from integration.matrix.stage import Stage
from integration.matrix.world import World
from integration.troubles.demo import Demo
from integration.wire import Audit


@pytest.fixture(scope="module")
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Stage]:
    """Yield a stage whose cluster has what `enable_gpus` makes."""
    with own(request.module.SCENARIO) as cluster:
        sandbox, folder = cluster.needs_sandbox(), tmp_path_factory.mktemp("matrix")
        demo = Demo(folder, cluster.kubeconfig)
        world = World(cluster, demo, Audit(sandbox.audit_log, cluster.client))
        enabled = world.enable()
        assert enabled.rc == 0, enabled.output[-3000:]
        yield Stage(world, Snapshot(sandbox), bool(request.config.getoption("--record")))
