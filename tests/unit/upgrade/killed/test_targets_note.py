# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An object gets its own upgradePolicy back also after somebody deleted the state of the upgrade."""

from __future__ import annotations

import typing as t

import pytest
from unit.killed_run import KilledError
from unit.upgrade.in_memory.builders import NEW, params
from unit.upgrade.in_memory.controller import Operator

from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import state, steps
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.targets import Target

WAITS: t.Final = {"wait_for": "team=ml"}


def policy(operator: Operator) -> dict[str, t.Any]:
    return operator.must("ClusterPolicy", "gpu-cluster-policy")


def rules(operator: Operator) -> dict[str, t.Any]:
    return dict(policy(operator)["spec"]["driver"]["upgradePolicy"])


def notes(operator: Operator) -> dict[str, str]:
    return dict(policy(operator)["metadata"].get("annotations") or {})


def given_up() -> tuple[Operator, dict[str, t.Any]]:
    """Return a cluster whose upgrade was killed and given up, and the upgradePolicy that it had before."""
    operator = Operator()
    before = rules(operator)
    operator.writes_left = 5
    with pytest.raises(KilledError):
        steps.ensure(operator.api(), params(**WAITS))
    operator.writes_left = None
    assert rules(operator) != before
    operator.server.objects = {
        key: one for key, one in operator.server.objects.items() if one["metadata"]["name"] != state.NAME
    }
    return operator, before


def test_the_next_upgrade_gives_the_policy_back_that_was_before_the_first() -> None:
    operator, before = given_up()
    steps.ensure(operator.api(), params(**WAITS))
    assert set(operator.versions().values()) == {NEW}
    assert (rules(operator), notes(operator)) == (before, {})


def test_a_run_with_no_node_left_to_upgrade_gives_it_back_too() -> None:
    operator, before = given_up()
    for node in ("gpu-0", "gpu-1", "gpu-2"):
        operator.end(node)
    triple = Target("ClusterPolicy", policy(operator), ()).triple
    steps.ensure(operator.api(), params(**triple._asdict()))
    assert (rules(operator), notes(operator)) == (before, {})
    operator.server.requests.clear()
    steps.ensure(operator.api(), params(**triple._asdict()))
    assert operator.server.writes() == []


def test_a_state_that_is_deleted_during_the_run_is_written_again() -> None:
    operator = Operator()
    before, real = rules(operator), operator.server.request

    def request(method: str, url: str, **more: t.Any) -> t.Any:
        if operator.upgraded and not gone:
            gone.append(url)
            for key in [key for key, one in operator.server.objects.items() if one["kind"] == "ConfigMap"]:
                del operator.server.objects[key]
        return real(method, url, **more)

    gone: list[str] = []
    operator.server.request = request
    steps.ensure(operator.api(), params(**WAITS))
    assert gone
    assert (rules(operator), notes(operator), operator.phase()) == (before, {}, "done")


def test_an_upgrade_that_changes_no_rule_notes_nothing() -> None:
    operator = Operator()
    operator.writes_left = 5
    with pytest.raises(KilledError):
        steps.ensure(operator.api(), params())
    assert notes(operator) == {}


def test_a_note_that_is_no_json_is_none() -> None:
    live = {"metadata": {"name": "d", "annotations": {"accelerators.openshift/upgrade-policy-before": "{"}}}
    assert Target("NVIDIADriver", {**live, "spec": {}}, ()).noted is None
