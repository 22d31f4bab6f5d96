# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of docs/destructive.md about kinds of pods: each cell is a dry run on a server in memory."""

from __future__ import annotations

import typing as t
from pathlib import Path

from unit.engine import api_on
from unit.remedies.case import Options, checked, ensured, failure
from unit.remedies.cases import gpu_sharing, gpu_stack, nic, node, olm_plans
from unit.remedies.clusters import olm_world, policy
from unit.sharing.test_repartition_steps import SEVEN, cluster, paused
from unit.tuning import operator_in_memory as tuned
from unit.upgrade.in_memory.controller import Operator

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import repartition_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import rollout_steps

Object = dict[str, t.Any]
PAGE: t.Final = Path(__file__).parents[3] / "docs/destructive.md"
MARK: t.Final = "<!-- kinds of pods -->"


def pod(resource: str, number: str = "1", owner: str = "ReplicaSet", **spec: t.Any) -> Object:
    """Return a running pod of the team, whose node is not set yet."""
    limits = {"limits": {resource: number}} if resource else {}
    owners = [{"kind": owner, "name": "o", "uid": "o", "controller": True}] if owner else []
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "team", "uid": "p", "labels": {}, "ownerReferences": owners},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": limits}], **spec},
        "status": {"phase": "Running"},
    }


def static() -> Object:
    found = pod("nvidia.com/gpu", owner="Node")
    found["metadata"]["annotations"] = {drain.MIRROR: "hash"}
    return found


GPU: t.Final = "nvidia.com/gpu"
KINDS: t.Final[dict[str, t.Callable[[], Object]]] = {
    "of a Deployment": lambda: pod(GPU),
    "bare": lambda: pod(GPU, owner=""),
    "with an emptyDir": lambda: pod(GPU, volumes=[{"name": "d", "emptyDir": {}}]),
    "of a DaemonSet": lambda: pod(GPU, owner="DaemonSet"),
    "static": static,
    '`gpu: "0"`': lambda: pod(GPU, "0"),
    "with a ResourceClaim": lambda: pod("", resourceClaims=[{"name": "gpu"}]),
    "virtual machine": lambda: pod("nvidia.com/GA102GL_A10", owner="VirtualMachineInstance"),
    "RDMA only": lambda: pod("rdma/shared"),
}


def on(found: Object, where: str) -> Object:
    found["spec"]["nodeName"] = where
    return found


def options_changed(one: Object, options: Options) -> str | None:
    server = Operator(("gpu-0",), on(one, "gpu-0")).server
    return gpu_stack.foreseen(server, options, name=policy.NAME, driver=gpu_stack.TRIPLE)


def operator_upgraded(one: Object, options: Options) -> str | None:
    objects = [*olm_plans.installed(olm_world.GPU), *olm_world.BUSY[:2], on(one, "gpu-0")]
    given = {**olm_plans.UPGRADE, "channel": "b", "driver_change": "allow"}
    return olm_world.operator(olm_world.GPU, objects, options, **given)


def driver_upgraded(one: Object, options: Options) -> str | None:
    api = Operator(("gpu-0",), on(one, "gpu-0")).api(check_mode=True)
    given = {**gpu_stack.TRIPLE, "validate": False}
    return ensured("gpu_driver_upgrade", api, {**given, **options})


def nic_changed(one: Object, options: Options) -> str | None:
    return nic.busy(options, on(one, "n1"))


def tuned_anew(one: Object, options: Options) -> str | None:
    api = tuned.Operator(tuned.node("n1"), on(one, "n1")).api(check_mode=True)
    return failure(lambda: rollout_steps.ensure(api, [tuned.tuning()], str(options["on_busy"])))


def partitioned(one: Object, options: Options) -> str | None:
    server = cluster()
    server.put(on(one, "b"))
    given = checked("gpu_repartition", {"pools": gpu_sharing.pools(SEVEN), **options})
    return failure(lambda: repartition_steps.ensure(api_on(server, check_mode=True), given, paused))


def drained(one: Object, options: Options) -> str | None:
    return node.replace(options, on(one, "gpu-0"))


DRAINS: t.Final = "replace_node, and the drains of the others"
ROWS: t.Final[dict[str, t.Callable[[Object, Options], str | None]]] = {
    DRAINS: drained,
    "enable_gpus, driver options changed": options_changed,
    "enable_gpus, operator upgraded": operator_upgraded,
    "upgrade_driver": driver_upgraded,
    "enable_gpus, NIC images changed": nic_changed,
    "tune_nodes, kernel arguments changed": tuned_anew,
    "repartition, another MIG geometry": partitioned,
}


def cell(run: t.Callable[[Object, Options], str | None], kind: t.Callable[[], Object]) -> str:
    """Return what the run says with on_busy: fail, and if that is no failure or differs, with drain."""
    first, second = (run(kind(), {"on_busy": on_busy}) for on_busy in ("fail", "drain"))
    shown = [f"`{code}`" if code else "" for code in (first, second)]
    if first == second:
        return shown[0] or "not asked about"
    return f"{shown[0] or 'not asked about'}, drain: {shown[1] or 'goes on'}"


def table() -> list[str]:
    """Return the lines of the table."""
    rows = [[name, *(cell(run, kind) for kind in KINDS.values())] for name, run in ROWS.items()]
    lines = [["", *KINDS], ["---"] * (len(KINDS) + 1), *rows]
    return [f"| {' | '.join(line)} |".replace("|  |", "| |", 1) for line in lines]


def test_the_page_says_what_happens_to_each_kind_of_pod() -> None:
    text = PAGE.read_text()
    found = text.partition(MARK)[2].strip().partition("\n\n")[0].splitlines()
    assert found == table(), "docs/destructive.md has to say:\n" + "\n".join(table())
