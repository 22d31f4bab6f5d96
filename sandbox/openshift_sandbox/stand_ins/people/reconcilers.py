# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reconcilers that stand in for other people, in the order in which the loop calls them."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Reconciler
from openshift_sandbox.stand_ins.people.budgets import ForeignBudgets
from openshift_sandbox.stand_ins.people.edits import ForeignEdits
from openshift_sandbox.stand_ins.people.machine_configs import ForeignPools
from openshift_sandbox.stand_ins.people.operators import ForeignOperators
from openshift_sandbox.stand_ins.people.quotas import EditedQuotas, ForeignQuotas
from openshift_sandbox.stand_ins.people.scales import ForeignScales
from openshift_sandbox.stand_ins.people.taints import ForeignTaints

RECONCILERS: t.Final[tuple[type[Reconciler], ...]] = (
    ForeignTaints,
    ForeignEdits,
    ForeignQuotas,
    EditedQuotas,
    ForeignScales,
    ForeignOperators,
    ForeignBudgets,
    ForeignPools,
)
