# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The namespaces that rbac.yml makes: its state `absent` leaves them to the user."""

from __future__ import annotations

import contextlib
import typing as t

from cluster import Cluster
from integration.patience import until


def _names(cluster: Cluster) -> set[str]:
    return {one["metadata"]["name"] for one in cluster.client.list("v1", "namespaces")}


@contextlib.contextmanager
def taken_away(cluster: Cluster) -> t.Iterator[None]:
    """Delete at the end the namespaces that were made meanwhile."""
    before = _names(cluster)
    yield
    made = _names(cluster) - before
    for name in made:
        cluster.client.delete("v1", "namespaces", name)
    until(lambda: not made & _names(cluster), "the namespaces gone")
