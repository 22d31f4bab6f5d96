# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The name of a MIG configuration follows its content."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import mig_name

SEVEN: t.Final = [{"devices": "all", "mig-enabled": True, "mig-devices": {"1g.5gb": 7}}]


@pytest.mark.parametrize("pool", ["a", "a-00000000", "gpu-a"])
def test_the_pool_of_a_name(pool: str) -> None:
    assert mig_name.pool_prefix(mig_name.name(pool, SEVEN)) == mig_name.prefix(pool)


@pytest.mark.parametrize("value", ["", "all-disabled", "gpu-a", "gpu-a-1g.5gb", "other-00000000"])
def test_names_of_others(value: str) -> None:
    assert mig_name.pool_prefix(value) == ""


def test_the_order_of_keys_does_not_matter() -> None:
    turned = [dict(reversed(SEVEN[0].items()))]
    assert mig_name.name("a", turned) == mig_name.name("a", SEVEN)
