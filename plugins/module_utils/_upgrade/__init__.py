# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Driver upgrades: a canary node, waves of nodes with a gate after each, rollback, and the state of a run."""
