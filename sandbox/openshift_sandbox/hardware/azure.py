# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes of Azure's virtual machines.

GPUs are counted as the SKU counts them: a third of an A10, an FPGA and an AMD GPU are one each.
"""

from __future__ import annotations

import typing as t

from openshift_sandbox.hardware.gpus import InstanceType, Sizes, instance_types

_FAMILIES: t.Final = {
    "D-v3": Sizes(
        None,
        "amd64",
        {"Standard_D4s_v3": (4, 16, 0), "Standard_D8s_v3": (8, 32, 0), "Standard_D16s_v3": (16, 64, 0)},
    ),
    "D-v5": Sizes(
        None,
        "amd64",
        {"Standard_D4s_v5": (4, 16, 0), "Standard_D8s_v5": (8, 32, 0), "Standard_D16s_v5": (16, 64, 0)},
    ),
    "Dp-v5": Sizes(None, "arm64", {"Standard_D4ps_v5": (4, 16, 0), "Standard_D8ps_v5": (8, 32, 0)}),
    "T4": Sizes(
        "T4",
        "amd64",
        {
            "Standard_NC4as_T4_v3": (4, 28, 1),
            "Standard_NC8as_T4_v3": (8, 56, 1),
            "Standard_NC16as_T4_v3": (16, 110, 1),
            "Standard_NC64as_T4_v3": (64, 440, 4),
        },
    ),
    "V100": Sizes(
        "V100-PCIE",
        "amd64",
        {
            "Standard_NC6s_v3": (6, 112, 1),
            "Standard_NC12s_v3": (12, 224, 2),
            "Standard_NC24s_v3": (24, 448, 4),
            "Standard_NC24rs_v3": (24, 448, 4),
        },
    ),
    "V100-SXM2": Sizes("V100-32", "amd64", {"Standard_ND40rs_v2": (40, 672, 8)}),
    "A10": Sizes(
        "A10",
        "amd64",
        {
            "Standard_NC8ads_A10_v4": (8, 55, 1),
            "Standard_NC16ads_A10_v4": (16, 110, 1),
            "Standard_NC32ads_A10_v4": (32, 220, 2),
        },
    ),
    "A10-sixth": Sizes("A10-4Q", "amd64", {"Standard_NV6ads_A10_v5": (6, 55, 1)}),
    "A10-third": Sizes("A10-8Q", "amd64", {"Standard_NV12ads_A10_v5": (12, 110, 1)}),
    "A10-half": Sizes("A10-12Q", "amd64", {"Standard_NV18ads_A10_v5": (18, 220, 1)}),
    "A10-whole": Sizes(
        "A10-24Q",
        "amd64",
        {
            "Standard_NV36ads_A10_v5": (36, 440, 1),
            "Standard_NV36adms_A10_v5": (36, 880, 1),
            "Standard_NV72ads_A10_v5": (72, 880, 2),
        },
    ),
    "A100": Sizes(
        "A100-PCIE",
        "amd64",
        {
            "Standard_NC24ads_A100_v4": (24, 220, 1),
            "Standard_NC48ads_A100_v4": (48, 440, 2),
            "Standard_NC96ads_A100_v4": (96, 880, 4),
        },
    ),
    "A100-SXM4-40": Sizes("A100-40", "amd64", {"Standard_ND96asr_v4": (96, 900, 8)}),
    "A100-SXM4-80": Sizes("A100-80", "amd64", {"Standard_ND96amsr_A100_v4": (96, 1800, 8)}),
    "H100-NVL": Sizes(
        "H100-NVL",
        "amd64",
        {
            "Standard_NC40ads_H100_v5": (40, 320, 1),
            "Standard_NC80adis_H100_v5": (80, 640, 2),
            "Standard_NCC40ads_H100_v5": (40, 320, 1),
        },
    ),
    "H100": Sizes("H100", "amd64", {"Standard_ND96isr_H100_v5": (96, 1900, 8)}),
    "H200": Sizes("H200", "amd64", {"Standard_ND96isr_H200_v5": (96, 1850, 8)}),
    "GB200": Sizes("GB200", "arm64", {"Standard_ND128isr_NDR_GB200_v6": (128, 864, 4)}),
    "M60": Sizes(
        "M60",
        "amd64",
        {
            "Standard_NV6s_v2": (6, 56, 1),
            "Standard_NV12s_v2": (12, 112, 2),
            "Standard_NV24s_v2": (24, 224, 4),
            "Standard_NV12s_v3": (12, 112, 1),
            "Standard_NV24s_v3": (24, 224, 2),
            "Standard_NV48s_v3": (48, 448, 4),
        },
    ),
    "MI25": Sizes(
        "MI25",
        "amd64",
        {
            "Standard_NV4as_v4": (4, 14, 1),
            "Standard_NV8as_v4": (8, 28, 1),
            "Standard_NV32as_v4": (32, 112, 1),
        },
    ),
    "MI300X": Sizes("MI300X", "amd64", {"Standard_ND96isr_MI300X_v5": (96, 1850, 8)}),
    "FPGA": Sizes(
        "ALVEO",
        "amd64",
        {"Standard_NP10s": (10, 168, 1), "Standard_NP20s": (20, 336, 2), "Standard_NP40s": (40, 672, 4)},
    ),
}

TYPES: t.Final[dict[str, InstanceType]] = instance_types(_FAMILIES, "{size}")
