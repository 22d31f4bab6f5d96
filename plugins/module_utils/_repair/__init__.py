# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Repair of one node: what is wrong with its GPUs, a reboot, a validation, and else another machine."""
