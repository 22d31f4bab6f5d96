# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked before the first ClusterPolicy is written."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._impact import consent
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.steps import (
    BUSY,
    Draft,
    questions,
)

Object = dict[str, t.Any]
POLICY: t.Final[Object] = {"kind": "ClusterPolicy", "metadata": {"name": "policy"}, "spec": {}}
PCI: t.Final = "feature.node.kubernetes.io/pci-"


def ask(server: FakeServer, on_busy: str = "fail") -> list[Object]:
    draft = Draft(POLICY, None, POLICY, None, ())
    return consent.ask(api_on(server), questions(api_on(server), draft), on_busy, BUSY)


def cluster(marks: dict[str, str], resource: str = "nvidia.com/gpu", on: str = "n") -> FakeServer:
    server = FakeServer("Node", "Pod")
    server.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": marks}})
    server.put(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "train", "namespace": "team"},
            "spec": {
                **({"nodeName": on} if on else {}),
                "containers": [{"name": "c", "resources": {"limits": {resource: "1"}}}],
            },
            "status": {"phase": "Running"},
        }
    )
    return server


@pytest.mark.parametrize("marks", [{}, {f"{PCI}10de.present": "true"}, {f"{PCI}0302_10de.present": "true"}])
def test_a_first_policy_over_pods_that_use_gpus_is_asked_for(marks: dict[str, str]) -> None:
    server = cluster(marks)
    with pytest.raises(AcceleratorError, match="ClusterPolicy policy is new") as caught:
        ask(server)
    assert caught.value.code == BUSY
    (ends,) = ask(server, "drain")
    assert [one["name"] for one in ends["pods"]] == ["train"]


def test_a_first_run_asks_nothing_and_sends_one_request_more() -> None:
    for server in (cluster({}, "cpu"), cluster({f"{PCI}10de.present": "true"}, on="")):
        assert ask(server) == []
        assert [(method, path) for method, path, _query in server.requests] == [("GET", "/api/v1/pods")]


def test_nodes_with_gpus_of_others_are_not_reached() -> None:
    assert ask(cluster({f"{PCI}1002.present": "true"}, "amd.com/gpu")) == []
