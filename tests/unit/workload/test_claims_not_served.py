# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that is too old for devices that pods claim: each part says so, before anything is written."""

from __future__ import annotations

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.quota.test_steps import params as quota_params
from unit.stack.builders import some_params
from unit.workload.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.device_quota import quota_key
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    KindNotServedError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._quota.offered import Offered
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.backend import backend
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import steps as workload_steps


@pytest.fixture
def server() -> FakeServer:
    made = FakeServer("Node", "ClusterVersion")
    made.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-0", "labels": {"pool": "a"}}})
    version = {"desired": {"version": "4.20.3"}}
    made.put(
        {
            "apiVersion": "config.openshift.io/v1",
            "kind": "ClusterVersion",
            "metadata": {"name": "version"},
            "status": version,
        }
    )
    return made


def test_the_stack_names_the_release(server: FakeServer) -> None:
    with pytest.raises(
        NotReadyError, match=r"This cluster \(4.20.3\) does not serve resource.k8s.io/v1"
    ) as caught:
        backend("dra").present(api_on(server, check_mode=True), some_params(backend="dra"))
    assert caught.value.code == "GPU-DRA-RELEASE"
    assert {method for method, _path, _query in server.requests} == {"GET"}


def test_a_validation_says_what_is_missing_and_foresees_nothing(server: FakeServer) -> None:
    asked = params(claims=True)
    with pytest.raises(KindNotServedError, match=r"resourceslices.resource.k8s.io"):
        workload_steps.nodes(api_on(server), asked)
    assert [
        node["metadata"]["name"] for node in workload_steps.nodes(api_on(server, check_mode=True), asked)
    ] == ["gpu-0"]


def test_a_quota_limits_what_is_not_there(server: FakeServer) -> None:
    offered = Offered(api_on(server), quota_params())
    assert offered.known({quota_key(): "2"}, []).device_classes == []
    assert offered.known({"requests.nvidia.com/gpu": "2"}, []).device_classes is None
