# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What programs on a GPU print.

Nvidia-smi, CUDA's vectorAdd, a matrix multiplication, the driver container.
"""

from __future__ import annotations

import typing as t
import uuid

from openshift_sandbox.hardware.instance_types import Gpu

VECTOR_ADD: t.Final = (
    "[Vector addition of 50000 elements]",
    "Copy input data from the host memory to the CUDA device",
    "CUDA kernel launch with 196 blocks of 256 threads",
    "Copy output data from the CUDA device to the host memory",
    "Test PASSED",
    "Done",
)
CUDA_FAILURE: t.Final = "Failed to allocate device vector A (error code system not yet initialized)!"
DRIVER_FAILURE: t.Final = (
    "FATAL: failed to install elfutils-libel-devel. RHEL entitlement may be improperly deployed."
)


def device_uuid(node: str, index: int) -> str:
    """Return the UUID of a device, the same in every run."""
    return f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{index}.{node}')}"


def part_uuid(node: str, part: str) -> str:
    """Return the UUID of a MIG device, the same in every run."""
    return f"MIG-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{part}.{node}')}"


def device_list(gpu: Gpu, node: str, devices: t.Sequence[int], parts: t.Sequence[str] = ()) -> list[str]:
    """Return the output of nvidia-smi -L in a container: its own devices, numbered from 0.

    `parts` are its MIG devices, as GPU:profile:number.
    """
    lines = []
    for number, index in enumerate(devices):
        lines.append(f"GPU {number}: {gpu.name} (UUID: {device_uuid(node, index)})")
        here = [one for one in parts if one.partition(":")[0] == str(index)]
        for place, one in enumerate(here):
            profile = one.split(":")[1]
            lines.append(f"  MIG {profile:<10}  Device {place:>2}: (UUID: {part_uuid(node, one)})")
    return lines


def nvidia_smi(gpu: Gpu, devices: t.Sequence[int], driver: str, cuda: str) -> list[str]:
    """Return the output of nvidia-smi."""
    edge, rule = "+" + "-" * 77 + "+", "|" + "-" * 77 + "|"
    lines = [
        edge,
        f"| {f'NVIDIA-SMI {driver}':<24}{f'Driver Version: {driver}':<31}{f'CUDA Version: {cuda}':<21}|",
        rule,
    ]
    for number, index in enumerate(devices):
        lines.append(
            f"| {number:>3}  {gpu.name[:36]:<36} On   | 00000000:{0x1E + index:02X}:00.0 Off |{'0':>7} |"
        )
        lines.append(
            f"| N/A   34C    P8    12W /  70W | {'0MiB':>9} / {f'{gpu.memory_mib}MiB':>9} |      0%    "
            "  Default |"
        )
    return [*lines, edge]


def driver_log(version: str, kernel: str) -> list[str]:
    """Return the log of a driver container that succeeds."""
    return [
        "Running nv-ctr-run-with-dtk",
        "========== NVIDIA Software Installer ==========",
        f"Starting installation of NVIDIA driver version {version} for Linux kernel version {kernel}",
        "Building kernel modules with the Driver Toolkit...",
        "Loading NVIDIA driver kernel modules...",
        "Starting NVIDIA persistence daemon...",
        "Mounting NVIDIA driver rootfs...",
        "Done, now waiting for signal",
    ]


def failed_driver_log(version: str, kernel: str, text: str) -> list[str]:
    """Return the log of a driver container that fails: the trap of its shell, which runs with -x, comes last.

    The real trap has some 40 lines more.
    """
    return [
        *driver_log(version, kernel)[:3],
        *text.splitlines(),
        "+ _shutdown",
        "+ _unload_driver",
        "+ echo 'Unloading NVIDIA driver kernel modules...'",
        "Unloading NVIDIA driver kernel modules...",
        "+ _unmount_rootfs",
        "+ echo 'Unmounting NVIDIA driver rootfs...'",
        "Unmounting NVIDIA driver rootfs...",
        "+ rm -f /run/nvidia/nvidia-driver.pid /run/kernel/postinst.d/update-nvidia-driver",
        "+ return 0",
    ]


def unsupported_gpu(device: str, version: str) -> str:
    """Return what the kernel logs of a GPU that the driver's branch no longer supports."""
    return "\n".join(
        (
            f"NVRM: The NVIDIA GPU 0000:00:1e.0 (PCI ID: 10de:{device})",
            "NVRM: installed in this system is not supported by the",
            f"NVRM: NVIDIA {version} driver release.",
            "NVRM: Please see 'Appendix A - Supported NVIDIA GPU Products'",
            "NVRM: in this release's README, available on the operating system",
            "NVRM: specific graphics driver download page at www.nvidia.com.",
            "modprobe: ERROR: could not insert 'nvidia': No such device",
        )
    )


def unhealthy(xid: int, device: str) -> str:
    """Return the device plugin's line about a device that it withdraws."""
    return f"XidCriticalError: Xid={xid} on Device={device}; marking device as unhealthy."
