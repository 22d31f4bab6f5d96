# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring about the pains of tests/documents/troubles.yml on a sandbox, and take them away again.

A step of a row is one of these; its undoing follows from it:

- C(trouble): type and fields of a trouble of the sandbox.
- C(apply): a manifest, which is deleted at the end unless it C(stays).
- C(merge): a part of an object that exists, with its apiVersion, kind and metadata; C(undo) is merged at the
  end.
- C(status): the same for the status of an object that goes at the end.
- C(machine_set): a pool with one machine, which is removed at the end.
- C(restart): the beginning of the names of pods in the namespace of the GPU operator that are deleted, at the
  end once more.
- C(wait): the phase of C(pods), the number of nodes with these C(labels), or the part of the status of a
  C(quota) that has to be there.
"""

from __future__ import annotations

import contextlib
import typing as t

from cluster import Cluster
from integration.patience import until
from integration.playbook import call

from openshift_sandbox import faults

Data = dict[str, t.Any]
GPU: t.Final = "nvidia-gpu-operator"


@contextlib.contextmanager
def staged(cluster: Cluster, steps: t.Sequence[Data]) -> t.Iterator[None]:
    """Take the steps in their order; undo them in the other order at the end."""
    with contextlib.ExitStack() as undone:
        for step in steps:
            kind = next(iter(step))
            undone.callback(_STEPS[kind](cluster, step) or _nothing)
        yield


def _nothing() -> None:
    """Do nothing: what the step made ends by itself."""


def _trouble(cluster: Cluster, step: Data) -> t.Callable[[], object]:
    sandbox, fields = cluster.needs_sandbox(), {key: step[key] for key in step if key != "trouble"}
    faults.add(sandbox, step["trouble"], fields)
    return lambda: faults.clear(sandbox, step["trouble"], fields)


def _apply(cluster: Cluster, step: Data) -> t.Callable[[], object]:
    where = _where(cluster, cluster.client.apply(step["apply"]))
    return _nothing if step.get("stays") else lambda: cluster.client.delete(*where)


def _merge(cluster: Cluster, step: Data) -> t.Callable[[], object]:
    where = _where(cluster, step["merge"])
    cluster.client.patch(*where, step["merge"])
    return lambda: cluster.client.patch(*where, step["undo"])


def _where(cluster: Cluster, obj: Data) -> tuple[str, str, str, str | None]:
    plural, metadata = cluster.client.plural(obj["apiVersion"], obj["kind"]), obj["metadata"]
    return obj["apiVersion"], plural, metadata["name"], metadata.get("namespace")


def _restart(cluster: Cluster, step: Data) -> t.Callable[[], object]:
    def restart() -> None:
        for pod in pods(cluster, step["restart"], step.get("node")):
            cluster.client.delete("v1", "pods", pod["metadata"]["name"], GPU)

    restart()
    return restart


def _status(cluster: Cluster, step: Data) -> None:
    part = step["status"]
    cluster.client.patch(*_where(cluster, part), part, "status")


def _machine_set(cluster: Cluster, step: Data) -> t.Callable[[], object]:
    candidate = {"instance_type": step["instance_type"], "zones": [step["zone"]]}
    pool = {"name": step["machine_set"], "candidates": [candidate], "replicas": 1}
    made = call(cluster.kubeconfig, "gpu_machineset", pool=pool, wait=False)
    assert not made.failed, made.result

    def remove() -> None:
        gone = call(cluster.kubeconfig, "gpu_machineset", pool=pool, state="absent")
        assert not gone.failed, gone.result

    return remove


def _wait(cluster: Cluster, step: Data) -> None:
    def is_there() -> bool:
        if "quota" in step:
            live = cluster.client.get("v1", "resourcequotas", step["quota"], step["namespace"]) or {}
            return step["wait"] in (live.get("status") or {})
        if "labels" in step:
            return len(cluster.client.list("v1", "nodes", labels=step["labels"])) == int(step["wait"])
        found = pods(cluster, step["pods"], None, step["namespace"])
        return any(one["status"].get("phase") == step["wait"] for one in found)

    until(is_there, f"{step}")


def pods(cluster: Cluster, start: str, node: str | None, namespace: str = GPU) -> list[Data]:
    """Return pods whose names begin like this: those of a node, or of each."""
    return [
        pod
        for pod in cluster.client.list("v1", "pods", namespace)
        if pod["metadata"]["name"].startswith(start) and node in (None, pod["spec"].get("nodeName"))
    ]


_STEPS: t.Final[dict[str, t.Callable[[Cluster, Data], t.Callable[[], object] | None]]] = {
    "trouble": _trouble,
    "apply": _apply,
    "merge": _merge,
    "restart": _restart,
    "status": _status,
    "machine_set": _machine_set,
    "wait": _wait,
}
