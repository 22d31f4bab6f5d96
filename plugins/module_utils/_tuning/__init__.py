# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node tuning: TuneD profiles, and the settings that reboot nodes."""
