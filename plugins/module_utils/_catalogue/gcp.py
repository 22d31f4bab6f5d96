# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU instance types of Google Compute Engine, and the GPUs that can be attached to an N1 machine."""

from __future__ import annotations

# Date of the newest source; newer instance types are missing.
AS_OF = "2026-06-25"
# `types.read_table` reads one line for each family: model (a key of `gpus.GPUS`), arch and marks, then
# type=GPUs/vCPUs/memory in GiB; "-" means not published.
TABLE = """
A100-40 amd64 nvlink type=nvidia-tesla-a100: a2-highgpu-1g=1/12/85 a2-highgpu-2g=2/24/170
A100-40 amd64 nvlink type=nvidia-tesla-a100: a2-highgpu-4g=4/48/340 a2-highgpu-8g=8/96/680
A100-40 amd64 nvlink type=nvidia-tesla-a100: a2-megagpu-16g=16/96/1360
A100-80 amd64 nvlink type=nvidia-a100-80gb: a2-ultragpu-1g=1/12/170 a2-ultragpu-2g=2/24/340
A100-80 amd64 nvlink type=nvidia-a100-80gb: a2-ultragpu-4g=4/48/680 a2-ultragpu-8g=8/96/1360
H100-80 amd64 nvlink confidential type=nvidia-h100-80gb: a3-highgpu-1g=1/26/234
H100-80 amd64 nvlink type=nvidia-h100-80gb: a3-highgpu-2g=2/52/468 a3-highgpu-4g=4/104/936
H100-80 amd64 nvlink type=nvidia-h100-80gb: a3-highgpu-8g=8/208/1872 a3-edgegpu-8g=8/208/1872
H100-80 amd64 nvlink type=nvidia-h100-mega-80gb: a3-megagpu-8g=8/208/1872
H200 amd64 nvlink roce type=nvidia-h200-141gb: a3-ultragpu-8g=8/224/2952
B200 amd64 nvlink roce type=nvidia-b200: a4-highgpu-8g=8/224/3968
GB200-186 arm64 nvlink roce type=nvidia-gb200: a4x-highgpu-4g=4/140/884
GB300-279 arm64 nvlink roce type=nvidia-gb300: a4x-maxgpu-4g-metal=4/144/960
L4 amd64 pcie type=nvidia-l4: g2-standard-4=1/4/16 g2-standard-8=1/8/32 g2-standard-12=1/12/48
L4 amd64 pcie type=nvidia-l4: g2-standard-16=1/16/64 g2-standard-32=1/32/128
L4 amd64 pcie type=nvidia-l4: g2-standard-24=2/24/96 g2-standard-48=4/48/192 g2-standard-96=8/96/384
RTX-PRO-6000-12 amd64 share=1/8 grid type=nvidia-rtx-pro-6000: g4-standard-6=1/6/22
RTX-PRO-6000-24 amd64 share=1/4 grid type=nvidia-rtx-pro-6000: g4-standard-12=1/12/45
RTX-PRO-6000-48 amd64 share=1/2 grid type=nvidia-rtx-pro-6000: g4-standard-24=1/24/90
RTX-PRO-6000 amd64 confidential type=nvidia-rtx-pro-6000: g4-standard-48=1/48/180
RTX-PRO-6000 amd64 type=nvidia-rtx-pro-6000: g4-standard-96=2/96/360 g4-standard-192=4/192/720
RTX-PRO-6000 amd64 type=nvidia-rtx-pro-6000: g4-standard-384=8/384/1440
"""

# GPUs that only N1 machines can have: accelerator type, model, mark, and the possible numbers.
ATTACHABLE = """
nvidia-tesla-t4 T4 pcie 1 2 4
nvidia-tesla-v100 V100-16 nvlink 1 2 4 8
nvidia-tesla-p100 P100 - 1 2 4
nvidia-tesla-p4 P4 pcie 1 2 4
"""
