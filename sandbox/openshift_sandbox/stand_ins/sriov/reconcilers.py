# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reconcilers that stand in for the SR-IOV operator, in the order in which the loop calls them."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Reconciler
from openshift_sandbox.stand_ins.sriov.daemon import SriovDaemon
from openshift_sandbox.stand_ins.sriov.drain import SriovDrain
from openshift_sandbox.stand_ins.sriov.networks import SriovNetworks
from openshift_sandbox.stand_ins.sriov.operator import SriovOperator

RECONCILERS: t.Final[tuple[type[Reconciler], ...]] = (SriovOperator, SriovDaemon, SriovDrain, SriovNetworks)
