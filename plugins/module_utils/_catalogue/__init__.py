# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalogue of GPU models and of each cloud's GPU instance types; it needs no network."""
