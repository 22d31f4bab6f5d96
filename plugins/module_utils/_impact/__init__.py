# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a write ends: the pods with devices on the nodes that it reaches."""
