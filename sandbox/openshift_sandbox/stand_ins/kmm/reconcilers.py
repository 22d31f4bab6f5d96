# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reconcilers that stand in for Kernel Module Management, in the order in which the loop calls them."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Reconciler
from openshift_sandbox.stand_ins.kmm.dra import KmmDra
from openshift_sandbox.stand_ins.kmm.operator import KmmOperator
from openshift_sandbox.stand_ins.kmm.preflight import KmmPreflight
from openshift_sandbox.stand_ins.kmm.worker import KmmWorkers

RECONCILERS: t.Final[tuple[type[Reconciler], ...]] = (
    KmmOperator,
    KmmWorkers,
    KmmDra,
    KmmPreflight,
)
