# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of an NVIDIADriver: those of the ClusterPolicy's driver, and its nodes."""

from __future__ import annotations

import typing as t

from ..clusterpolicy.option_table import DRIVER
from ..clusterpolicy.options import CONTAINER, RESOURCES, read

FIELDS: t.Final = read(
    """
default bool
driver_type gpu|vgpu|vgpu-host-manager
node_selector map
priority_class_name str
host_network bool
labels map
annotations map
repo_config
  name str
virtual_topology_config
  name str
gds sidecar
gdrcopy sidecar
"""
    + CONTAINER
    + RESOURCES
    + DRIVER
)
OPTIONS: t.Final[dict[str, t.Any]] = {
    "nvidia_drivers": {
        "type": "list",
        "elements": "dict",
        "options": {
            "name": {"type": "str", "required": True},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            **FIELDS,
            "spec": {"type": "dict", "default": {}},
        },
    }
}
