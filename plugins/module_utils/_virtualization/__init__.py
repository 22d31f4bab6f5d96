# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs for virtual machines of OpenShift Virtualization."""
