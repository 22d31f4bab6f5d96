# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of the profiles that the collection ships."""

from __future__ import annotations

import difflib
import typing as t

from .accelerator import ACCELERATOR
from .grace import GRACE
from .inference import INFERENCE
from .model import Profile
from .training import TRAINING
from .virtualization import VIRTUALIZATION

SHIPPED: t.Final[dict[str, Profile]] = {
    one.name: one for one in (ACCELERATOR, TRAINING, INFERENCE, GRACE, VIRTUALIZATION)
}


def near(name: str) -> str:
    """Return the name of the shipped profile that is nearest to this one, or ""."""
    return next(iter(difflib.get_close_matches(name, SHIPPED, n=1, cutoff=0.5)), "")
