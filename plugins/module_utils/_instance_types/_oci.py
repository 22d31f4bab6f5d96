# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Oracle Cloud Infrastructure shapes."""

from __future__ import annotations

# One line a family: model (key of _gpus.GPUS) and arch, then type=GPUs/vCPUs/memory in GiB; "-" where the figure is not published here.
TABLE = """
P100 amd64: VM.GPU2.1=1/-/- BM.GPU2.2=2/-/-
V100-16 amd64: VM.GPU3.1=1/-/- VM.GPU3.2=2/-/- VM.GPU3.4=4/-/- BM.GPU3.8=8/-/-
A10 amd64: VM.GPU.A10.1=1/-/- VM.GPU.A10.2=2/-/- BM.GPU.A10.4=4/-/-
A100-40 amd64: BM.GPU4.8=8/-/-
A100-80 amd64: BM.GPU.A100-v2.8=8/-/-
L40S amd64: BM.GPU.L40S.4=4/-/-
H100-80 amd64: BM.GPU.H100.8=8/-/-
H200 amd64: BM.GPU.H200.8=8/-/-
B200 amd64: BM.GPU.B200.8=8/-/-
B300 amd64: BM.GPU.B300.8=8/-/-
RTX-PRO-6000 amd64: BM.GPU.RTXPRO.8=8/-/-
GB200-192 arm64: BM.GPU.GB200.4=4/-/-
GB300 arm64: BM.GPU.GB300.4=4/-/-
MI300X amd64: BM.GPU.MI300X.8=8/-/-
MI355X amd64: BM.GPU.MI355X.8=8/-/-
"""
