# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reconcilers that stand in for OpenShift Virtualization, in the order in which the loop calls them."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Reconciler
from openshift_sandbox.stand_ins.kubevirt.host_devices import HostDevices
from openshift_sandbox.stand_ins.kubevirt.hyperconverged import HyperConvergeds
from openshift_sandbox.stand_ins.kubevirt.virt_controller import VirtController
from openshift_sandbox.stand_ins.kubevirt.virtual_machines import VirtualMachines

RECONCILERS: t.Final[tuple[type[Reconciler], ...]] = (
    HyperConvergeds,
    HostDevices,
    VirtController,
    VirtualMachines,
)
