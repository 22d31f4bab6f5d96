# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When precompiled drivers are looked up, for which nodes, and that a run without a change asks nothing."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import Answer, FakeServer
from unit.stack.builders import some_params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import (
    steps as driver_steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
    steps as nvidiadriver_steps,
)

Data = dict[str, t.Any]
FEATURE = "feature.node.kubernetes.io/"
DRIVER = {"usePrecompiled": True, "repository": "r.io/n", "image": "d", "version": "595"}
PARAMS: t.Final = some_params(namespace="gpu")
MANAGED = {"labels": {"app.kubernetes.io/managed-by": "accelerators.openshift"}}


def node(name: str, pool: str) -> Data:
    marks = {
        "kernel-version.full": f"5.14.0-{name}",
        "system-os_release.ID": "rhcos",
        "system-os_release.VERSION_ID": "4.18",
        "pci-10de.present": "true",
    }
    return {
        "metadata": {
            "name": name,
            "labels": {f"{FEATURE}{key}": value for key, value in marks.items()} | {"pool": pool},
        }
    }


NODES = {"items": [node("a", "one"), node("b", "two")]}


def server_with(*found: bool) -> FakeServer:
    failure = {"status": "Failure", "reason": "NotFound", "message": "not found"}
    images = [{"status": {"status": "Success"} if there else failure} for there in found]
    server = FakeServer("Node", "ImageStreamImport")
    server.faults = [Answer(200, NODES), Answer(201, {"status": {"images": images}})]
    return server


def asked(server: FakeServer) -> list[str]:
    return [f"{method} {path.rpartition('/')[2]}" for method, path, _query in server.requests]


BOTH = ["GET nodes", "POST imagestreamimports"]


def test_a_policy_that_asks_for_other_precompiled_drivers() -> None:
    server = server_with(True, True)
    driver_steps.refuse_unmade(api_on(server), PARAMS, {}, {"driver": DRIVER})
    assert (asked(server), server.writes()) == (BOTH, [])
    with pytest.raises(
        NotReadyError,
        match=r"Node b: there is no precompiled driver for kernel 5.14.0-b: r.io/n/d:595-5.14.0-b-rhcos4.18",
    ):
        driver_steps.refuse_unmade(api_on(server_with(True, False)), PARAMS, {}, {"driver": DRIVER})


@pytest.mark.parametrize(
    ("live", "spec"),
    [
        ({"spec": {"driver": DRIVER}}, {"driver": DRIVER, "dcgm": {"enabled": True}}),
        ({}, {"driver": {**DRIVER, "usePrecompiled": False}}),
        ({}, {"driver": {**DRIVER, "useNvidiaDriverCRD": True}}),
        ({}, {}),
    ],
    ids=["unchanged", "built on the node", "left to NVIDIADrivers", "no driver"],
)
def test_what_asks_nothing(live: Data, spec: Data) -> None:
    server = server_with(False, False)
    driver_steps.refuse_unmade(api_on(server), PARAMS, live, spec)
    assert server.requests == []


def test_nodes_of_no_pool_hold_nothing_up() -> None:
    api = api_on(server_with(True, False))
    driver_steps.refuse_unmade(
        api, some_params(pools=[{"node_selector": {"pool": "one"}}]), {}, {"driver": DRIVER}
    )
    assert [text.partition(",")[0] for text in api.warnings] == ["Node b is in none of the pools"]


def driver(name: str, **spec: t.Any) -> Data:
    return {"kind": "NVIDIADriver", "metadata": {"name": name}, "spec": DRIVER | spec}


def test_an_nvidia_driver_is_about_its_own_nodes() -> None:
    one, rest = driver("one", nodeSelector={"pool": "one"}), driver("rest", default=True)
    server = server_with(False)
    with pytest.raises(NotReadyError, match="Node b: "):
        nvidiadriver_steps.refuse_unmade(
            api_on(server), PARAMS, [one, rest], [{**one, "metadata": {"name": "one", **MANAGED}}], ()
        )
    assert asked(server) == BOTH


@pytest.mark.parametrize(("adopt", "requests"), [("report", []), ("take", BOTH)])
def test_somebody_elses_is_looked_up_only_where_it_is_taken(adopt: str, requests: list[str]) -> None:
    server = server_with(True)
    theirs = driver("one", version="580", nodeSelector={"pool": "one"})
    nvidiadriver_steps.refuse_unmade(
        api_on(server), some_params(adopt=adopt), [driver("one", nodeSelector={"pool": "one"})], [theirs], ()
    )
    assert asked(server) == requests
