# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pull secrets of the GPU stack: who uses them, what is in them, and a new one in their place."""
