# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge of backend sro: conditions, and errors that last."""

from __future__ import annotations

import pytest
from unit.engine import FakeClock
from unit.stack.sro.builders import params, special

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.sro import judge as sro_judge


@pytest.mark.parametrize(
    ("live", "verdict", "code"),
    [
        (special(Ready=""), "ready", ""),
        (special(Progressing="waiting for driver"), "pending", "GPU-SRO-NOTREADY"),
        (special(Errored="no such chart", Progressing=""), "pending", "GPU-SRO-ERRORED"),
        (special(), "pending", "GPU-SRO-NOTREADY"),
    ],
)
def test_conditions(live: KubeObject, verdict: str, code: str) -> None:
    found = sro_judge.judge(live)
    assert (found.verdict, found.code) == (verdict, code)


def test_an_error_that_lasts_is_final() -> None:
    clock = FakeClock()
    judge = sro_judge.Judge(params(), clock)
    seen = {"specials": [special(Errored="no such chart")]}
    assert judge(seen).verdict == "pending"
    clock.sleep(11.0)
    assert (judge(seen).verdict, judge(seen).code) == ("failed", "GPU-SRO-ERRORED")
    assert "no such chart" in judge(seen).message
