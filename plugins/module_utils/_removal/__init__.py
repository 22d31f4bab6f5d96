# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a removal takes away, what stays because something else needs it, and which pods end."""
