# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the log of a broken container adds to a failure."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.pods import add_log_end


@pytest.mark.parametrize(
    ("log", "code"),
    [
        (
            "error: failed to install elfutils packages. RHEL entitlement may be improperly deployed.",
            "GPU-DRV-NODTK",
        ),
        ("modprobe: ERROR: could not insert 'nvidia': Required key not available", "GPU-DRV-SIGN"),
        ("NVRM: RmInitAdapter failed! (0x22:0x56:884)", "GPU-DRV-FLAVOUR"),
        ("Could not unload NVIDIA driver kernel modules, driver is in use", "GPU-DRV-INUSE"),
    ],
)
def test_a_known_text_in_the_log_brings_its_remedy(log: str, code: str) -> None:
    error = NotReadyError("GPU-DRV-CRASH", "driver crashes.", "look")
    add_log_end(error, "nvidia-driver-x", "nvidia-driver-ctr", f"starting\n{log}\n")
    assert error.code == code
    assert error.message.endswith(log)
    assert error.remedy != "look"
    assert error.evidence[-1].endswith(log)


def test_an_unknown_text_is_only_evidence() -> None:
    error = AcceleratorError("GPU-DRV-CRASH", "driver crashes.", "look")
    add_log_end(error, "nvidia-driver-x", "ctr", "something else")
    assert (error.code, error.remedy, error.evidence) == (
        "GPU-DRV-CRASH",
        "look",
        ["nvidia-driver-x/ctr: something else"],
    )
    assert error.message == "driver crashes. The log of nvidia-driver-x ends with: something else"


def test_a_log_does_not_replace_another_cause() -> None:
    error = AcceleratorError("GPU-TAINT", "not tolerated.", "oc adm taint")
    add_log_end(error, "nvidia-driver-x", "ctr", "NVRM: RmInitAdapter failed!")
    assert (error.code, error.message, error.remedy) == ("GPU-TAINT", "not tolerated.", "oc adm taint")
