# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reconcilers that stand in for the machine-config operator, in the order of the loop."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Reconciler
from openshift_sandbox.stand_ins.machine_config.boot_images import BootImages
from openshift_sandbox.stand_ins.machine_config.daemon import MachineConfigDaemon
from openshift_sandbox.stand_ins.machine_config.kubelet_configs import KubeletConfigs
from openshift_sandbox.stand_ins.machine_config.pools import MachineConfigPools
from openshift_sandbox.stand_ins.machine_config.render import RenderController

RECONCILERS: t.Final[tuple[type[Reconciler], ...]] = (
    KubeletConfigs,
    RenderController,
    MachineConfigPools,
    MachineConfigDaemon,
    BootImages,
)
