"""What the approval of an InstallPlan ends: which nodes are asked about, and what is certain."""

from __future__ import annotations

import json
import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.olm.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import merge
from ansible_collections.accelerators.openshift.plugins.module_utils._impact import consent, driver
from ansible_collections.accelerators.openshift.plugins.module_utils._impact.impact import Question
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import busy

Object = dict[str, t.Any]
OLD, NEW = "gpu-operator-certified.v26.3.0", "gpu-operator-certified.v26.3.3"
IMAGE: t.Final = "nvcr.io/nvidia/driver@sha256:f8e3dc91"
PINNED: t.Final = {"repository": "nvcr.io/nvidia", "image": "driver", "version": "sha256:f8e3dc91"}


def csv(name: str, manager: str) -> Object:
    env = [
        {"name": "DRIVER_IMAGE", "value": IMAGE},
        {"name": "DRIVER_MANAGER_IMAGE", "value": f"nvcr.io/nvidia/k8s-driver-manager@sha256:{manager}"},
    ]
    deployment = {"spec": {"template": {"spec": {"containers": [{"name": "c", "env": env}]}}}}
    return {"metadata": {"name": name}, "spec": {"install": {"spec": {"deployments": [deployment]}}}}


def plan(name: str = NEW) -> Object:
    step = {
        "resource": {
            "kind": "ClusterServiceVersion",
            "name": name,
            "manifest": json.dumps(csv(name, "8aec215a")),
        }
    }
    return {
        "metadata": {"name": "install-1"},
        "spec": {"clusterServiceVersionNames": [name]},
        "status": {"plan": [step]},
    }


def policy(**more: t.Any) -> Object:
    given = {"enabled": True, "upgradePolicy": {"autoUpgrade": True}}
    return {"metadata": {"name": "gpu-cluster-policy"}, "spec": {"driver": merge(given, more)}}


def own(object_name: str, **spec: t.Any) -> Object:
    return {"metadata": {"name": object_name}, "spec": {"driverType": "gpu", **PINNED, **spec}}


RUNNING: t.Final = csv(OLD, "6677437f")
NEXT: t.Final = csv(NEW, "8aec215a")


@pytest.mark.parametrize("more", [{}, PINNED])
def test_the_same_driver_with_another_manager_is_asked_about_also_with_a_pin(more: Object) -> None:
    (found,) = busy.about_drivers(plan(), RUNNING, NEXT, [policy(**more)])
    assert found.cause == f"InstallPlan install-1 replaces {OLD} by {NEW}: DRIVER_MANAGER_IMAGE"
    assert (found.labels, found.is_certain) == (driver.DRIVEN, True)


def test_a_plan_that_does_not_show_its_csv_counts_and_is_not_certain() -> None:
    (found,) = busy.about_drivers(plan(), RUNNING, None, [policy()])
    assert not found.is_certain
    assert found.cause.endswith("the plan does not show what changes")


def test_images_that_are_equal_count_because_the_operator_has_templates_of_its_own() -> None:
    (found,) = busy.about_drivers(plan(), RUNNING, RUNNING, [policy()])
    assert not found.is_certain


def test_each_nvidia_driver_is_asked_about_with_its_nodes() -> None:
    drivers = [
        own("a", nodeSelector={"pool": "a"}),
        own("b", nodeSelector={"pool": "b"}, upgradePolicy={"autoUpgrade": False}),
    ]
    found = busy.about_drivers(plan(), RUNNING, NEXT, [policy(useNvidiaDriverCRD=True), *drivers])
    assert [one.node_selector for one in found] == [{"pool": "a"}], "b is not upgraded by the operator"


@pytest.mark.parametrize("more", [{"enabled": False}, {"upgradePolicy": {"autoUpgrade": False}}])
def test_an_operator_that_replaces_no_pod_is_not_asked_about(more: Object) -> None:
    assert busy.about_drivers(plan(), RUNNING, NEXT, [policy(**more)]) == []


def test_neither_an_installation_nor_another_operators_plan_is_asked_about() -> None:
    assert busy.about_drivers(plan(), None, NEXT, [policy()]) == []
    assert busy.about_drivers(plan("mesh.v1"), RUNNING, NEXT, [policy()]) == []


@pytest.mark.parametrize(
    ("installed", "channel", "given", "is_asked"),
    [
        (OLD, "v26.7", {"approve": "upgrade"}, True),
        (OLD, "v26.3", {"approve": "upgrade"}, False),
        (NEW, "v26.7", {"approve": "upgrade"}, False),
        (OLD, "v26.7", {"approve": "install"}, False),
        ("", "v26.7", {"approve": "upgrade"}, False),
        (OLD, "v26.7", {"approval": "Automatic"}, True),
        (NEW, "v26.7", {"approval": "Automatic"}, False),
    ],
)
def test_a_change_of_the_subscription_that_leads_to_an_upgrade_is_asked_about_first(
    installed: str, channel: str, given: dict[str, str], is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = FakeServer("ClusterPolicy")
    server.put({"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", **policy()})
    live: Object = {"spec": {"channel": "v26.3"}, "status": {"installedCSV": installed}}
    asked: list[str] = []

    def ask(_api: Api, questions: list[Question], _on_busy: str, _code: str) -> None:
        asked.extend(one.cause for one in questions)

    monkeypatch.setattr(consent, "ask", ask)
    options = params(name="gpu-operator-certified", **given)
    busy.ask_before_subscription(api_on(server), live, {"spec": {"channel": channel}}, options, NEW)
    object_name = f"the Subscription leads from {OLD} to {NEW}: the plan does not show what changes"
    assert asked == ([object_name] if is_asked else [])


def test_the_network_operator_is_asked_about_where_it_has_a_nic_driver() -> None:
    with_driver: Object = {"spec": {"ofedDriver": {"image": "doca-driver"}}}
    (found,) = busy.about_nics([with_driver], plan("nic.v2"), {"metadata": {"name": "nic.v1"}}, "nic.v2")
    assert (found.labels, found.is_certain) == (driver.NIC_NODES, False)
    assert busy.about_nics([{"spec": {"nvIpam": {}}}], plan(), {"metadata": {"name": "nic.v1"}}, "x") == []
