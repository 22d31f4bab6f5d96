# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Monitoring of GPUs: metrics of the DCGM exporter, alerts, and a dashboard of the console."""
