# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs by their names. `_pools/programs.py` has the options of each, as users write them."""

from __future__ import annotations

import typing as t

from . import matmul, nvidia_smi, vectoradd
from .program import Program

PROGRAMS: t.Final[dict[str, Program]] = {
    "nvidia_smi": nvidia_smi.PROGRAM,
    "vectoradd": vectoradd.PROGRAM,
    "matmul": matmul.PROGRAM,
}
