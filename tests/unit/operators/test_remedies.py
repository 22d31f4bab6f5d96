# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remedies in the words of the playbook."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._operators import remedies
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.remedies import for_playbook


@pytest.mark.parametrize(
    ("code", "remedy", "wanted"),
    [
        (
            "OLM-FOREIGN-CSV",
            "Set node_feature_discovery_allow_csvs: [kmm.v1, x.v2] (module option allow_csvs)",
            "gpu_upgrade_allow_csvs: [kmm.v1, x.v2]",
        ),
        ("OLM-DRIVER-CHANGE", "Set driver_change: pin", "gpu_upgrade_driver_change: pin"),
        ("OLM-DRIVER-PIN", "Set gpu_operator_adopt: take", "Set spec.driver.repository, image and version"),
        ("OLM-NO-PATH", "Set gpu_operator_csv", "gpu_upgrade_operators"),
        ("OLM-RESOLVE", "Set gpu_operator_channel", "`channel` of the operator in gpu_upgrade_operators"),
        ("GPU-IMAGE", "Run this.", "Run this."),
    ],
)
def test_a_remedy_names_a_variable_of_the_playbook(code: str, remedy: str, wanted: str) -> None:
    with pytest.raises(AcceleratorError) as caught, for_playbook():
        raise NotReadyError(code, "why", remedy)
    assert wanted in caught.value.remedy


def test_a_refusal_after_finished_steps_does_not_say_that_nothing_was_changed() -> None:
    for said in ("Nothing was changed.", "Nothing was approved."):
        exc = AcceleratorError("OLM-BUSY", f"2 pods end. {said} The Subscription has channel a again.", "")
        remedies.say_what_stays(exc)
        assert exc.message == (
            "2 pods end. This step has changed nothing; the steps before it stay. "
            "The Subscription has channel a again."
        )
