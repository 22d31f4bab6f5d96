# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The MachineConfigs and MachineConfigPools that the installer leaves."""

from __future__ import annotations

import typing as t
from urllib.parse import quote

from openshift_sandbox.seed.nodes import Object, rendered

KEYS: t.Final = "machineconfiguration.openshift.io/"
SIZING_FILE: t.Final = "/etc/node-sizing-enabled.env"
AUTO_SIZING_FROM: t.Final = (4, 21)
"""From this release on new clusters have workers that size the reserve for the system by themselves."""
INSTALLED: t.Final = "2026-08-20T08:00:00Z"
MACHINE_CONFIG: t.Final = {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig"}


def machine_configs(cluster: Object, pool: str) -> list[Object]:
    """Return the MachineConfigs of a role, and the one that is rendered from them."""
    role = {"machineconfiguration.openshift.io/role": pool}
    metadata = [{"name": name, "labels": role} for name in sources(pool)] + [
        {"name": rendered(cluster, pool)}
    ]
    release = tuple(int(one) for one in str(cluster.get("version") or "4.22").split(".")[:2])
    sizes = pool == "worker" and release >= AUTO_SIZING_FROM
    file = {"contents": {"source": f"data:,{quote(sizing(sizes, {}))}"}, "mode": 0o644, "path": SIZING_FILE}
    bare: Object = {"ignition": {"version": "3.5.0"}}
    whole = bare | {"storage": {"files": [file]}}
    return [
        MACHINE_CONFIG
        | {
            "metadata": one,
            "spec": {"config": bare if one["name"] == sources(pool)[1] else whole, "kernelType": "default"},
        }
        for one in metadata
    ]


def sizing(is_automatic: bool, reserved: Object) -> str:
    """Return the file that says whether a node sizes its reserve by itself, and else the reserve."""
    return (
        f"NODE_SIZING_ENABLED={str(is_automatic).lower()}\n"
        f"SYSTEM_RESERVED_MEMORY={reserved.get('memory', '1Gi')}\n"
        f"SYSTEM_RESERVED_CPU={reserved.get('cpu', '500m')}\n"
        f"SYSTEM_RESERVED_ES={reserved.get('ephemeral-storage', '1Gi')}\n"
    )


def sources(pool: str) -> tuple[str, ...]:
    """Return the names of the MachineConfigs that the operator itself has for a role."""
    return (f"00-{pool}", f"01-{pool}-kubelet")


def machine_config_pool(cluster: Object, pool: str, count: int) -> Object:
    """Return a MachineConfigPool whose nodes are all up to date."""
    listed = [MACHINE_CONFIG | {"name": one} for one in sources(pool)]
    configuration = {"name": rendered(cluster, pool), "source": listed}
    return {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfigPool",
        "metadata": {
            "name": pool,
            "labels": {
                f"pools.operator.machineconfiguration.openshift.io/{pool}": "",
                "machineconfiguration.openshift.io/mco-built-in": "",
            },
        },
        "spec": {
            "configuration": configuration,
            "machineConfigSelector": {"matchLabels": {"machineconfiguration.openshift.io/role": pool}},
            "nodeSelector": {"matchLabels": {f"node-role.kubernetes.io/{pool}": ""}},
            "paused": False,
        },
        "status": _up_to_date(count) | {"observedGeneration": 1, "configuration": configuration},
    }


def _up_to_date(count: int) -> Object:
    """Return the counts and conditions of a pool with so many nodes."""
    conditions = [
        ("Updated", "True"),
        ("Updating", "False"),
        ("Degraded", "False"),
        ("NodeDegraded", "False"),
        ("RenderDegraded", "False"),
    ]
    return {
        "machineCount": count,
        "readyMachineCount": count,
        "updatedMachineCount": count,
        "unavailableMachineCount": 0,
        "degradedMachineCount": 0,
        "conditions": [as_expected(*one, "") for one in conditions],
    }


def as_expected(kind: str, status: str, message: str) -> Object:
    """Return a condition of a component that works as expected."""
    return {
        "type": kind,
        "status": status,
        "reason": "AsExpected",
        "message": message,
        "lastTransitionTime": INSTALLED,
    }
