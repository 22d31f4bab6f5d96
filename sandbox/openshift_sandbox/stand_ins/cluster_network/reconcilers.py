# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reconcilers that stand in for the cluster's network, in the order in which the loop calls them."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.cluster_network.additional import AdditionalNetworks
from openshift_sandbox.stand_ins.cluster_network.multus import Multus
from openshift_sandbox.stand_ins.cluster_network.uplinks import Uplinks
from openshift_sandbox.stand_ins.core.reconciler import Reconciler

RECONCILERS: t.Final[tuple[type[Reconciler], ...]] = (AdditionalNetworks, Multus, Uplinks)
