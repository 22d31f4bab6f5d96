# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The MachineConfigs and MachineConfigPools that the installer leaves."""

from __future__ import annotations

import typing as t

from openshift_sandbox.seed.nodes import Object, rendered

KEYS: t.Final = "machineconfiguration.openshift.io/"
INSTALLED: t.Final = "2026-08-20T08:00:00Z"
MACHINE_CONFIG: t.Final = {"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig"}


def machine_configs(cluster: Object, pool: str) -> list[Object]:
    """Return the MachineConfigs of a role, and the one that is rendered from them."""
    role = {"machineconfiguration.openshift.io/role": pool}
    metadata = [{"name": name, "labels": role} for name in sources(pool)] + [
        {"name": rendered(cluster, pool)}
    ]
    return [
        MACHINE_CONFIG
        | {
            "metadata": one,
            "spec": {"config": {"ignition": {"version": "3.5.0"}}, "kernelType": "default"},
        }
        for one in metadata
    ]


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
