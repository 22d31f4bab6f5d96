# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gpu_driver_upgrade with the driver of a ClusterPolicy: plan, consent, canary, waves, and a second run."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
from integration.stack.driver_gaps import NEW, OLD, driver
from integration.stack.operators.updates import trouble
from integration.upgrades.upgrades import NODES, Upgrades

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import labels
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.system import image_suffixes

SCENARIO: t.Final = "gpu-nodes"
pytestmark = [
    pytest.mark.story("one stack goes to the new driver and back"),
    pytest.mark.long("two upgrades; test_canary.py has an upgrade, its rollback and way out in every run"),
]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"image": None}, "UPGRADE-TRIPLE"),
        ({"version": None, "repository": None, "image": None, "branch": "123"}, "UPGRADE-BRANCH"),
        ({"wave": "9"}, "UPGRADE-WAVE"),
        ({"canary": "nobody"}, "UPGRADE-CANARY"),
        ({"window": "25:00-26:00"}, "UPGRADE-WINDOW"),
        ({"probe": {"kind": "Pod"}}, "UPGRADE-JOB"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_is_refused_before_any_write(
    installed: Upgrades, options: dict[str, t.Any], code: str
) -> None:
    made = installed.run(**options)
    assert (made["code"], installed.audit.writes(made)) == (code, []), made.result
    option = next(iter(options)) if code != "UPGRADE-BRANCH" else "branch"
    assert made["message"].startswith(f"{option}:")


def test_a_driver_that_the_registry_lacks_is_refused_before_any_write(installed: Upgrades) -> None:
    wanted = driver(NEW)
    path = f"{wanted['repository']}/{wanted['image']}:{NEW}"
    names = {f"{path}-{one}" for node in installed.nodes().values() for one in image_suffixes(labels(node))}
    with contextlib.ExitStack() as stack:
        for name in sorted(names):
            stack.enter_context(trouble(installed.cluster, "registry_image_missing", image=name))
        made = installed.run()
    assert (made["code"], installed.audit.writes(made)) == ("UPGRADE-IMAGE", []), made.result
    assert any(name in made["message"] for name in names)


def test_the_plan_is_shown_and_nothing_is_written(installed: Upgrades) -> None:
    foreseen = installed.run(check=True, wave="2")
    assert (foreseen.failed, foreseen.changed) == (False, True), foreseen.result
    assert installed.audit.writes(foreseen) == []
    plan = foreseen["driver_upgrade"]["plan"]
    assert plan[0] == "canary: a100-0"
    assert sorted(node for line in plan for node in NODES if node in line) == sorted(NODES)


def test_a_pod_with_a_gpu_is_asked_about_before_the_first_write(installed: Upgrades) -> None:
    with installed.trains("t4-0") as uid:
        made = installed.run(canary="t4-0")
        assert (made["code"], installed.audit.writes(made)) == ("UPGRADE-BUSY", []), made.result
        assert "gpu_on_busy" in made["remedy"]
        done = installed.succeed(canary="t4-0", on_busy="drain")
        assert [pod["metadata"]["uid"] for pod in installed.pods()] != [uid]
    assert done["phase"] == "done"
    assert (done["passed"][0], sorted(done["passed"])) == ("t4-0", sorted(NODES))
    assert installed.policy()["version"] == NEW


def test_a_second_run_writes_nothing(installed: Upgrades) -> None:
    again = installed.run()
    assert (again.failed, again.changed) == (False, False), again.result
    assert installed.audit.writes(again) == []
    shown = installed.run(action="status")
    assert (shown.changed, installed.audit.writes(shown)) == (False, [])
    assert {one["name"]: one["seconds"] > 0 for one in shown["driver_upgrade"]["nodes"]} == dict.fromkeys(
        NODES, True
    )


def test_back_in_waves_of_two_with_the_rules_of_before(installed: Upgrades) -> None:
    before = installed.policy()["upgradePolicy"]
    done = installed.succeed(OLD, wave="2")
    assert sorted(done["passed"]) == sorted(NODES)
    assert installed.policy()["upgradePolicy"] == before
