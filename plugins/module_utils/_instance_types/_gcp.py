# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Google Compute Engine; an n1 machine has its GPUs attached: n1-standard-8+nvidia-tesla-t4:2 is looked up as n1-*+nvidia-tesla-t4:2."""

from __future__ import annotations

# One line a family: model (key of _gpus.GPUS) and arch, then type=GPUs/vCPUs/memory in GiB; "-" where the figure is not published here.
TABLE = """
A100-40 amd64: a2-highgpu-1g=1/12/85 a2-highgpu-2g=2/24/170 a2-highgpu-4g=4/48/340 a2-highgpu-8g=8/96/680 a2-megagpu-16g=16/96/1360
A100-80 amd64: a2-ultragpu-1g=1/12/170 a2-ultragpu-2g=2/24/340 a2-ultragpu-4g=4/48/680 a2-ultragpu-8g=8/96/1360
H100-80 amd64: a3-highgpu-1g=1/26/234 a3-highgpu-2g=2/52/468 a3-highgpu-4g=4/104/936 a3-highgpu-8g=8/208/1872 a3-edgegpu-8g=8/208/1872
H100-80 amd64: a3-megagpu-8g=8/208/1872
H200 amd64: a3-ultragpu-8g=8/224/2952
B200 amd64: a4-highgpu-8g=8/224/3968
GB200-186 arm64: a4x-highgpu-4g=4/140/884
L4 amd64: g2-standard-4=1/4/16 g2-standard-8=1/8/32 g2-standard-12=1/12/48 g2-standard-16=1/16/64 g2-standard-32=1/32/128
L4 amd64: g2-standard-24=2/24/96 g2-standard-48=4/48/192 g2-standard-96=8/96/384
RTX-PRO-6000 amd64: g4-standard-48=1/48/180 g4-standard-96=2/96/360 g4-standard-192=4/192/720 g4-standard-384=8/384/1440
T4 amd64: n1-*+nvidia-tesla-t4:1=1/-/- n1-*+nvidia-tesla-t4:2=2/-/- n1-*+nvidia-tesla-t4:4=4/-/-
V100-16 amd64: n1-*+nvidia-tesla-v100:1=1/-/- n1-*+nvidia-tesla-v100:2=2/-/- n1-*+nvidia-tesla-v100:4=4/-/- n1-*+nvidia-tesla-v100:8=8/-/-
P100 amd64: n1-*+nvidia-tesla-p100:1=1/-/- n1-*+nvidia-tesla-p100:2=2/-/- n1-*+nvidia-tesla-p100:4=4/-/-
P4 amd64: n1-*+nvidia-tesla-p4:1=1/-/- n1-*+nvidia-tesla-p4:2=2/-/- n1-*+nvidia-tesla-p4:4=4/-/-
"""
