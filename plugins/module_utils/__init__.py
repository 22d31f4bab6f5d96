# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plugins of this collection share: one package for each noun, see docs/internals.md."""
