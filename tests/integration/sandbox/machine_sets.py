# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manual MachineSets: copies of the installer's worker set with other machines."""

from __future__ import annotations

import copy
import typing as t

from openshift_sandbox.client import Client

Data = dict[str, t.Any]

API: t.Final = "machine.openshift.io/v1beta1"
MACHINES: t.Final = "openshift-machine-api"
PREFIX: t.Final = "machine.openshift.io/"


def worker(client: Client, zone: str = "") -> Data:
    """Return the installer's first worker set whose name ends with `zone`."""
    workers = [
        one
        for one in client.list(API, "machinesets", MACHINES)
        if "-worker-" in one["metadata"]["name"] and one["metadata"]["name"].endswith(zone)
    ]
    return min(workers, key=lambda one: str(one["metadata"]["name"]))


def copied(
    worker: Data,
    name: str,
    replicas: int = 1,
    labels: Data | None = None,
    taints: t.Sequence[Data] = (),
    **provider: t.Any,
) -> Data:
    """Return a copy of a worker set.

    labels, taints: those of its nodes. provider: fields that replace those of providerSpec.value.
    """
    selected = worker["spec"]["selector"]["matchLabels"] | {f"{PREFIX}cluster-api-machineset": name}
    value = copy.deepcopy(value_of(worker)) | provider
    spec = {"metadata": {"labels": labels or {}}, "taints": list(taints), "providerSpec": {"value": value}}
    body = {
        "replicas": replicas,
        "selector": {"matchLabels": selected},
        "template": {"metadata": {"labels": selected}, "spec": spec},
    }
    return {
        "apiVersion": API,
        "kind": "MachineSet",
        "metadata": {"name": name, "namespace": MACHINES},
        "spec": body,
    }


def value_of(machine_set: Data) -> Data:
    """Return a machine set's providerSpec value."""
    return t.cast(Data, machine_set["spec"]["template"]["spec"]["providerSpec"]["value"])


def machines(client: Client, name: str) -> list[Data]:
    return client.list(API, "machines", MACHINES, f"{PREFIX}cluster-api-machineset={name}")


def in_phase(client: Client, name: str, phase: str, count: int = 1) -> list[Data]:
    """Return the set's machines in a phase if there are exactly `count`, else an empty list."""
    found = [one for one in machines(client, name) if one.get("status", {}).get("phase") == phase]
    return found if len(found) == count else []
