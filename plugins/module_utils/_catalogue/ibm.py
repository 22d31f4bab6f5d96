# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU profiles of IBM Cloud VPC; their names contain vCPUs, memory and GPUs.

The mark roce: the profile can join a cluster network.
"""

from __future__ import annotations

# Date of the newest source; newer instance types are missing.
AS_OF = "2026-08-21"
# `types.read_table` reads one line for each family: model (a key of `gpus.GPUS`), arch and marks, then
# type=GPUs/vCPUs/memory in GiB; "-" means not published.
TABLE = """
V100-16 amd64: gx2-8x64x1v100=1/8/64 gx2-16x128x1v100=1/16/128 gx2-16x128x2v100=2/16/128
V100-16 amd64: gx2-32x256x2v100=2/32/256
L4 amd64 pcie: gx3-16x80x1l4=1/16/80 gx3-32x160x2l4=2/32/160 gx3-64x320x4l4=4/64/320
L40S amd64 pcie: gx3-24x120x1l40s=1/24/120 gx3-48x240x2l40s=2/48/240
A100-80 amd64 pcie: gx3d-24x120x1a100p=1/24/120 gx3d-48x240x2a100p=2/48/240
H100-80 amd64 nvlink roce: gx3d-160x1792x8h100=8/160/1792
H200 amd64 nvlink roce: gx3d-160x1792x8h200=8/160/1792
B300 amd64 nvlink: gx4d-232x3840x8b300=8/232/3840
MI300X amd64: gx3d-208x1792x8mi300x=8/208/1792
GAUDI3 amd64: gx3d-160x1792x8gaudi3=8/160/1792
"""
