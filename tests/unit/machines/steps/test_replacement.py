# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run that is over left behind, and what a replacement may end."""

from __future__ import annotations

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.machines.builders import Data

from ansible_collections.accelerators.openshift.plugins.module_utils._kube.session import Unguarded
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import replacement

DRAINING = "eva|laptop||2|2|"


class Guard(Unguarded):
    """A guard that knows one run that still changes the cluster."""

    def is_over(self, run_id: str) -> bool:
        return run_id != DRAINING


def cordoned(mark: str = "pool", run: str = "") -> Data:
    prefix = "accelerators.openshift/cordoned"
    annotations = {prefix: mark, **({f"{prefix}-by-run": run} if run else {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "annotations": annotations},
        "spec": {"unschedulable": True},
    }


@pytest.mark.parametrize(
    ("node", "stays"),
    [
        (cordoned(run=DRAINING), True),
        (cordoned(run="eva|laptop||1|1|"), False),
        (cordoned(), False),
        (cordoned(mark="admin"), True),
    ],
)
def test_only_a_cordon_of_a_run_that_is_over_goes(node: Data, stays: bool) -> None:
    server = FakeServer()
    server.put(node)
    replacement.restore(api_on(server, guard=Guard()), {"nodes": [node], "machines": []})
    (live,) = server.objects.values()
    assert bool(live["spec"].get("unschedulable")) is stays
