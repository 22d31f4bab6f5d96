# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs on the nodes of an upgrade: gangs, whose pods end together, and the probe of the user."""
