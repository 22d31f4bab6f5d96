"""Which webhooks of others a scenario's cluster has."""

from __future__ import annotations

import pytest

from openshift_sandbox import scenario
from openshift_sandbox.programs import foreign_webhooks


@pytest.mark.parametrize(
    ("name", "configuration"),
    [
        ("rosa-classic", foreign_webhooks.REGULAR_USERS),
        ("kubevirt-eviction", foreign_webhooks.LAUNCHERS),
        ("policy-engine", foreign_webhooks.GATEKEEPER),
        ("webhook-no-dry-run", foreign_webhooks.WITHOUT_DRY_RUN),
        ("disconnected", foreign_webhooks.IMAGE_PULLS),
    ],
)
def test_a_scenario_has_its_webhook_and_no_other(name: str, configuration: str) -> None:
    assert foreign_webhooks.wanted(scenario.load(name)) == {configuration}


@pytest.mark.parametrize("name", ["aws", "scaled-by-hand", "foreign-policy", "two-pool-files"])
def test_others_have_none(name: str) -> None:
    assert foreign_webhooks.wanted(scenario.load(name)) == set()
