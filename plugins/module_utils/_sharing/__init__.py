# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sharing of GPUs: the profiles of the device plugin, the nodes that have them, and what nodes offer."""
