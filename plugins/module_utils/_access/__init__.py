# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rights: what each playbook needs, and what the identity lacks of it."""
