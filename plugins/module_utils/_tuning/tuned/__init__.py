# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The TuneD profile of a pool: its text, its Tuned object, and whether the nodes run it."""
