# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of gpu_use."""

from __future__ import annotations

import typing as t

import pytest
from unit.use.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._use import options


def test_the_defaults_are_right() -> None:
    options.check(params())


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        ({"days": 0}, "INPUT-VALUE", "gpu_use_days"),
        ({"days": 91}, "INPUT-VALUE", "gpu_use_days"),
        ({"idle": 0}, "INPUT-VALUE", "gpu_use_idle"),
        ({"idle": 101}, "INPUT-VALUE", "gpu_use_idle"),
        ({"url": "ftp://thanos"}, "INPUT-VALUE", "gpu_monitoring_url"),
    ],
)
def test_a_wrong_option_is_refused_by_its_variable(given: dict[str, t.Any], code: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        options.check(params(**given))
    assert (raised.value.code, said in raised.value.remedy) == (code, True)
