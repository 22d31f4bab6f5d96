# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Microsoft Azure; NV..ads_A10_v5 sizes below 36 hold a fraction of a GPU (vGPU) and still count as one."""

from __future__ import annotations

# One line a family: model (key of _gpus.GPUS) and arch, then type=GPUs/vCPUs/memory in GiB; "-" where the figure is not published here.
TABLE = """
T4 amd64: Standard_NC4as_T4_v3=1/4/28 Standard_NC8as_T4_v3=1/8/56 Standard_NC16as_T4_v3=1/16/110 Standard_NC64as_T4_v3=4/64/440
V100-16 amd64: Standard_NC6s_v3=1/6/112 Standard_NC12s_v3=2/12/224 Standard_NC24s_v3=4/24/448 Standard_NC24rs_v3=4/24/448
V100-32 amd64: Standard_ND40rs_v2=8/40/672
A10 amd64: Standard_NC8ads_A10_v4=1/8/- Standard_NC16ads_A10_v4=1/16/- Standard_NC32ads_A10_v4=2/32/-
A10 amd64: Standard_NV36ads_A10_v5=1/36/- Standard_NV36adms_A10_v5=1/36/- Standard_NV72ads_A10_v5=2/72/-
A10-4 amd64: Standard_NV6ads_A10_v5=1/6/-
A10-8 amd64: Standard_NV12ads_A10_v5=1/12/-
A10-12 amd64: Standard_NV18ads_A10_v5=1/18/-
A100-80 amd64: Standard_NC24ads_A100_v4=1/24/220 Standard_NC48ads_A100_v4=2/48/440 Standard_NC96ads_A100_v4=4/96/880
A100-80 amd64: Standard_ND96amsr_A100_v4=8/96/1800
A100-40 amd64: Standard_ND96asr_v4=8/96/900
H100-94 amd64: Standard_NC40ads_H100_v5=1/40/320 Standard_NC80adis_H100_v5=2/80/640 Standard_NCC40ads_H100_v5=1/40/320
H100-80 amd64: Standard_ND96isr_H100_v5=8/96/1900
H200 amd64: Standard_ND96isr_H200_v5=8/96/1850
GB200-186 arm64: Standard_ND128isr_NDR_GB200_v6=4/128/-
M60 amd64: Standard_NV6s_v2=1/6/- Standard_NV12s_v2=2/12/- Standard_NV24s_v2=4/24/- Standard_NV12s_v3=1/12/-
M60 amd64: Standard_NV24s_v3=2/24/- Standard_NV48s_v3=4/48/-
U250 amd64: Standard_NP10s=1/10/- Standard_NP20s=2/20/- Standard_NP40s=4/40/-
MI25 amd64: Standard_NV4as_v4=1/4/- Standard_NV8as_v4=1/8/- Standard_NV16as_v4=1/16/- Standard_NV32as_v4=1/32/-
MI300X amd64: Standard_ND96isr_MI300X_v5=8/96/1850
"""
