# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE part of the module of this name: runs it without a process of its own when that is safe.

from __future__ import annotations

from ansible_collections.accelerators.openshift.plugins.module_utils._olm import several
from ansible_collections.accelerators.openshift.plugins.modules import olm_operator
from ansible_collections.accelerators.openshift.plugins.plugin_utils._in_process import ActionModule

# The module itself imports its steps only when it runs, and a chain runs it for several operators: loaded
# here, in Ansible's parent process, they are compiled once and not again in every worker.
__all__ = ("ActionModule", "olm_operator", "several")
