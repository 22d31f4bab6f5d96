# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle for support: what is read, without secrets, and the files that hold it."""
