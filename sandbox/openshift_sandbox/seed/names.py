# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of the first Machines of a cluster, and identities as a provider would make them."""

from __future__ import annotations

import hashlib
import typing as t
import uuid

Object = dict[str, t.Any]


def control_plane(cluster: Object) -> list[str]:
    """Return the names of the Machines of the control plane."""
    return [
        f"{cluster['infrastructure_name']}-master-{number}"
        for number in range(cluster["control_plane"]["replicas"])
    ]


def members(cluster: Object, machine_set: str, replicas: int | None = None) -> list[str]:
    """Return the names of the Machines of a worker set, with five letters each, as the API server generates
    them. An installer's set has as many as the scenario says.
    """
    count = cluster["workers"]["replicas_per_zone"] if replicas is None else replicas
    return [f"{machine_set}-{_suffix(f'{machine_set}/{number}')}" for number in range(count)]


def identity(text: str) -> str:
    """Return a UUID that is the same each time for a text."""
    return str(uuid.UUID(hashlib.sha256(text.encode()).hexdigest()[:32]))


def _suffix(text: str) -> str:
    alphabet = "bcdfghjklmnpqrstvwxz2456789"
    return "".join(alphabet[byte % len(alphabet)] for byte in hashlib.sha256(text.encode()).digest()[:5])
