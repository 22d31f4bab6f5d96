# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node Feature Discovery: instance, rules, features and expected labels."""
