# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs that pods share GPUs at the same time: by the device plugin, and by claims."""
