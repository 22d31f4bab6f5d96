# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Private: hardware profiles of OpenShift AI, which offer the pools to its users."""
