# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The annotations that the machine-config operator writes on nodes."""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.pools import KEYS

Object = dict[str, t.Any]

FAILING: t.Final = {"Degraded", "Unreconcilable"}


def says(node: Object, key: str) -> str | None:
    """Return an annotation of the machine-config operator, or None."""
    return (node["metadata"].get("annotations") or {}).get(f"{KEYS}{key}")
