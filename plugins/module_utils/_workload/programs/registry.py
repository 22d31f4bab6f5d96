# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs by their names. `_pools/programs.py` has the options of each, as users write them."""

from __future__ import annotations

import typing as t

from . import (
    compute_domain,
    dcgm,
    gpu_burn,
    matmul,
    nccl,
    nvbandwidth,
    nvidia_smi,
    own,
    rdma,
    resnet50,
    trtexec,
    vectoradd,
    vllm,
)
from .program import Program

PROGRAMS: t.Final[dict[str, Program]] = {
    "nvidia_smi": nvidia_smi.PROGRAM,
    "vectoradd": vectoradd.PROGRAM,
    "compute_domain": compute_domain.PROGRAM,
    "matmul": matmul.PROGRAM,
    "dcgm": dcgm.PROGRAM,
    "nvbandwidth": nvbandwidth.PROGRAM,
    "rdma": rdma.PROGRAM,
    "nccl": nccl.PROGRAM,
    "resnet50": resnet50.PROGRAM,
    "gpu_burn": gpu_burn.PROGRAM,
    "trtexec": trtexec.PROGRAM,
    "vllm": vllm.PROGRAM,
    "own": own.PROGRAM,
}
