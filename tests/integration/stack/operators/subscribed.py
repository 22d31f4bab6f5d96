# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that olm_operator installs: catalogues in trouble, other owners' objects, plans and writes."""

from __future__ import annotations

import contextlib
import time
import typing as t

from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook
from integration.twelve_steps import task

from openshift_sandbox import faults

Data = dict[str, t.Any]
V1ALPHA1: t.Final = "operators.coreos.com/v1alpha1"
VIRT: t.Final[Data] = {"name": "kubevirt-hyperconverged", "namespace": "openshift-cnv"}


def subscribe(playbook: Playbook, operators: t.Mapping[str, str]) -> None:
    """Install operators, and label the nodes. operators: name -> namespace, with nfd among them."""
    run = playbook.tasks(
        *(task("olm_operator", name=name, namespace=namespace) for name, namespace in operators.items()),
        task("nfd_labels"),
    )
    assert run.rc == 0, run.output[-3000:]


@contextlib.contextmanager
def trouble(cluster: Cluster, kind: str, **fields: t.Any) -> t.Iterator[None]:
    """Stage a trouble of a catalogue and wait until OLM is connected; clear it at the end."""
    sandbox = cluster.needs_sandbox()
    faults.add(sandbox, kind, fields)
    connected(cluster)
    try:
        yield
    finally:
        faults.clear(sandbox, kind, fields)
        connected(cluster)


def connected(cluster: Cluster) -> None:
    """Wait until every catalogue is READY for two seconds.

    OLM loses a restarted catalogue for a moment, even after it has reached the catalogue once.
    """
    since = time.monotonic()

    def stays() -> bool:
        nonlocal since
        states = [
            one["status"]["connectionState"]["lastObservedState"]
            for one in cluster.client.list(V1ALPHA1, "catalogsources")
        ]
        if any(state != "READY" for state in states):
            since = time.monotonic()
        return time.monotonic() - since > 2

    assert until(stays, "every catalogue READY for two seconds")


@contextlib.contextmanager
def existing(cluster: Cluster, obj: Data, plural: str) -> t.Iterator[Data]:
    """Create an object; delete it at the end."""
    yield cluster.client.create(obj)
    cluster.client.delete(
        obj["apiVersion"], plural, obj["metadata"]["name"], obj["metadata"].get("namespace")
    )


def written(lines: list[str]) -> list[str]:
    """Return verb and plural of each write, in order."""
    return [" ".join(line.split()[:2]).partition(".")[0] for line in lines]


def approved(cluster: Cluster, namespace: str) -> list[str]:
    """Return the CSVs of the approved install plans in a namespace, sorted."""
    plans = cluster.client.list(V1ALPHA1, "installplans", namespace)
    return sorted(
        name
        for plan in plans
        if plan["spec"]["approved"]
        for name in plan["spec"]["clusterServiceVersionNames"]
    )
