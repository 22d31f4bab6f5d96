"""What customers of ROSA Classic may not write."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.webhooks import registered, served

from openshift_sandbox import scenario
from openshift_sandbox.programs.foreign_webhooks import REGULAR_USERS
from openshift_sandbox.seed import cluster as seed_cluster
from openshift_sandbox.stand_ins.managed_openshift.regular_users import RegularUsers, review


@pytest.mark.parametrize("user", ["admin", "kubeadmin", "kube-admin", "system:unauthenticated"])
def test_a_customer_is_refused_whatever_his_groups(user: str) -> None:
    denial = review({"userInfo": {"username": user, "groups": ["system:masters", "cluster-admins"]}})
    assert denial is not None
    assert denial.message.startswith("Prevented from accessing Red Hat managed resources.")
    assert (denial.code, denial.reason) == (403, "Forbidden")


@pytest.mark.parametrize("user", ["system:stand-ins", "system:serviceaccount:a:b", "kube:admin"])
def test_components_pass(user: str) -> None:
    assert review({"userInfo": {"username": user}}) is None


def test_the_webhook_is_there_where_red_hat_operates_the_cluster(tmp_path: Path) -> None:
    world = World(RegularUsers(), directory=served(tmp_path), cluster=scenario.load("rosa-classic").cluster)
    world.settle(1)
    webhook = registered(world, REGULAR_USERS)
    assert webhook["name"] == "regular-user-validation.managed.openshift.io"
    guarded = {one["apiGroups"][0]: one for one in webhook["rules"]}
    assert guarded["machine.openshift.io"]["resources"] == ["*/*"]
    assert guarded["autoscaling.openshift.io"]["operations"] == ["*"]
    other = World(RegularUsers(), cluster=scenario.load("aws").cluster)
    other.settle(1)
    assert other.api.all("ValidatingWebhookConfiguration") == []


def test_the_infrastructure_says_that_it_is_rosa() -> None:
    status = seed_cluster.infrastructure(scenario.load("rosa-classic").cluster)["status"]
    assert status["platformStatus"]["aws"]["resourceTags"] == [
        {"key": "red-hat-clustertype", "value": "rosa"},
        {"key": "red-hat-managed", "value": "true"},
    ]
    assert status["controlPlaneTopology"] == "HighlyAvailable"
    assert (
        "resourceTags"
        not in (seed_cluster.infrastructure(scenario.load("aws").cluster)["status"]["platformStatus"]["aws"])
    )
