# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reconcilers that stand in for Kueue, in the order in which the loop calls them."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Reconciler
from openshift_sandbox.stand_ins.kueue.active import ActiveQueues
from openshift_sandbox.stand_ins.kueue.operator import KueueOperator
from openshift_sandbox.stand_ins.kueue.queues import Queues

RECONCILERS: t.Final[tuple[type[Reconciler], ...]] = (KueueOperator, Queues, ActiveQueues)
