# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry of error codes. Only the documentation and the tests import it: no task pays for it."""
