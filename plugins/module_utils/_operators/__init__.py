# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upgrades of operators: the order, the way through the channels, and what stands between two steps."""
