# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Options of special_resource that are an NVIDIADriver's own: those of the ClusterPolicy's driver, and which nodes it is for."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.option_table import (
    DRIVER,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.options import (
    RESOURCES,
    SIDECAR,
    plain,
    read,
)

_SIDECAR: t.Final = [line for line in SIDECAR.splitlines() if line]
FIELDS: t.Final = read(
    """
default                               bool   Whether it is for all nodes that no other NVIDIADriver selects. Then it has no selector of its own.
driver_type                           gpu|vgpu|vgpu-host-manager  What kind of driver it is. It cannot be changed later.
node_selector                         map    Labels of its nodes; without it those of the pool with its name.
priority_class_name                   str    Priority of its pods.
host_network                          bool   Whether its pods share the host's network.
labels                                map    Labels of its pods.
annotations                           map    Annotations of its pods.
repo_config                           dict   Package repositories.
repo_config.name                      str    ConfigMap in O(namespace).
virtual_topology_config               dict   Topology of a vGPU host.
virtual_topology_config.name          str    ConfigMap in O(namespace).
gds                                   sidecar  GPUDirect Storage.
gdrcopy                               sidecar  The GDRCopy driver.
"""
    + "\n".join(line for line in _SIDECAR if not line.startswith("enabled"))
    + RESOURCES
    + DRIVER
)
TABLE: t.Final = {
    "nvidia_drivers": {
        "type": "list",
        "elements": "dict",
        "description": [
            "NVIDIADriver objects, each with nodes of its own. Where no entry is to be present, there is one for each of O(pools), named after it.",
            "What an entry leaves out is as in O(driver), and else as in the ClusterPolicy and in the installed operator's example.",
        ],
        "options": {
            "name": {"type": "str", "required": True, "description": "Its name."},
            "state": {
                "type": "str",
                "choices": ["present", "absent"],
                "default": "present",
                "description": "With V(absent) it is deleted if this collection made it. Its nodes have no driver then, unless another one selects them.",
            },
            **FIELDS,
            "spec": {
                "type": "dict",
                "default": {},
                "description": "Raw part of its C(spec), merged last; its keys are the API's own.",
            },
        },
    }
}
OPTIONS: t.Final = plain(TABLE)
