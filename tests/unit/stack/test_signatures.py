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
    ("NVRM: GPU 0000:04:02.0: RmInitAdapter failed! (0x11:0x45:2525)", "GPU-DRV-INIT"),
    ("NVRM: GPU 0000:04:02.0: rm_init_adapter failed, device minor number 1", "GPU-DRV-INIT"),
    ("nvidia-persistenced failed to initialize. Check syslog for more details.", "GPU-DRV-INIT"),
    ("NVRM: BAR1 is 0M @ 0x0 (PCI:0000:af:00.0)", "GPU-DRV-INIT"),
    ("NVRM: GPU at PCI:0000:3b:00: _kgspBootGspRm: unexpected WPR2 already up", "GPU-DRV-INIT"),
    (
        "NVRM: installed in this system is not supported by open\nNVRM: nvidia.ko because it does not",
        "GPU-DRV-FLAVOUR",
    ),
    (
        "[ 9.1] NVRM: installed in this system requires use of the NVIDIA open\n[ 9.1] NVRM: kernel modules.",
        "GPU-DRV-FLAVOUR",
    ),
    (
        "NVRM: installed in this system is not supported by the\nNVRM: NVIDIA 595.71.05 driver release.",
        "GPU-DRV-BRANCH",
    ),
    ("[   12.4] NVRM: installed is not supported by the NVRM: NVIDIA 580 driver", "GPU-DRV-BRANCH"),
    (
        "NVRM: installed in this system is supported through the\nNVRM: NVIDIA 470.xx Legacy drivers.",
        "GPU-DRV-BRANCH",
    ),
    (
        "Error: Unable to find a match: kernel-headers-4.18.0-240.23.2.el8_3.x86_64 kernel-devel-4.18.0",
        "GPU-DRV-NODTK",
    ),
    ("Error: Unable to find a match: kernel-core-5.14.0-570.el9.x86_64", "GPU-DRV-NODTK"),
    ("Could not resolve Linux kernel version", "GPU-DRV-NODTK"),
    (
        "FATAL: failed to install elfutils-libel-devel. RHEL entitlement may be improperly deployed.",
        "GPU-DRV-NODTK",
    ),
    (
        "WARNING: RHCOS '9.6.20260521-0' imagetag missing, using entitlement-based fallback\n"
        "Could not resolve Linux kernel version",
        "GPU-DTK-STREAM",
    ),
    ("WARNING: broken Driver Toolkit image detected:", "GPU-DTK-STREAM"),
    (
        "FATAL: failed to reach RHEL package repositories. Ensure that the cluster can access",
        "GPU-DRV-REPO",
    ),
    ("Error: Failed to download metadata for repo 'ubi-9-baseos-rpms'", "GPU-DRV-REPO"),
    (
        "ERROR: modpost: GPL-incompatible module nvidia.ko uses GPL-only symbol '__rcu_read_lock'",
        "GPU-DRV-BUILD",
    ),
    (
        "/usr/src/nvidia-535.129.03/kernel/nvidia-drm/nvidia-drm-drv.c:78:9: error: 'struct drm' has no",
        "GPU-DRV-BUILD",
    ),
    ("modprobe: ERROR: could not insert 'nvidia': Exec format error", "GPU-DRV-BUILD"),
    ("nvidia: version magic '5.14.0-427' should be '5.14.0-570'", "GPU-DRV-BUILD"),
    ("ERROR: The Nouveau kernel driver is currently in use by your system.", "GPU-DRV-NOUVEAU"),
    ("NVRM: The NVIDIA probe routine was not called for 1 device(s).", "GPU-DRV-NOUVEAU"),
    ("modprobe: ERROR: could not insert 'nvidia': No such device", "GPU-DRV-LOAD"),
    (
        "ERROR: Unable to load the kernel module 'nvidia.ko'.  This happens most frequently when another "
        "driver, such as nouveau, is present and prevents the NVIDIA kernel module from obtaining ownership",
        "GPU-DRV-LOAD",
    ),
    ("Failed to initialize NVML: Driver/library version mismatch", "GPU-DRV-MISMATCH"),
    ("NVRM: GPU at PCI:0000:01:00: GPU has fallen off the bus.", "GPU-HW-XID"),
    (
        'level=info msg="Error: error validating driver installation: error creating symlink creator: failed',
        "GPU-VAL-DEVCHAR",
    ),
    ("failed to find runtime handler nvidia from runtime list map[crun:0xc0]", "GPU-TK-RUNTIME"),
    ("main.go:277] Failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND.", "GPU-TK-RUNTIME"),
    ("CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=0", "GPU-TK-RUNTIME"),
    ("CUDA_ERROR_SYSTEM_NOT_READY", "GPU-FABRIC"),
    (
        "fabric manager NVIDIA GPU driver interface version 570.1 doesn't match with driver version 570.2",
        "GPU-FABRIC",
    ),
    ("Error setting MIGConfig: error destroying GPU instance: In use by another client", "GPU-MIG-FAILED"),
    ('Get "https://172.30.0.1:443/api/v1/nodes/gpu-1": Service Unavailable', "GPU-PROXY"),
    ("modprobe: ERROR: could not insert 'nvidia-peermem': Invalid argument", "GPU-RDMA-ABI"),
    ("the GPU is not supported by open nvidia.ko", "GPU-DRV-FLAVOUR"),
    ("Lockdown: modprobe: unsigned module loading is restricted", "GPU-DRV-SIGN"),
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


@pytest.mark.parametrize(
    "text",
    [
        "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
        "PKCS#7 signature not signed with a trusted key",
        "Unloading nouveau driver...\nSuccessfully unloaded nouveau driver",
        "rmmod: ERROR: Module nouveau is not currently loaded",
        "WARNING: modpost: missing MODULE_DESCRIPTION() in nvidia.o",
        "ERROR: modpost: GPL-compatible module x.ko",
        "Unable to find a match: vim",
        "creating symlinks under /dev/char that correspond to NVIDIA character devices",
        'nodes "gpu-1" is forbidden: User "x" cannot get resource "nodes"',
        "Unloading NVIDIA driver kernel modules...",
        "warning: the compiler differs from the one used to build the kernel",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.124.06",
        "Proceeding with Linux kernel version 5.14.0-570.12.1.el9_6.x86_64",
    ],
)
def test_a_text_that_is_no_failure_or_another_one_is_not_recognised(text: str) -> None:
    assert signatures.recognise(text) is None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("reading manifest 1.2 in nvcr.io/nvidia/driver: manifest unknown", "no such image"),
        ("Error response: manifest for x:1 not found: manifest unknown", "no such image"),
        ("unable to retrieve auth token: invalid username/password: unauthorized", "login"),
        ("initializing source docker://x: Requesting bearer token: status code 403", "login"),
        ("toomanyrequests: You have reached your pull rate limit", "limits how often"),
        ("received unexpected HTTP status: 429 Too Many Requests", "limits how often"),
        ('Get "https://nvcr.io/v2/": dial tcp: lookup nvcr.io: no such host', "does not reach"),
        ("tls: failed to verify certificate: x509: certificate signed by unknown authority", "trust it"),
        ("no image found in manifest list for architecture arm64", "architecture"),
        ('couldn\'t parse image reference "/:570.172.08-rhel9.6": invalid reference format', "name of the"),
    ],
)
def test_reasons_why_an_image_is_not_pulled_are_told_apart(text: str, word: str) -> None:
    found = signatures.recognise(f"Failed to pull image: rpc error: {text}", signatures.PULLS)
    assert found is not None
    assert word in found.meaning


@pytest.mark.parametrize("one", signatures.SIGNATURES, ids=lambda one: str(one.pattern)[:30])
def test_a_remedy_names_what_it_is_about(one: signatures.Signature) -> None:
    one = signatures.with_text(one)
    told = one.advice(node="gpu-7", pod="driver-x", namespace="nvidia-gpu-operator")
    assert told
    assert not re.search(r"\b(POD|NODE|NAMESPACE)\b|[{](node|pod|namespace)[}]", told)
    needed = set(re.findall(r"[{](node|pod|namespace)[}]", one.remedy))
    assert not needed or one.advice("otherwise") == "otherwise"


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
    ],
)
def test_the_line_that_says_why_is_before_the_clean_up(log: str, said: str) -> None:
    assert signatures.telling(log) == (said, True)


@pytest.mark.parametrize("log", [TRAP, "", "Caught signal\n+ exit 1"])
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


def test_every_signature_has_a_case_here_or_with_its_own_stack() -> None:
    tested = {code for _text, code in SIGNATURES}
    assert {one.code for one in signatures.SIGNATURES if not one.code.startswith("NIC-")} == tested


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
