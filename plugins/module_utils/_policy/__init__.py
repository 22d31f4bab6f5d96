# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policy of GPU pools: spare devices, what the API server tells pods, and the proof of priorities."""
