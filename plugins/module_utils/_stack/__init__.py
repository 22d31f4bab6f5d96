# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver stacks of special_resource: shared judges, stages and steps; each backend has a folder."""
