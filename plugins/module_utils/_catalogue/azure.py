# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU instance types of Microsoft Azure; a share of a GPU (vGPU) is one GPU here, as in Azure's own list."""

from __future__ import annotations

# Date of the newest source; newer instance types are missing.
AS_OF = "2026-08-12"
# `types.read_table` reads one line for each family: model (a key of `gpus.GPUS`), arch and marks, then
# type=GPUs/vCPUs/memory in GiB; "-" means not published.
TABLE = """
T4 amd64 pcie: Standard_NC4as_T4_v3=1/4/28 Standard_NC8as_T4_v3=1/8/56 Standard_NC16as_T4_v3=1/16/110
T4 amd64 pcie: Standard_NC64as_T4_v3=4/64/440
V100-16 amd64: Standard_NC6s_v3=1/6/112 Standard_NC12s_v3=2/12/224 Standard_NC24s_v3=4/24/448
V100-16 amd64 infiniband: Standard_NC24rs_v3=4/24/448
V100-32 amd64 nvlink infiniband: Standard_ND40rs_v2=8/40/672
A10 amd64 grid: Standard_NC8ads_A10_v4=1/8/100 Standard_NC16ads_A10_v4=1/16/200
A10 amd64 grid: Standard_NC32ads_A10_v4=2/32/400
A10 amd64 grid: Standard_NV36ads_A10_v5=1/36/440 Standard_NV36adms_A10_v5=1/36/880
A10 amd64 grid: Standard_NV72ads_A10_v5=2/72/880
A10-4 amd64 share=1/6 grid: Standard_NV6ads_A10_v5=1/6/55
A10-8 amd64 share=1/3 grid: Standard_NV12ads_A10_v5=1/12/110
A10-12 amd64 share=1/2 grid: Standard_NV18ads_A10_v5=1/18/220
A100-80 amd64: Standard_NC24ads_A100_v4=1/24/220 Standard_NC48ads_A100_v4=2/48/440
A100-80 amd64: Standard_NC96ads_A100_v4=4/96/880
A100-80 amd64 nvlink infiniband: Standard_ND96amsr_A100_v4=8/96/1800
A100-40 amd64 nvlink infiniband: Standard_ND96asr_v4=8/96/900
H100-94 amd64: Standard_NC40ads_H100_v5=1/40/320 Standard_NC80adis_H100_v5=2/80/640
H100-94 amd64 confidential: Standard_NCC40ads_H100_v5=1/40/320
H100-80 amd64 nvlink infiniband: Standard_ND96isr_H100_v5=8/96/1900
H200 amd64 nvlink infiniband: Standard_ND96isr_H200_v5=8/96/1850
GB200-192 arm64 nvlink infiniband: Standard_ND128isr_NDR_GB200_v6=4/128/864
GB300-288 arm64 nvlink infiniband: Standard_ND128isr_GB300_v6=4/128/864 Standard_ND128isrG5_GB300_v6=4/128/864
RTX-PRO-6000-24 amd64 share=1/4 grid: Standard_NC24lds_xl_RTXPRO6000BSE_v6=1/24/72
RTX-PRO-6000-24 amd64 share=1/4 grid: Standard_NC36lds_xl_RTXPRO6000BSE_v6=1/36/72
RTX-PRO-6000-24 amd64 share=1/4 grid: Standard_NC36ds_xl_RTXPRO6000BSE_v6=1/36/132
RTX-PRO-6000-48 amd64 share=1/2 grid: Standard_NC72lds_xl_RTXPRO6000BSE_v6=1/72/-
RTX-PRO-6000-48 amd64 share=1/2 grid: Standard_NC72ds_xl_RTXPRO6000BSE_v6=1/72/264
RTX-PRO-6000-96 amd64 grid: Standard_NC144lds_xl_RTXPRO6000BSE_v6=1/144/264
RTX-PRO-6000-96 amd64 grid: Standard_NC144ds_xl_RTXPRO6000BSE_v6=1/144/516
RTX-PRO-6000-96 amd64 grid: Standard_NC288lds_xl_RTXPRO6000BSE_v6=2/288/516
RTX-PRO-6000-96 amd64 grid: Standard_NC288ds_xl_RTXPRO6000BSE_v6=2/288/1032
M60 amd64: Standard_NV6s_v2=1/6/- Standard_NV12s_v2=2/12/- Standard_NV24s_v2=4/24/-
M60 amd64: Standard_NV12s_v3=1/12/112 Standard_NV24s_v3=2/24/224 Standard_NV48s_v3=4/48/448
U250 amd64: Standard_NP10s=1/10/168 Standard_NP20s=2/20/336 Standard_NP40s=4/40/672
MI25-2 amd64 share=1/8: Standard_NV4as_v4=1/4/14
MI25-4 amd64 share=1/4: Standard_NV8as_v4=1/8/28
MI25-8 amd64 share=1/2: Standard_NV16as_v4=1/16/56
MI25 amd64: Standard_NV32as_v4=1/32/112
V620-8 amd64 share=1/4: Standard_NG8ads_V620_v1=1/8/16
V620-16 amd64 share=1/2: Standard_NG16ads_V620_v1=1/16/32
V620 amd64: Standard_NG32ads_V620_v1=1/32/64 Standard_NG32adms_V620_v1=1/32/176
V710-4 amd64 share=1/6: Standard_NV4ads_V710_v5=1/4/16
V710-8 amd64 share=1/3: Standard_NV8ads_V710_v5=1/8/32
V710-12 amd64 share=1/2: Standard_NV12ads_V710_v5=1/12/64
V710 amd64: Standard_NV24ads_V710_v5=1/24/128 Standard_NV28adms_V710_v5=1/28/160
MI300X amd64 infiniband: Standard_ND96isr_MI300X_v5=8/96/1850
MI300X amd64: Standard_ND96is_MI300X_v5=8/96/-
"""
