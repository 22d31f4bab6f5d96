# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What operator_upgrade leaves behind when it is refused, and what check mode says about channels."""

from __future__ import annotations

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.operators.builders import OLD_DRIVER, csv, csv_name
from unit.operators.test_steps import KINDS, OLM, SPACE, params, plan, put

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._operators import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.order import GPU


@pytest.fixture
def server() -> FakeServer:
    return FakeServer(*KINDS, "ClusterPolicy")


def channel_of(server: FakeServer) -> str:
    live = next(one for one in server.objects.values() if one["kind"] == "Subscription")
    return str(live["spec"]["channel"])


def test_a_plan_that_is_refused_at_its_approval_gives_the_channel_back(server: FakeServer) -> None:
    put(server, GPU, "1.1.0", "a")
    installed = csv("1.1.0", GPU, DRIVER_IMAGE=OLD_DRIVER)
    installed["metadata"]["namespace"] = SPACE
    server.put({"apiVersion": OLM, "kind": "ClusterServiceVersion", **installed})
    plan(server, csv_name("1.2.0"))
    policy = {"metadata": {"name": "gpu"}, "spec": {"driver": {}}}
    server.put({"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", **policy})
    with pytest.raises(AcceleratorError) as caught:
        steps.upgrade(api_on(server), params({"name": "gpu", "channel": "b"}, repair=True))
    error = caught.value
    assert error.code == "OLM-DRIVER-CHANGE"
    assert channel_of(server) == "a"
    assert error.message.endswith("The Subscription has channel a again.")
    (row,) = error.facts["operators"]
    assert [one["install_plan"] for one in row["steps"]] == [None], "no step was done"


def test_check_mode_shows_that_only_the_channel_changes(server: FakeServer) -> None:
    put(server, "nfd", "1.2.0", "a")
    checked = api_on(server, check_mode=True)
    steps.upgrade(checked, params({"name": "nfd", "channel": "b"}))
    assert server.writes() == []
    done = api_on(server)
    steps.upgrade(done, params({"name": "nfd", "channel": "b"}))
    assert channel_of(server) == "b"
    assert [one.object_name for one in checked.changes] == [one.object_name for one in done.changes]


def test_an_empty_list_of_operators_is_no_silent_success(server: FakeServer) -> None:
    put(server, "nfd", "1.0.0", "a")
    api = api_on(server)
    assert steps.upgrade(api, {**params(), "operators": []})["operators"] == []
    assert "gpu_upgrade_operators" in api.warnings[0]
