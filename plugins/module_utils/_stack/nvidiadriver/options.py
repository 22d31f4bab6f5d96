# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The options of an NVIDIADriver: those of the ClusterPolicy's driver, and its nodes."""

from __future__ import annotations

import typing as t

from ..clusterpolicy.option_table import DRIVER
from ..clusterpolicy.options import RESOURCES, SIDECAR, plain, read

_SIDECAR: t.Final = [line for line in SIDECAR.splitlines() if line]
FIELDS: t.Final = read(
    """
default                               bool   Whether it is for all nodes that no other NVIDIADriver """
    "selects. It has no selector then."
    """
driver_type                           gpu|vgpu|vgpu-host-manager  Kind of driver. It cannot change later.
node_selector                         map    Labels of the nodes. """
    "The default is the selector of the pool with this name."
    """
priority_class_name                   str    Priority class of the pods.
host_network                          bool   Whether the pods use the host's network.
labels                                map    Labels of the pods.
annotations                           map    Annotations of the pods.
repo_config                           dict   Package repositories.
repo_config.name                      str    Name of the ConfigMap in O(namespace).
virtual_topology_config               dict   Topology of a vGPU host.
virtual_topology_config.name          str    Name of the ConfigMap in O(namespace).
gds                                   sidecar  GPUDirect Storage.
gdrcopy                               sidecar  The GDRCopy driver.
""" + "\n".join(line for line in _SIDECAR if not line.startswith("enabled")) + RESOURCES + DRIVER
)
TABLE: t.Final = {
    "nvidia_drivers": {
        "type": "list",
        "elements": "dict",
        "description": [
            "NVIDIADriver objects, each with its own nodes. By default each of O(pools) has one, with the "
            "name of the pool.",
            "An option that an entry does not set comes from O(driver), then from the ClusterPolicy and "
            "the installed operator's example.",
        ],
        "options": {
            "name": {"type": "str", "required": True, "description": "Name of the NVIDIADriver."},
            "state": {
                "type": "str",
                "choices": ["present", "absent"],
                "default": "present",
                "description": (
                    "V(absent) deletes it if this collection created it. Its nodes have no "
                    "driver then, unless another one selects them."
                ),
            },
            **FIELDS,
            "spec": {
                "type": "dict",
                "default": {},
                "description": "Raw part of C(spec), merged last. Its keys are those of the API.",
            },
        },
    }
}
OPTIONS: t.Final = plain(TABLE)
