# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Known texts of failures and Xids: each is recognised, and the page of the docs has the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._stack import signatures

SIGNATURES = [
    ("sign-file: /run/secrets/key/key: No such file", "GPU-KMM-SIGN"),
    ("modprobe: ERROR: could not insert 'card': Key was rejected by service", "GPU-DRV-SIGN"),
    (
        "error: failed to install elfutils packages. RHEL entitlement may be improperly deployed.",
        "GPU-DRV-NODTK",
    ),
    ("Unable to find a match: elfutils-libelf-devel", "GPU-DRV-NODTK"),
    ("driver-toolkit imagestream not found", "GPU-DTK-STREAM"),
    ("DriverToolkit was requested but could not be enabled (dependencies missing)", "GPU-DTK-STREAM"),
    ('no matches for kind "ImageStream" in version "image.openshift.io/v1"', "GPU-DTK-STREAM"),
    ("could not find osImage quay.io/x in OS --> DTK mapping", "GPU-DTK-OSIMAGE"),
    ("Couldn't get kernelVersion, did you run the node feature discovery?", "GPU-NFD-KERNEL"),
    ("No GPU node in the cluster, do not create DaemonSets", "GPU-NFD-EMPTY"),
    ("Could not unload NVIDIA driver kernel modules, driver is in use", "GPU-DRV-INUSE"),
    ("eviction is disabled by the upgrade policy", "GPU-UPG-POLICY"),
    ("drain is superseded by the GPU Operator's upgrade policy", "GPU-UPG-POLICY"),
    ("cannot delete Pods with local storage (use --delete-emptydir-data to override)", "GPU-UPG-EMPTYDIR"),
    ("PKCS#7 signature not signed by a key that is trusted", "GPU-DRV-SIGN"),
    ("Loading of unsigned module is rejected", "GPU-DRV-SIGN"),
    (
        "NVRM: installed in this system is not supported by the\nNVRM: NVIDIA 595.91.07 driver",
        "GPU-DRV-BRANCH",
    ),
    ("NVRM: RmInitAdapter failed! (0x22:0x56:884)", "GPU-DRV-FLAVOUR"),
    ("the GPU is not supported by open nvidia.ko", "GPU-DRV-FLAVOUR"),
    ('no runtime for "nvidia" is configured', "GPU-TK-RUNTIME"),
    ("error code system not yet initialized", "GPU-FABRIC"),
    ("Requested: 1, Available: 0, which is unexpected", "GPU-VAL-BUSY"),
    ("XidCriticalError: Xid=79 on Device=GPU-1; marking device as unhealthy.", "GPU-HW-XID"),
    ("Failed to initialize NVML: Unknown Error", "GPU-CDI-LOST"),
    ("At least one mode change pending", "GPU-MIG-REBOOT"),
    ("unable to read MDEV devices directory", "GPU-VGPU-MDEV"),
    ("modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument", "GPU-RDMA-ABI"),
    ("waiting for mellanox ofed and nvidia drivers to be installed", "GPU-RDMA-ORDER"),
    ("conflicting GPUCluster resource gpu-cluster cannot co-exist", "GPU-CP-CONFLICT"),
    ("states not ready: [state-driver]", "GPU-CP-OPERAND"),
]


@pytest.mark.parametrize(
    ("text", "code"), SIGNATURES, ids=[f"{code}-{number}" for number, (_text, code) in enumerate(SIGNATURES)]
)
def test_a_known_text_is_recognised_in_the_middle_of_a_log(text: str, code: str) -> None:
    found = signatures.recognise(f"I1121 starting\n{text}\nexiting\n")
    assert found is not None
    assert found.code == code
    assert found.remedy
    assert found.meaning


def test_every_signature_has_a_case_here_or_with_its_own_stack() -> None:
    tested = {code for _text, code in SIGNATURES}
    assert {one.code for one in signatures.SIGNATURES if not one.code.startswith("NIC-")} == tested


def test_xids_of_applications_are_no_reason() -> None:
    """The device plugin does not withdraw a GPU for these."""
    assert not {13, 31, 43, 45, 68, 109} & set(signatures.XIDS)
    assert all(one.action in signatures.REMEDIES and one.meaning for one in signatures.XIDS.values())


def test_the_page_has_the_same_xids_for_the_same_action() -> None:
    page = (Path(__file__).parents[3] / "docs/driver-stack.md").read_text()
    rows = [
        {int(number) for number in found.split(", ")}
        for found in re.findall(r"^\| (\d+(?:, \d+)*) \|", page, re.MULTILINE)
    ]
    told = [
        {number for number, one in signatures.XIDS.items() if one.action == action}
        for action in (signatures.RESET, signatures.REBOOT, signatures.REPLACE, signatures.WATCH)
    ]
    assert rows == [*told, {13, 31, 43, 45, 68, 109}]
