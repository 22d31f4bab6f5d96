# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE part of the module of this name: runs it without a process of its own when that is safe.

from __future__ import annotations

from ansible_collections.accelerators.openshift.plugins.modules import gpu_hardware_profile
from ansible_collections.accelerators.openshift.plugins.plugin_utils._in_process import ActionModule

__all__ = ("ActionModule", "gpu_hardware_profile")
