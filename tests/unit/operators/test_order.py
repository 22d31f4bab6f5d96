# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of upgrades, and the entries of the option."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._operators import order


def test_the_order_of_the_list_does_not_matter() -> None:
    found = order.wishes([{"name": "kmm"}, {"name": "gpu", "to": "26.7.0"}, {"name": "nic"}, {"name": "nfd"}])
    assert [one.package for one in found] == list(order.PACKAGES)
    assert found[2] == order.Wish(order.GPU, "", "26.7.0", "operators[1]")


def test_every_place_says_why_and_who_says_so() -> None:
    assert all(place.why and place.source for place in order.ORDER)
    assert set(order.STEPWISE) <= set(order.PACKAGES)


@pytest.mark.parametrize(
    ("entries", "path"),
    [
        ([{"name": "nfd"}, {"name": "nvidia"}], "operators[1].name"),
        ([{"name": "nfd"}] * 2, "operators[1].name"),
    ],
)
def test_a_name_that_is_unknown_or_there_twice_is_refused_with_its_path(
    entries: list[dict[str, str]], path: str
) -> None:
    with pytest.raises(InputError) as caught:
        order.wishes(entries)
    assert path in caught.value.message
