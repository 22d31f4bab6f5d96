# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The base of every other package: errors, readiness, ownership, input, comparison of objects."""
