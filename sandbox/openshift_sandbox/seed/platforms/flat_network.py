# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and addresses on platforms with one network for all zones; Nodes have the names of their machines.

A platform with such a network uses these functions as its own.
"""

from __future__ import annotations

import typing as t

Object = dict[str, t.Any]


def machine_set(cluster: Object, zone: str) -> str:
    return f"{cluster['infrastructure_name']}-worker-{cluster['zones'].index(zone)}"


def address(cluster: Object, zone: str, number: int) -> str:
    return f"10.0.0.{number + 10}"


def host_name(cluster: Object, machine: str, address: str) -> str:
    return machine


def node_zone(cluster: Object, zone: str) -> str:
    return zone
