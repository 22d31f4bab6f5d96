# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of gpu_monitoring: what is wrong is refused by its path."""

from __future__ import annotations

import typing as t

import pytest
from unit.monitoring.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import options


def refused(**given: t.Any) -> InputError:
    with pytest.raises(InputError) as raised:
        options.read(params(**given))
    return raised.value


def test_alerts_can_be_left_out() -> None:
    every = options.read(params())
    fewer = options.read(params(without=["GpuIdle"]))
    assert {one.name for one in every} - {one.name for one in fewer} == {"GpuIdle"}


def test_an_unknown_alert() -> None:
    error = refused(without=["GpuIdle", "GpuXidd"])
    assert (error.code, "without[1]" in error.message, "GpuXid" in error.remedy) == ("MON-ALERT", True, True)


def test_an_unknown_metric() -> None:
    assert refused(metrics=["DCGM_FI_DEV_FB_TOTAL"]).code == "MON-METRIC"


@pytest.mark.parametrize(
    "limits", [{"temperature": 20}, {"quota": 0}, {"quota": 101}, {"idle": "0m"}, {"lease": "6 hours"}]
)
def test_a_limit_that_makes_no_sense(limits: dict[str, t.Any]) -> None:
    error = refused(limits=limits)
    assert error.code == "MON-LIMIT"
    assert f"limits.{next(iter(limits))}" in error.message
    assert "gpu_monitoring_limits" in error.remedy


def test_a_limit_that_is_not_given_has_its_default() -> None:
    """An option that is left out is None in the parameters of the module."""
    found = options.read(params(limits={"temperature": None, "idle": "2d"}))
    assert {one.name: one for one in found}["GpuIdle"].lasts == "2d"
