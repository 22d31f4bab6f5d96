# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers beside the driver stack, each with a pure judge of what the walk has read."""

from __future__ import annotations

import typing as t

from . import machines, metrics, nfd, nodes, operators, quota, scheduling, tuning, validation
from .model import Layer

# In the order of the walk; the layers of the driver stack have stack.py.
EVERY: t.Final[tuple[Layer, ...]] = (
    machines.LAYER,
    tuning.LAYER,
    nodes.LAYER,
    operators.LAYER,
    nfd.LAYER,
    quota.LAYER,
    scheduling.LAYER,
    validation.LAYER,
    metrics.LAYER,
)
