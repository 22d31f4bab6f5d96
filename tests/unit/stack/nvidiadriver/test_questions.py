# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NVIDIADriver and ClusterPolicy: what a write would end, and what another manager has set."""

from __future__ import annotations

import typing as t

import pytest
from unit import managed
from unit.stack.nvidiadriver.builders import POOL, entry, params, pool

from ansible_collections.accelerators.openshift.plugins.module_utils._core import fields
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ConflictError
from ansible_collections.accelerators.openshift.plugins.module_utils._impact import driver
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.steps import Draft
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
    manifest,
    steps,
)

Object = dict[str, t.Any]
TRIPLE: t.Final = {"repository": "nvcr.io/nvidia", "image": "driver", "version": "595.91.07"}
EXAMPLE: t.Final[Object] = {"driverType": "gpu", **TRIPLE, "upgradePolicy": {"autoUpgrade": True}}
TEAM: t.Final = {"key": "team", "operator": "Exists", "effect": "NoSchedule"}
OLD, NEW = (26, 3), (26, 7)


def given(*pools: Object, **more: t.Any) -> t.Any:
    return params(*(pools or (pool("a"),)), **{"adopt": "report", **more})


def built(options: t.Any, *live: Object, example: Object | None = None) -> list[Object]:
    return manifest.build(options, {}, EXAMPLE if example is None else example, live)


def test_the_example_of_a_newer_operator_changes_no_live_driver() -> None:
    (first,) = built(given())
    there = managed.live(first)
    newer = {**EXAMPLE, "version": "610.1", "image": "driver-next"}
    assert built(given(), there, example=newer) == [first]
    assert steps.questions(given(), [first], [there], OLD) == []


def test_a_driver_that_a_pool_no_longer_names_is_the_default_again() -> None:
    own = given(pool("a", driver={**TRIPLE, "version": "580.1"}))
    there = managed.live(built(own)[0])
    assert there["spec"]["version"] == "580.1"
    assert built(given(), there)[0]["spec"]["version"] == TRIPLE["version"]


def test_a_changed_driver_is_asked_about_on_the_nodes_that_it_selects() -> None:
    there = managed.live(built(given())[0])
    options = given(tolerations=[TEAM])
    wanted = built(options, there)
    (found,) = steps.questions(options, wanted, [there], OLD)
    assert found.cause == "spec.tolerations of NVIDIADriver a changes its driver's pods"
    assert (found.labels, found.node_selector, found.is_certain) == (driver.DRIVEN, {POOL: "a"}, True)
    assert steps.questions(options, wanted, [there], NEW) == [], "26.7 only restarts the driver's pods"


def test_new_and_deleted_drivers_are_asked_about() -> None:
    options = given(nvidia_drivers=[entry("a"), entry("old", state="absent")])
    gone = managed.live(built(given(pool("old")))[0])
    new, deleted = sorted(
        steps.questions(options, built(options), [gone], NEW), key=lambda one: "deleted" in one.cause
    )
    assert (new.node_selector, deleted.node_selector) == ({POOL: "a"}, {POOL: "old"})
    assert not new.is_certain


def test_a_field_of_another_manager_is_a_conflict_unless_it_is_taken() -> None:
    own = pool("a", driver={**TRIPLE, "version": "580.1"})
    there = managed.patched(managed.live(built(given(own))[0]), {"version": "570.1"})
    wanted = built(given(own), there)
    with pytest.raises(ConflictError, match="set by kubectl-patch; the task asks for"):
        steps.questions(given(own), wanted, [there], OLD)
    assert steps.questions(given(own, adopt="take"), wanted, [there], OLD)
    assert "version" not in built(given(), there)[0]["spec"], "it stays, if no option asks for it"


def policy_draft(spec: Object, installed: tuple[int, ...], **before: t.Any) -> Draft:
    first = {"driver": {"upgradePolicy": {"autoUpgrade": True}}, **before}
    live = managed.live({"kind": "ClusterPolicy", "metadata": {"name": "policy"}, "spec": first})
    wanted = {**live, "spec": {**first, **spec}}
    return Draft(wanted, live, fields.applied(live, wanted), None, installed)


def rolls(draft: Draft) -> list[str]:
    """Return why drivers of all nodes are replaced; other questions are about nodes of some kind."""
    return [one.cause for one in draft.questions() if one.labels == driver.DRIVEN]


def test_a_toleration_for_a_second_pool_is_asked_about_before_26_7() -> None:
    asked = {"daemonsets": {"tolerations": [TEAM]}}
    cause = "spec.daemonsets.tolerations of ClusterPolicy policy changes the driver's pods"
    assert rolls(policy_draft(asked, OLD)) == [cause]
    assert rolls(policy_draft(asked, ())) == [cause], "an unknown release counts as an old one"
    assert rolls(policy_draft(asked, NEW)) == []
    assert rolls(policy_draft({"gds": {"enabled": True}}, NEW))
    assert rolls(policy_draft({"mig": {"strategy": "mixed"}}, OLD)) == []
    off = {"driver": {"upgradePolicy": {"autoUpgrade": False}}}
    assert rolls(policy_draft({**asked, **off}, OLD, **off)) == [], "the operator replaces no pod"


def test_another_selector_takes_the_driver_off_nodes_without_the_upgrade_controller() -> None:
    manual = {"upgradePolicy": {"autoUpgrade": False}}
    own = {"metadata": {"name": "a"}, "kind": "NVIDIADriver"}
    there = managed.live({**own, "spec": {**manual, "nodeSelector": {POOL: "a"}}})
    wanted = {**own, "spec": {**manual, "nodeSelector": {POOL: "b"}}}
    (found,) = steps.questions(given(), [wanted], [there], NEW)
    assert found.cause.startswith("spec.nodeSelector.")
    assert (found.labels, found.node_selector) == (driver.DRIVEN, {}), "all nodes: some come, others go"
    newer = {**own, "spec": {**manual, "nodeSelector": {POOL: "a"}, "version": "595"}}
    assert steps.questions(given(), [newer], [there], OLD) == [], "its DaemonSet is OnDelete"
