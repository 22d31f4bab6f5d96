# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tuning profiles that the collection ships: one file for each, with the source of every setting."""
