# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The name of a pool's MIG configuration, which is also the value of the label on its nodes."""

from __future__ import annotations

import hashlib
import json
import re
import typing as t

from .._catalogue.well_known import MIG_CONFIG

_NAME: t.Final = re.compile(r"(gpu-.+)-[0-9a-f]{8}")


def name(pool: str, entries: t.Sequence[t.Mapping[str, t.Any]]) -> str:
    """Return the name of a configuration with these entries of mig-parted.

    Other entries get another name: the MIG manager acts only on another value of the label.
    """
    return f"{prefix(pool)}-{hashlib.sha256(text(entries).encode()).hexdigest()[:8]}"


def prefix(pool: str) -> str:
    """Return the beginning of the names of a pool's configurations."""
    return f"gpu-{pool}"


def pool_prefix(value: str) -> str:
    """Return the prefix of the pool whose configuration this value of the label names; "" for others."""
    found = _NAME.fullmatch(value)
    return found[1] if found else ""


def labels(pool: str, entries: t.Sequence[t.Mapping[str, t.Any]]) -> dict[str, str]:
    """Return the label that chooses the configuration; empty without entries."""
    return {MIG_CONFIG: name(pool, entries)} if entries else {}


def text(entries: t.Sequence[t.Mapping[str, t.Any]]) -> str:
    """Return the entries as one line."""
    return json.dumps([dict(entry) for entry in entries], sort_keys=True)
