# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a walk has seen of machines and nodes, and what the layers make of it, for tests of the layers."""

from __future__ import annotations

import copy
import sys
import typing as t
from datetime import UTC, datetime

from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import POOL
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import (
    machines,
    model,
    nodes,
    report,
    tuning,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis.model import Seen, Trouble
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import lease

Data = dict[str, t.Any]
NOW: t.Final = 1_800_000_000.0
LAYERS: t.Final = (machines.LAYER, tuning.LAYER, nodes.LAYER)
RUN: t.Final = "root|bastion|boot|4711|9|"


def ago(seconds: float) -> str:
    """Return the time of so many seconds before the walk."""
    return datetime.fromtimestamp(NOW - seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def node(name: str = "n1", pool: str = "train", ready: str = "True", age: float = 1e6, **more: t.Any) -> Data:
    """Return a GPU node. age: seconds since it was made; since then Ready is what it is, unless `since`."""
    marks = {"nvidia.com/gpu.present": "true", "feature.node.kubernetes.io/pci-10de.present": "true"}
    marks |= {"node-role.kubernetes.io/worker": "", **({POOL: pool} if pool else {})}
    condition = {
        "type": "Ready",
        "status": ready,
        "message": "container runtime is down",
        "lastTransitionTime": ago(more.pop("since", age)),
        "lastHeartbeatTime": ago(50),
    }
    metadata = {"name": name, "labels": marks, "creationTimestamp": ago(age), "annotations": {}}
    spec = more.pop("spec", {})
    metadata["annotations"] |= more.pop("annotations", {})
    return {"metadata": metadata | more, "spec": spec, "status": {"conditions": [condition]}}


def cordoned(*taints: Data, **more: t.Any) -> Data:
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": ago(7200)}
    return node(spec={"unschedulable": True, "taints": [taint, *taints]}, **more)


def machine(phase: str, name: str = "m1", age: float = 300, pool: str = "train", **status: t.Any) -> Data:
    value = {"kind": "AWSMachineProviderConfig", "instanceType": "g4dn.xlarge"}
    labels = {"machine.openshift.io/cluster-api-machineset": "set-1", **({POOL: pool} if pool else {})}
    made = {"name": name, "namespace": "openshift-machine-api", "labels": labels}
    return {
        "metadata": {**made, "creationTimestamp": ago(age)},
        "spec": {"providerSpec": {"value": value}},
        "status": {"phase": phase, "lastUpdated": ago(age), **status},
    }


def leased(holder: str, age: float) -> Data:
    renewed = datetime.fromtimestamp(NOW - age, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": holder, "renewTime": renewed}
    return {"metadata": {"name": lease.NAME}, "spec": spec}


def saw(*, size: int | None = None, unread: t.Sequence[str] = (), **objects: t.Sequence[Data]) -> Seen:
    """Return what a walk saw. size: of the pool train in the option pools."""
    found = {key.replace("_", " ") if key in _SPACED else key: list(one) for key, one in objects.items()}
    pool: t.Any = {"name": "train", "node_selector": {POOL: "train"}}
    pools = [pool | {"replicas": size}] if size is not None else [pool] if objects.get("nodes") else []
    found = copy.deepcopy(found)
    return Seen(found, dict.fromkeys(unread, "no"), dict.fromkeys(found, True), NOW, pools)


_SPACED: t.Final = ("certificate_requests", "machine_sets", "nodes_without_labels", "disruption_budgets")


def found_in(seen: Seen, *more: Trouble) -> list[Trouble]:
    """Return the troubles of the three layers, causes first."""
    return model.with_causes([*(one for layer in LAYERS for one in layer.judge(seen)), *more])


def roots(seen: Seen, *more: Trouble) -> list[tuple[str, str]]:
    """Return code and object of each cause that does not end by itself."""
    return [(one.code, one.about) for one in found_in(seen, *more) if not one.cause and not one.is_busy]


def result(seen: Seen) -> Data:
    return report.result(seen, found_in(seen), LAYERS)


def calls(work: t.Callable[[], object]) -> int:
    """Return how many calls of Python functions the work needs, each turn of a generator included."""
    counted: list[str] = []
    sys.setprofile(lambda _frame, event, _arg: counted.append(event) if event == "call" else None)
    try:
        work()
    finally:
        sys.setprofile(None)
    return len(counted)
