"""A webhook that was stored before the API wanted webhooks to take dry runs."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.webhooks import PORT, served

from openshift_sandbox.programs.foreign_webhooks import WITHOUT_DRY_RUN
from openshift_sandbox.stand_ins.policy_engine import old_webhooks

KIND = "ValidatingWebhookConfiguration"
TROUBLE = {"type": "webhook_without_dry_run", "group": "apps", "resources": ["daemonsets"]}


def test_it_goes_past_the_api_server_and_leaves_through_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(old_webhooks.OldWebhooks(), directory=served(tmp_path), troubles=[TROUBLE])
    keys: list[str] = []

    def put(_sandbox: t.Any, key: str, obj: dict[str, t.Any]) -> None:
        keys.append(key)
        world.api.apply(obj)

    monkeypatch.setattr(old_webhooks, "put", put)
    world.settle(1)
    assert keys == [f"/registry/validatingwebhookconfigurations/{WITHOUT_DRY_RUN}"]
    (webhook,) = world.api.get(KIND, WITHOUT_DRY_RUN)["webhooks"]
    assert webhook["sideEffects"] == "Unknown"
    assert webhook["clientConfig"]["url"] == f"https://127.0.0.1:{PORT}/pod-labels"
    assert (webhook["rules"][0]["apiGroups"], webhook["rules"][0]["resources"]) == (["apps"], ["daemonsets"])
    world.scenario.now.troubles.clear()
    world.settle(1)
    assert world.api.all(KIND) == []
