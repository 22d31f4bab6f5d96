# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of logs that are quoted, and Xids: the page of the docs has the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._stack import signatures

TRAP = """Stopping NVIDIA persistence daemon...
+ echo 'Unloading NVIDIA driver kernel modules...'
Unloading NVIDIA driver kernel modules...
+ '[' -f /sys/module/nvidia/refcnt ']'
+ echo 'Unmounting NVIDIA driver rootfs...'
Unmounting NVIDIA driver rootfs...
+ rm -f /run/nvidia/nvidia-driver.pid /run/kernel/postinst.d/update-nvidia-driver
+ return 0"""
BEGIN = """========== NVIDIA Software Installer ==========
Unloading NVIDIA driver kernel modules...
Unmounting NVIDIA driver rootfs...
Installing NVIDIA driver kernel modules..."""


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (f"{BEGIN}\nlibkmod: ERROR: bad module dependency\n{TRAP}", "libkmod: ERROR: bad module dependency"),
        (f"{BEGIN}\ncp: cannot stat '/x': No such file\n+ exit 1", "cp: cannot stat '/x': No such file"),
        (
            f"gcc: fatal error: x\nmake[1]: *** [Makefile:82: modules] Error 2\n{TRAP}",
            "gcc: fatal error: x",
        ),
        (
            f"WARNING: Unable to find the X library path\nERROR: broken\nWARNING: no Vulkan\n{TRAP}",
            "ERROR: broken",
        ),
        (
            "E1121 10:00:00.0 1 main.go:1] starting plugins\nI1121 done",
            "E1121 10:00:00.0 1 main.go:1] starting plugins",
        ),
        (
            f"disk is broken: I/O error\n{TRAP}\nCould not stop NVIDIA persistence daemon",
            "disk is broken: I/O error",
        ),
        (
            "libkmod: ERROR: bad module\nUnable to read consumer identity\n"
            "nvidia: module verification failed: signature and/or required key missing - tainting kernel\n"
            f"ERROR: Unable to open 'kernel/dkms.conf' for copying (No such file or directory)\n{TRAP}",
            "libkmod: ERROR: bad module",
        ),
        (
            "time=2026-03-06T20:37:57Z level=error msg=cannot read labels\n"
            "time=2026-03-06T20:37:58Z level=info msg=Performing cleanup on failure\n"
            "time=2026-03-06T20:37:58Z level=info msg=Rescheduling clients that failed",
            "time=2026-03-06T20:37:57Z level=error msg=cannot read labels",
        ),
        (
            "E0423 06:04:56.5 39 main.go:301] Failed to start plugin: socket\n"
            "I0423 06:05:26.5 39 main.go:208] Failed to start one or more plugins. Retrying in 30s...\n"
            "I0423 06:05:26.5 39 main.go:315] Stopping plugins.\n"
            "E0423 06:05:27.0 39 server.go:1] error while stopping: socket is gone",
            "E0423 06:04:56.5 39 main.go:301] Failed to start plugin: socket",
        ),
        (
            '{"level":"error","msg":"cannot list nodes"}\n{"level":"info","msg":"error count: 0 of 3"}',
            '{"level":"error","msg":"cannot list nodes"}',
        ),
        (
            'level=info msg="Error: error validating x"\nlevel=info msg="nothing failed here"',
            'level=info msg="Error: error validating x"',
        ),
    ],
)
def test_the_line_that_says_why_is_before_the_clean_up(log: str, said: str) -> None:
    assert signatures.telling(log) == (said, True)


@pytest.mark.parametrize(
    "log",
    [
        TRAP,
        "",
        "Caught signal\n+ exit 1",
        "2024-09-18T21:19:32.9Z stdout F Unloading NVIDIA driver kernel modules...",
        "Unable to read consumer identity\nI0423 06:05:26.5 39 main.go:315] Stopping plugins.",
    ],
)
def test_noise_says_nothing(log: str) -> None:
    assert signatures.telling(log) == ("", False)


def test_a_line_about_no_error_is_no_error() -> None:
    assert signatures.telling("loaded with 0 errors\nerror=nil\nserving") == ("serving", False)


def test_the_line_in_which_a_text_begins_is_the_one_that_is_quoted() -> None:
    log = (
        "x\n[1.0] NVRM: is not supported by the\n[1.0] NVRM: NVIDIA 595.71 driver release.\nUnloading NVIDIA"
    )
    found = signatures.recognise(log)
    assert found is not None
    assert signatures.spoken(found, log) == "[1.0] NVRM: is not supported by the"


def test_xids_of_applications_are_no_reason() -> None:
    """The device plugin does not withdraw a GPU for these; 109 needs a reset all the same."""
    assert not {13, 31, 43, 45, 68} & set(signatures.XIDS)
    assert {109} == signatures.UNNOTICED
    assert signatures.XIDS[109].action == signatures.RESET
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
    assert rows == [*told, {13, 31, 43, 45, 68}]


def test_the_kernel_tells_of_the_xids_of_the_table() -> None:
    log = (
        "[9.1] NVRM: Xid (PCI:0000:3b:00): 109, pid=7, name=python, errorString CTX SWITCH TIMEOUT\n"
        "[9.2] NVRM: Xid (PCI:0000:3b:00): 13, Graphics Exception\n"
        "XidCriticalError: Xid=79 on Device=GPU-1; marking device as unhealthy.\n"
    )
    assert signatures.reported_xids(log) == [(79, "GPU-1"), (109, "PCI:0000:3b:00")]
