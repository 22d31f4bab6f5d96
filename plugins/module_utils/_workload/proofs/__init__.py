# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs on real nodes: pods share GPUs, by the device plugin or by claims, and priorities push out pods."""
