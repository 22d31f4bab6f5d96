# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secondary networks of accelerators: the option gpu_networks, its objects, and when they are ready."""
