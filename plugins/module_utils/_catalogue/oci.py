# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU shapes of Oracle Cloud Infrastructure. The mark roce: the shape can join a cluster network."""

from __future__ import annotations

# Date of the newest source; newer instance types are missing.
AS_OF = "2026-08-20"
# `types.read_table` reads one line for each family: model (a key of `gpus.GPUS`), arch and marks, then
# type=GPUs/vCPUs/memory in GiB; "-" means not published.
TABLE = """
P100 amd64: VM.GPU2.1=1/24/72 BM.GPU2.2=2/56/192
V100-16 amd64: VM.GPU3.1=1/12/90 VM.GPU3.2=2/24/180 VM.GPU3.4=4/48/360 BM.GPU3.8=8/104/768
A10 amd64: VM.GPU.A10.1=1/30/240 VM.GPU.A10.2=2/60/480 BM.GPU.A10.4=4/128/1024
A100-40 amd64 nvlink roce: BM.GPU4.8=8/128/2048 BM.GPU.B4.8=8/-/-
A100-80 amd64 nvlink roce: BM.GPU.A100-v2.8=8/256/2048
A100-80 amd64: VM.GPU.A100.80G.1=1/-/-
L40S amd64 pcie: BM.GPU.L40S.4=4/224/1024 BM.GPU.L40S-NC.4=4/-/-
H100-80 amd64 nvlink roce: BM.GPU.H100.8=8/224/2048
H200 amd64 nvlink roce: BM.GPU.H200.8=8/224/3072
B200 amd64 nvlink roce: BM.GPU.B200.8=8/256/4096
B300 amd64 nvlink roce: BM.GPU.B300.8=8/256/4096
RTX-PRO-6000 amd64 roce: BM.GPU.RTXPRO.8=8/288/3072
GB200-192 arm64 nvlink roce: BM.GPU.GB200.4=4/144/960 BM.GPU.GB200-v2.4=4/-/- BM.GPU.GB200-v3.4=4/-/-
GB300 arm64 nvlink roce: BM.GPU.GB300.4=4/144/960
MI300X amd64 roce: BM.GPU.MI300X.8=8/224/2048
MI355X amd64 roce: BM.GPU.MI355X.8=8/256/3072 BM.GPU.MI355X-v1.8=8/-/-
"""
