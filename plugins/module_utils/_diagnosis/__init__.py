# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The diagnosis of a cluster: one walk over all layers, read only."""
