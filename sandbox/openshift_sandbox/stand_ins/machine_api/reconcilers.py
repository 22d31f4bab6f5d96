# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reconcilers that stand in for the Machine API, in the order in which the loop calls them."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Reconciler
from openshift_sandbox.stand_ins.machine_api.machine_health import MachineHealthChecks
from openshift_sandbox.stand_ins.machine_api.machine_sets import MachineSets
from openshift_sandbox.stand_ins.machine_api.machines import Machines
from openshift_sandbox.stand_ins.machine_api.node_certificates import NodeCertificates
from openshift_sandbox.stand_ins.machine_api.nodelink import Nodelink

RECONCILERS: t.Final[tuple[type[Reconciler], ...]] = (
    MachineSets,
    Machines,
    NodeCertificates,
    Nodelink,
    MachineHealthChecks,
)
