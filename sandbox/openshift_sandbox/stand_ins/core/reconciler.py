# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every stand-in is. The loop that calls them is in loop.py, with kopf, which takes 0.6 s to import."""

from __future__ import annotations

import abc
import logging
import typing as t

from openshift_sandbox.stand_ins.core.cluster import Cluster
from openshift_sandbox.stand_ins.core.index import Object

__all__ = ["Cluster", "Object", "Reconciler"]

LOG = logging.getLogger("stand-ins")


class Reconciler(abc.ABC):
    """One stand-in. It moves the cluster towards what the real component would make of it."""

    # What it reads. The loop calls it after a change of these.
    kinds: t.ClassVar[tuple[str, ...]] = ()

    @abc.abstractmethod
    def reconcile(self, cluster: Cluster, now: float) -> None:
        """Do what is due now, and return at once.

        The loop calls this after a change of its kinds, and else every two seconds. Never sleep: use
        `cluster.due`.
        """

    def stop(self) -> None:
        """End what this stand-in started outside of the API."""
        LOG.debug("%s stops", type(self).__name__)
