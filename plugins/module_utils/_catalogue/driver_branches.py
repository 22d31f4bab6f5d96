# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The newest driver of each branch that NVIDIA publishes for the GPU operator."""

from __future__ import annotations

import typing as t

# Source: NVIDIA's page on the life cycle of GPU operator 26.7 (component matrix), read at its state of AS_OF.
AS_OF: t.Final = "2026-08-21"
# The release of the operator that the page describes.
OPERATOR: t.Final = (26, 7)
REPOSITORY: t.Final = "nvcr.io/nvidia"
IMAGE: t.Final = "driver"
NEWEST: t.Final = {
    "610": "610.57.04",
    "595": "595.91.07",
    "580": "580.173.02",
    "535": "535.309.01",
}


def as_option(branch: int) -> str:
    """Return the newest driver of a branch as a user writes it into the option `driver` of a pool."""
    return f"{{version: {NEWEST[str(branch)]}, repository: {REPOSITORY}, image: {IMAGE}}}"
