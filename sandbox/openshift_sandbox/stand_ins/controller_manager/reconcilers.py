# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reconcilers that stand in for controllers of kube-controller-manager."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.controller_manager.cluster_roles import AggregatedRoles
from openshift_sandbox.stand_ins.core.reconciler import Reconciler

RECONCILERS: t.Final[tuple[type[Reconciler], ...]] = (AggregatedRoles,)
