# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools, options and objects of NVIDIADriver."""

from __future__ import annotations

import typing as t

from unit.stack.builders import some_params

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.params import StackParams

Data = dict[str, t.Any]


POOL = "accelerators.openshift/pool"
# The label by which a driver finds the major release of the operating system.
MAJOR: t.Final = "feature.node.kubernetes.io/system-os_release.VERSION_ID.major"


PCI = {"feature.node.kubernetes.io/pci-10de.present": "true"}


def pool(name: str, **more: t.Any) -> Data:
    return {"name": name, "node_selector": {POOL: name}, **more}


def params(*pools: Data, **given: t.Any) -> StackParams:
    return some_params(**{"backend": "nvidiadriver", "pools": list(pools)} | given)


def entry(name: str, **more: t.Any) -> Data:
    return {"name": name, "state": "present", **more}


def driver(name: str, **selector: str) -> Data:
    return {"metadata": {"name": name}, "spec": {"nodeSelector": selector}}


def node(name: str, **labels: str) -> Data:
    return {"metadata": {"name": name, "labels": PCI | labels}}
