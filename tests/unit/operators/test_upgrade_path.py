# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way of an upgrade: its stops, and what is refused before the first write."""

from __future__ import annotations

import typing as t

import pytest
from unit.operators.builders import csv_name, offer

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._operators import order, upgrade_path
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.order import Wish
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.upgrade_path import Stop

RELEASES = offer(
    stable="25.10.1 26.3.0 26.3.3 26.7.0", v25__10="25.10.1", v26__3="26.3.0 26.3.3", v26__7="26.7.0"
)
FIRST, MIDDLE, LAST = csv_name("25.10.1"), csv_name("26.3.3"), csv_name("26.7.0")


def wish(channel: str = "", to: str = "", package: str = order.GPU) -> Wish:
    return Wish(package, channel, to, "operators[0]")


def test_a_release_that_the_maker_lets_no_upgrade_pass_is_a_stop() -> None:
    found = upgrade_path.find(RELEASES, FIRST, "stable", wish())
    assert found.stops == (Stop("v26.3", MIDDLE, (MIDDLE,)), Stop("stable", LAST, (LAST,)))
    assert (found.channel, found.remarks) == ("stable", ())


def test_the_next_release_needs_no_stop_in_between() -> None:
    found = upgrade_path.find(RELEASES, csv_name("26.3.0"), "v26.3", wish(channel="v26.7"))
    assert found.stops == (Stop("v26.7", LAST, (LAST,)),)


def test_other_packages_go_as_far_as_olm_goes() -> None:
    nfd = offer("nfd", stable="4.20.0-1 4.21.0-1 4.22.0-1")
    found = upgrade_path.find(nfd, "nfd.v4.20.0-1", "stable", wish(package="nfd"))
    assert [stop.csv for stop in found.stops] == ["nfd.v4.22.0-1"]


def test_the_head_of_the_channel_is_the_default_and_other_channels_are_named() -> None:
    found = upgrade_path.find(RELEASES, csv_name("26.3.0"), "v26.3", wish())
    assert [stop.csv for stop in found.stops] == [MIDDLE]
    assert found.remarks == (
        f"Other channels of {order.GPU} lead further than {MIDDLE}: stable ({LAST}), v26.7 ({LAST}).",
    )


def test_what_is_installed_is_no_step() -> None:
    assert upgrade_path.find(RELEASES, LAST, "v26.7", wish()).stops == ()
    assert upgrade_path.find(RELEASES, LAST, "v26.7", wish(to="26.7.0")).stops == ()
    newer = upgrade_path.find(RELEASES, LAST, "v26.3", wish())
    assert (newer.stops, newer.channel) == ((), "v26.3")


def test_a_channel_without_skips_is_passed_release_by_release() -> None:
    chain = offer("kmm", skips=False, stable="1.0.0 1.1.0 1.2.0")
    found = upgrade_path.find(chain, "kmm.v1.0.0", "stable", wish(package="kmm"))
    assert found.stops == (Stop("stable", "kmm.v1.2.0", ("kmm.v1.1.0", "kmm.v1.2.0")),)


@pytest.mark.parametrize("to", ["26.3.3", "v26.3.3", MIDDLE])
def test_a_release_is_a_csv_or_a_version_and_its_channel_is_found(to: str) -> None:
    found = upgrade_path.find(RELEASES, csv_name("26.3.0"), "stable", wish(to=to))
    assert found.stops == (Stop("v26.3", MIDDLE, (MIDDLE,)),)


def test_a_release_between_that_no_channel_stops_at_is_a_remark() -> None:
    few = offer(stable="25.10.1 26.7.0")
    found = upgrade_path.find(few, FIRST, "stable", wish())
    assert [stop.csv for stop in found.stops] == [LAST]
    assert "passes release 26.3 without a stop" in found.remarks[0]


def refused(installed: str, held: str, one: Wish, package: dict[str, t.Any] = RELEASES) -> AcceleratorError:
    with pytest.raises(AcceleratorError) as caught:
        upgrade_path.find(package, installed, held, one)
    return caught.value


# As in the certified catalogue: each channel begins with a release that replaces nothing; stable chains all.
NETWORK = offer(
    order.NETWORK,
    skips=False,
    stable="25.10.0 26.1.0 26.4.0 26.4.1 26.7.0 26.7.0-1",
    v25__10="25.10.0",
    v26__4="26.4.0 26.4.1",
    v26__7="26.7.0 26.7.0-1",
)


def network(version: str) -> str:
    return csv_name(version, order.NETWORK)


@pytest.mark.parametrize(
    ("installed", "held", "one", "remedy"),
    [
        ("26.4.1", "v26.4", {"channel": "v26.7"}, "channel: stable}"),
        ("25.10.0", "stable", {"channel": "v26.7"}, "channel: stable}"),
        ("26.4.1", "v26.7", {}, "channel: stable}"),
        ("25.10.0", "v25.10", {"channel": "v26.4"}, "channel: stable, to: 26.4.1}"),
        ("26.4.1", "v26.4", {"channel": "v26.7", "to": "26.7.0"}, "channel: stable, to: 26.7.0}"),
    ],
)
def test_a_channel_that_does_not_hold_the_installed_release_is_refused(
    installed: str, held: str, one: dict[str, str], remedy: str
) -> None:
    error = refused(network(installed), held, wish(package=order.NETWORK, **one), NETWORK)
    assert (error.code, f"does not hold {network(installed)}" in error.message) == ("OLM-NO-PATH", True)
    assert f"[{{name: {order.NETWORK}, {remedy}]" in error.remedy


def test_without_a_channel_that_holds_both_the_remedy_is_to_install_again_and_says_what_ends() -> None:
    apart = offer(order.NETWORK, skips=False, v26__4="26.4.0 26.4.1", v26__7="26.7.0")
    error = refused(network("26.4.1"), "v26.4", wish("v26.7", package=order.NETWORK), apart)
    assert error.code == "OLM-NO-PATH"
    assert "nvidia_network_operator_channel: v26.7" in error.remedy
    assert error.remedy.endswith("Pods that need its operands end.")


def test_the_chain_of_a_channel_leads_on_and_a_build_follows_its_release() -> None:
    found = upgrade_path.find(NETWORK, network("26.4.1"), "stable", wish(package=order.NETWORK))
    assert found.stops == (Stop("stable", network("26.7.0-1"), (network("26.7.0"), network("26.7.0-1"))),)
    build = upgrade_path.find(NETWORK, network("26.7.0"), "v26.7", wish(package=order.NETWORK))
    assert [stop.csv for stop in build.stops] == [network("26.7.0-1")]
    back = refused(network("26.7.0-1"), "v26.7", wish(to="26.7.0", package=order.NETWORK), NETWORK)
    assert back.code == "OLM-VERSION"
    anywhere = upgrade_path.find(
        NETWORK, network("26.4.1"), "v26.4", wish(to="26.7.0-1", package=order.NETWORK)
    )
    assert (anywhere.channel, anywhere.stops[-1].csv) == ("stable", network("26.7.0-1"))


def test_a_release_candidate_comes_before_its_release() -> None:
    candidates = offer(order.NETWORK, skips=False, stable="26.4.0 26.7.0-rc.1 26.7.0")
    found = upgrade_path.find(candidates, network("26.7.0-rc.1"), "stable", wish(package=order.NETWORK))
    assert [stop.csv for stop in found.stops] == [network("26.7.0")]


def test_a_stop_is_a_channel_that_the_way_reaches() -> None:
    islands = offer(skips=False, stable="25.10.1 26.3.0 26.3.3 26.7.0", v26__3="26.3.0 26.3.3")
    found = upgrade_path.find(islands, FIRST, "stable", wish())
    assert [stop.channel for stop in found.stops] == ["stable"]
    assert "passes release 26.3 without a stop" in found.remarks[0]


def test_an_unknown_channel_is_refused_with_those_that_exist() -> None:
    error = refused(FIRST, "stable", wish(channel="v99"))
    assert (error.code, "channel v99 (operators[0].channel)" in error.message) == ("OLM-NO-CHANNEL", True)
    assert f"v26.3 ({MIDDLE})" in error.message
    gone = refused(FIRST, "v25.3", wish())
    assert (gone.code, "channel v25.3 (that of its Subscription)" in gone.message) == ("OLM-NO-CHANNEL", True)


def test_an_unknown_release_is_refused_with_those_that_exist() -> None:
    error = refused(FIRST, "stable", wish(to="27.1.0"))
    assert (error.code, f"operators[0].to: package {order.GPU} has no CSV 27.1.0" in error.message) == (
        "OLM-NO-CSV",
        True,
    )
    assert f"{FIRST}, {csv_name('26.3.0')}, {MIDDLE}, {LAST}." in error.message
    elsewhere = refused(FIRST, "stable", wish("v26.3", "26.7.0"))
    assert elsewhere.message.endswith(
        f"channel v26.3 has no CSV 26.7.0; it has: {csv_name('26.3.0')}, {MIDDLE}."
    )


@pytest.mark.parametrize("one", [wish(to="26.3.3"), wish(channel="v26.3")])
def test_a_downgrade_is_refused_with_the_way_back(one: Wish) -> None:
    error = refused(LAST, "v26.7", one)
    assert (error.code, "OLM does not downgrade" in error.message) == ("OLM-VERSION", True)
    for setting in ("gpu_operator_channel: v26.3", f"gpu_operator_csv: {MIDDLE}", "remove_gpus.yml"):
        assert setting in error.remedy


def test_a_channel_that_leads_past_the_release_is_refused() -> None:
    error = refused(csv_name("26.3.0"), "stable", wish("stable", "26.3.3"))
    setting = f"gpu_upgrade_operators: [{{name: {order.GPU}, channel: v26.3, to: 26.3.3}}]"
    assert (error.code, setting in error.remedy) == ("OLM-NO-PATH", True)
    last = offer(stable="26.3.0 26.3.3 26.7.0")
    with pytest.raises(AcceleratorError) as caught:
        upgrade_path.find(last, csv_name("26.3.0"), "stable", wish("stable", "26.3.3"))
    assert "channel: stable}]" in caught.value.remedy
