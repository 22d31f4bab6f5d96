# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals in a namespace that has just been made or got a quota."""

from __future__ import annotations

import re


def is_transient(text: str) -> bool:
    """Return True if admission has not yet seen a new quota, or the service account of a new namespace."""
    return (
        "status unknown for quota" in text
        or re.search(r'serviceaccount "[^"]+" not found', text) is not None
        or "no API token found" in text
    )
