# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make report files of a run from what its tasks return. Nothing here reads or writes a file."""
