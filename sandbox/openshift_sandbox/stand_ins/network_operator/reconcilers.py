# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reconcilers that stand in for the Network Operator, in the order of the loop."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.core.reconciler import Reconciler
from openshift_sandbox.stand_ins.network_operator.driver_upgrade import NicDriverUpgrade
from openshift_sandbox.stand_ins.network_operator.networks import NicNetworks
from openshift_sandbox.stand_ins.network_operator.node import NicNode
from openshift_sandbox.stand_ins.network_operator.operator import NetworkOperator
from openshift_sandbox.stand_ins.network_operator.pools import Ipam
from openshift_sandbox.stand_ins.network_operator.webhooks import NicWebhooks

RECONCILERS: t.Final[tuple[type[Reconciler], ...]] = (
    NetworkOperator,
    NicNode,
    NicDriverUpgrade,
    NicNetworks,
    Ipam,
    NicWebhooks,
)
