# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines and machine sets of a pool: plans, judges, certificate requests, autoscaling."""
