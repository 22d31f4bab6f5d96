# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPU instance types of Amazon EC2; the marks efa and rdma come from the EFA page of its user guide."""

from __future__ import annotations

# Date of the newest source; newer instance types are missing.
AS_OF = "2026-08-21"
# `types.read_table` reads one line for each family: model (a key of `gpus.GPUS`), arch and marks, then
# type=GPUs/vCPUs/memory in GiB; "-" means not published.
TABLE = """
V100-16 amd64 nvlink: p3.2xlarge=1/8/61 p3.8xlarge=4/32/244 p3.16xlarge=8/64/488
V100-32 amd64 nvlink efa: p3dn.24xlarge=8/96/768
A100-40 amd64 nvlink efa+rdma: p4d.24xlarge=8/96/1152
A100-80 amd64 nvlink efa+rdma: p4de.24xlarge=8/96/1152
H100-80 amd64 nvlink efa+rdma: p5.4xlarge=1/16/256 p5.48xlarge=8/192/2048
H200 amd64 nvlink efa+rdma: p5e.48xlarge=8/192/2048 p5en.48xlarge=8/192/2048
B200 amd64 nvlink efa+rdma: p6-b200.48xlarge=8/192/2048
B300 amd64 nvlink efa+rdma: p6-b300.48xlarge=8/192/4096
GB200-185 arm64 nvlink efa+rdma: p6e-gb200.36xlarge=4/144/960
T4 amd64 pcie: g4dn.xlarge=1/4/16 g4dn.2xlarge=1/8/32 g4dn.4xlarge=1/16/64
T4 amd64 pcie efa: g4dn.8xlarge=1/32/128 g4dn.16xlarge=1/64/256 g4dn.12xlarge=4/48/192 g4dn.metal=8/96/384
A10G amd64: g5.xlarge=1/4/16 g5.2xlarge=1/8/32 g5.4xlarge=1/16/64
A10G amd64 efa: g5.8xlarge=1/32/128 g5.16xlarge=1/64/256 g5.12xlarge=4/48/192 g5.24xlarge=4/96/384
A10G amd64 efa: g5.48xlarge=8/192/768
T4G arm64: g5g.xlarge=1/4/8 g5g.2xlarge=1/8/16 g5g.4xlarge=1/16/32 g5g.8xlarge=1/32/64 g5g.16xlarge=2/64/128
T4G arm64: g5g.metal=2/64/128
L4 amd64 pcie: g6.xlarge=1/4/16 g6.2xlarge=1/8/32 g6.4xlarge=1/16/64 gr6.4xlarge=1/16/128
L4 amd64 pcie efa+rdma: g6.8xlarge=1/32/128 g6.16xlarge=1/64/256 g6.12xlarge=4/48/192 g6.24xlarge=4/96/384
L4 amd64 pcie efa+rdma: g6.48xlarge=8/192/768 gr6.8xlarge=1/32/256
L4-3 amd64 share=1/8 grid: g6f.large=1/2/8 g6f.xlarge=1/4/16
L4-6 amd64 share=1/4 grid: g6f.2xlarge=1/8/32
L4-12 amd64 share=1/2 grid: g6f.4xlarge=1/16/64 gr6f.4xlarge=1/16/128
L40S amd64 pcie: g6e.xlarge=1/4/32 g6e.2xlarge=1/8/64 g6e.4xlarge=1/16/128
L40S amd64 pcie efa+rdma: g6e.8xlarge=1/32/256 g6e.16xlarge=1/64/512 g6e.12xlarge=4/48/384
L40S amd64 pcie efa+rdma: g6e.24xlarge=4/96/768 g6e.48xlarge=8/192/1536
RTX-PRO-4500 amd64: g7.2xlarge=1/8/32 g7.4xlarge=1/16/64
RTX-PRO-4500 amd64 efa: g7.8xlarge=1/32/128 g7.12xlarge=2/48/192 g7.24xlarge=4/96/384 g7.48xlarge=8/192/768
RTX-PRO-6000 amd64: g7e.2xlarge=1/8/64 g7e.4xlarge=1/16/128
RTX-PRO-6000 amd64 efa+rdma: g7e.8xlarge=1/32/256 g7e.12xlarge=2/48/512 g7e.24xlarge=4/96/1024
RTX-PRO-6000 amd64 efa+rdma: g7e.48xlarge=8/192/2048
V520 amd64: g4ad.xlarge=1/4/16 g4ad.2xlarge=1/8/32 g4ad.4xlarge=1/16/64 g4ad.8xlarge=2/32/128
V520 amd64: g4ad.16xlarge=4/64/256
GAUDI amd64 efa+rdma: dl1.24xlarge=8/96/768
AI100 amd64 efa: dl2q.24xlarge=8/96/768
INFERENTIA amd64: inf1.xlarge=1/4/8 inf1.2xlarge=1/8/16 inf1.6xlarge=4/24/48
INFERENTIA amd64 efa: inf1.24xlarge=16/96/192
INFERENTIA2 amd64: inf2.xlarge=1/4/16 inf2.8xlarge=1/32/128 inf2.24xlarge=6/96/384 inf2.48xlarge=12/192/768
TRAINIUM amd64: trn1.2xlarge=1/8/32
TRAINIUM amd64 efa+rdma: trn1.32xlarge=16/128/512 trn1n.32xlarge=16/128/512
TRAINIUM2 amd64 efa+rdma: trn2.48xlarge=16/192/2048
"""
