# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of operator_upgrade on a server in memory: what is found and refused before the first write."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.operators.builders import csv, csv_name, offer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._operators import (
    channels,
    jobs,
    steps,
    upgrade_path,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.order import GPU
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.params import (
    OperatorUpgradeParams,
)

Object = dict[str, t.Any]
OURS: t.Final = {"app.kubernetes.io/managed-by": "accelerators.openshift"}
OLM: t.Final = "operators.coreos.com/v1alpha1"
SPACE: t.Final = "operators"
KINDS: t.Final = (
    "Subscription",
    "InstallPlan",
    "ClusterServiceVersion",
    "PackageManifest",
    "CatalogSource",
    "ClusterVersion",
    "CustomResourceDefinition",
    "Node",
    "Pod",
)


def params(*operators: Object, **given: t.Any) -> OperatorUpgradeParams:
    entries = [{"channel": None, "to": None, **one} for one in operators]
    plain: Object = {
        "operators": entries or None,
        "driver_change": "ask",
        "on_busy": "fail",
        "allow_csvs": [],
        "repair": False,
        "grace": 0.0,
        "wait": True,
        "wait_timeout": 60,
        "lock_timeout": 0,
    }
    return t.cast(OperatorUpgradeParams, {**plain, **given})


def put(server: FakeServer, package: str, version: str, channel: str, ours: bool = True) -> None:
    """Install an operator whose package has the channels a (1.0.0, 1.1.0) and b (1.2.0)."""
    server.put(
        {
            "apiVersion": OLM,
            "kind": "Subscription",
            "metadata": {"name": package, "namespace": SPACE, "labels": OURS if ours else {}},
            "spec": {"name": package, "channel": channel, "source": "s", "sourceNamespace": "m"},
            "status": {"installedCSV": csv_name(version, package), "installPlanRef": {"name": "plan"}},
        }
    )
    manifest = offer(package, a="1.0.0 1.1.0", b="1.2.0")
    manifest["metadata"]["namespace"] = "m"
    manifest["status"] |= {"catalogSource": "s", "catalogSourceNamespace": "m"}
    server.put({"apiVersion": "packages.operators.coreos.com/v1", "kind": "PackageManifest", **manifest})
    installed = csv(version, package)
    installed["metadata"]["namespace"] = SPACE
    server.put({"apiVersion": OLM, "kind": "ClusterServiceVersion", **installed})


@pytest.mark.parametrize(("live", "kept"), [("Automatic", "Automatic"), ("Manual", "Manual"), ("", "Manual")])
def test_an_upgrade_keeps_the_approval_of_the_subscription(live: str, kept: str) -> None:
    spec = {"name": GPU, "channel": "a", "source": "s", "sourceNamespace": "m", "installPlanApproval": live}
    held = {"metadata": {"name": GPU, "namespace": SPACE}, "spec": spec, "status": {}}
    stop = upgrade_path.Stop("b", csv_name("1.2.0"), (csv_name("1.2.0"),))
    job = jobs.Job(upgrade_path.Way(GPU, csv_name("1.1.0"), "b", (stop,)), held, offer(a="1.1.0", b="1.2.0"))
    assert jobs.ask_of(job, stop, params()).approval == kept


def plan(server: FakeServer, *csvs: str) -> None:
    server.put(
        {
            "apiVersion": OLM,
            "kind": "InstallPlan",
            "metadata": {"name": "plan", "namespace": SPACE},
            "spec": {"clusterServiceVersionNames": list(csvs), "approved": False},
            "status": {"phase": "RequiresApproval"},
        }
    )


@pytest.fixture
def server() -> FakeServer:
    return FakeServer(*KINDS)


def test_check_mode_shows_the_way_of_each_operator_in_the_order_of_upgrades(server: FakeServer) -> None:
    put(server, "kernel-module-management", "1.0.0", "a")
    put(server, "nfd", "1.0.0", "a")
    api = api_on(server, check_mode=True)
    found = steps.upgrade(api, params({"name": "kmm"}, {"name": "nfd", "channel": "b"}))
    assert [one["package"] for one in found["operators"]] == ["nfd", "kernel-module-management"]
    ways = [[(step["to"], step["channel"]) for step in one["steps"]] for one in found["operators"]]
    assert ways == [[("nfd.v1.2.0", "b")], [("kernel-module-management.v1.1.0", "a")]]
    assert (server.writes(), bool(api.changes)) == ([], True)


def test_an_interrupted_upgrade_goes_on_to_the_channel_that_it_came_from(server: FakeServer) -> None:
    put(server, "nfd", "1.0.0", "a")
    live = next(one for one in server.objects.values() if one["kind"] == "Subscription")
    live["metadata"]["annotations"] = {channels.UPGRADES_TO: "b"}
    found = steps.upgrade(api_on(server, check_mode=True), params())
    assert [step["to"] for step in found["operators"][0]["steps"]] == ["nfd.v1.2.0"]


def test_a_refused_plan_gives_the_subscription_its_channel_back(server: FakeServer) -> None:
    put(server, "nfd", "1.0.0", "a")
    plan(server, "nfd.v1.2.0", "kernel-module-management.v2.6.0")
    with pytest.raises(AcceleratorError) as caught:
        steps.upgrade(api_on(server), params({"name": "nfd", "channel": "b"}))
    assert caught.value.code == "OLM-FOREIGN-CSV"
    assert caught.value.message.endswith("The Subscription has channel a again.")
    live = next(one for one in server.objects.values() if one["kind"] == "Subscription")
    assert live["spec"]["channel"] == "a"
    assert len(server.writes()) == 2


def test_what_is_at_its_end_is_not_written_to(server: FakeServer) -> None:
    put(server, "nfd", "1.1.0", "a")
    api = api_on(server)
    found = steps.upgrade(api, params())
    assert (found["operators"][0]["steps"], server.writes()) == ([], [])
    assert api.warnings == ["Other channels of nfd lead further than nfd.v1.1.0: b (nfd.v1.2.0)."]


def test_without_an_operator_of_ours_there_is_nothing_to_do(server: FakeServer) -> None:
    put(server, "nfd", "1.0.0", "a", ours=False)
    api = api_on(server)
    assert steps.upgrade(api, params())["operators"] == []
    assert "nothing to upgrade" in api.warnings[0]


def test_a_plan_with_another_operator_is_refused_and_the_way_shown(server: FakeServer) -> None:
    put(server, "nfd", "1.0.0", "a")
    plan(server, "nfd.v1.1.0", "kernel-module-management.v2.6.0")
    with pytest.raises(AcceleratorError) as caught:
        steps.upgrade(api_on(server), params())
    error = caught.value
    assert (error.code, "kernel-module-management.v2.6.0" in error.message) == ("OLM-FOREIGN-CSV", True)
    assert [step["to"] for step in error.facts["operators"][0]["steps"]] == ["nfd.v1.1.0"]
    assert server.writes() == []


@pytest.mark.parametrize(
    ("name", "code"), [("nfd", "OLM-FOREIGN"), (GPU, "OLM-NOT-INSTALLED"), ("nvidia", "INPUT-VALUE")]
)
def test_what_cannot_be_upgraded_is_refused_with_its_path(server: FakeServer, name: str, code: str) -> None:
    put(server, "nfd", "1.0.0", "a", ours=False)
    with pytest.raises(AcceleratorError) as caught:
        steps.upgrade(api_on(server), params({"name": name}))
    assert (caught.value.code, "operators[0]" in caught.value.message) == (code, True)
    assert server.writes() == []
