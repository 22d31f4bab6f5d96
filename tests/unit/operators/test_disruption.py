# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an upgrade ends, as far as the installed CSV and the catalogue say."""

from __future__ import annotations

from unit.operators.builders import (
    NEW_DRIVER,
    NEW_MANAGER,
    OLD_DRIVER,
    OLD_MANAGER,
    Object,
    csv,
    csv_name,
    offer,
)

from ansible_collections.accelerators.openshift.plugins.module_utils._operators import disruption, order

RUNNING = csv("26.3.3", DRIVER_IMAGE=OLD_DRIVER, DRIVER_MANAGER_IMAGE=OLD_MANAGER)
NEXT = csv_name("26.7.0")
POLICY: Object = {"metadata": {"name": "p"}, "spec": {"driver": {"upgradePolicy": {"autoUpgrade": True}}}}


def offered(*images: str) -> Object:
    return offer(images=images, v26__7="26.7.0")


def test_a_driver_manager_that_differs_is_asked_about_though_the_driver_stays() -> None:
    package = offered(OLD_DRIVER, NEW_MANAGER)
    assert disruption.image_changes(RUNNING, package, NEXT) == ("DRIVER_MANAGER_IMAGE",)
    (question,) = disruption.questions(RUNNING, package, NEXT, [POLICY])
    assert question.cause == f"the upgrade leads from {csv_name('26.3.3')} to {NEXT}: DRIVER_MANAGER_IMAGE"
    assert question.is_certain
    assert disruption.new_driver(RUNNING, package, NEXT, [POLICY]) is None


def test_a_driver_that_differs_is_a_change_of_the_policies_that_follow_the_operator() -> None:
    package = offered(NEW_DRIVER, NEW_MANAGER)
    change = disruption.new_driver(RUNNING, package, NEXT, [POLICY])
    assert change is not None
    assert (change.image, change.csv, change.next_csv) == (OLD_DRIVER, csv_name("26.3.3"), NEXT)
    assert change.text.startswith(f"The upgrade replaces {csv_name('26.3.3')} by {NEXT}, and ClusterPolicy p")
    own = {**POLICY, "spec": {"driver": {"version": "580", "repository": "r", "image": "driver"}}}
    assert disruption.new_driver(RUNNING, package, NEXT, [own]) is None


def test_a_csv_that_is_no_head_may_change_anything() -> None:
    package = offer(images=[NEW_DRIVER], stable="26.7.0 26.7.1")
    assert disruption.image_changes(RUNNING, package, NEXT) == ()
    (question,) = disruption.questions(RUNNING, package, NEXT, [POLICY])
    assert not question.is_certain


def test_operators_without_drivers_end_nothing() -> None:
    assert disruption.questions(csv("1.0.0", "nfd"), offer("nfd", stable="1.1.0"), "nfd.v1.1.0", []) == []


def test_the_network_operator_ends_pods_where_it_has_a_driver() -> None:
    running, package = csv("26.4.0", order.NETWORK), offer(order.NETWORK, stable="26.7.0")
    following = csv_name("26.7.0", order.NETWORK)
    assert disruption.questions(running, package, following, [{"spec": {}}]) == []
    (question,) = disruption.questions(
        running, package, following, [{"spec": {"ofedDriver": {"image": "doca"}}}]
    )
    assert not question.is_certain
