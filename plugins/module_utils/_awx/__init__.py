# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The content of AWX and Automation Platform that awx_setup.yml makes."""
