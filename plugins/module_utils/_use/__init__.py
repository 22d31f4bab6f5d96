# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Use of GPUs: GPU hours by namespace and owner, and how much of them did nothing."""
