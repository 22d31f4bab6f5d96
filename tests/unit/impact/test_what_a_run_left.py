# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of docs/destructive.md about what a run left: a dry run or a verdict."""

from __future__ import annotations

import copy
import re
import typing as t

from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.impact.test_kinds_of_pods import GPU, PAGE, on, pod
from unit.stack.builders import FIXTURE, node as stack_node
from unit.stack.clusterpolicy.troubles import judge, old_pod
from unit.tuning.operator_in_memory import Operator, node, tuning

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._impact import consent, policy_fields
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import cordons
from ansible_collections.accelerators.openshift.plugins.module_utils._queue.judge import stopped
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import upgrade
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.steps import BUSY
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import (
    machine_config,
    paused,
    rollout_steps,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import node_driver

MARK: t.Final = "<!-- what a run left -->"
RUN: t.Final = Run("root", "bastion", "boot", 4711, "9")
TIME: t.Final = "2026-11-27T10:00:00Z"
# What a later run does, and all that it says.
Found = tuple[str, str]


def met(work: t.Callable[[], t.Any]) -> Found:
    """Return the refusal with its code."""
    try:
        work()
    except AcceleratorError as exc:
        return f"`{exc.code}`", f"{exc.message} {exc.remedy}"
    raise AssertionError("the run went on without a word")


def tuned_pool(live: KubeObject) -> Operator:
    """Return a server that has this MachineConfigPool, and a busy node of it."""
    live["metadata"].setdefault("labels", {}).update(MANAGED_BY)
    live["metadata"]["managedFields"] = [
        {"manager": "x", "time": TIME, "fieldsV1": {"f:spec": {"f:paused": {}}}, "operation": "Update"}
    ]
    operator = Operator(node("n1"), on(pod(GPU), "n1"))
    operator.server.put(live)
    return operator


def killed() -> Operator:
    return tuned_pool(machine_config.pool(tuning(), RUN.id))


def its_pool() -> Found:
    api = killed().api(check_mode=True)
    return met(lambda: rollout_steps.ensure(api, [tuning()], "fail"))


def another_pool() -> Found:
    api = killed().api(check_mode=True)
    rollout_steps.ensure(api, [tuning(name="other", label={"other": ""}, kernel_arguments=())], "fail")
    (warning,) = api.warnings
    return "leaves it, warns", warning


def for_an_update() -> Found:
    live = machine_config.pool(tuning(), "")
    live["spec"]["paused"] = True
    live["metadata"]["annotations"] = {paused.UPDATE: "4.22.9"}
    api = tuned_pool(live).api(check_mode=True)
    return met(lambda: rollout_steps.ensure(api, [tuning()], "drain"))


def held_queue() -> Found:
    held = RUN.holds(upgrade.WHY)
    metadata = {"name": "team", "annotations": held}
    return "leaves it, warns", stopped({"metadata": metadata, "spec": {"stopPolicy": "HoldAndDrain"}})


def held_node() -> Found:
    seen = copy.deepcopy(FIXTURE)
    old_pod(seen)
    held, live = node_driver.hold(RUN)["metadata"], stack_node(seen)["metadata"]
    live["labels"] |= held["labels"]
    live["annotations"] = held["annotations"]
    verdict = judge(seen)
    return f"`{verdict.code}`", f"{verdict.message} {verdict.remedy}"


def cordoned(purpose: str) -> t.Callable[[], Found]:
    live: KubeObject = cordons.patch(purpose, RUN.id)
    live["metadata"]["name"] = "NODE"
    live["spec"]["taints"] = [{"key": "node.kubernetes.io/unschedulable", "timeAdded": TIME}]
    return lambda: ("names it in its messages about the node", cordons.shown(live))


def with_reboot() -> Found:
    server = FakeServer("Node", "Pod")
    marks = {"nvidia.com/mig.config": "all-1g.5gb", "nvidia.com/mig.config.state": "failed"}
    server.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": marks}})
    server.put(on(pod(GPU), "n1"))
    after: KubeObject = {"kind": "ClusterPolicy", "metadata": {"name": "policy"}, "spec": {}}
    env = [{"name": "WITH_REBOOT", "value": "true"}]
    asked = policy_fields.of_policy({**after, "spec": {"migManager": {"env": env}}}, after, ())
    return met(lambda: consent.ask(api_on(server), asked, "fail", BUSY))


ROWS: t.Final[dict[tuple[str, str], t.Callable[[], Found]]] = {
    ("MachineConfigPool that tune_nodes paused", "tune_nodes, enable_gpus: its pool, pods run"): its_pool,
    ("the same", "tune_nodes, enable_gpus: another pool"): another_pool,
    ("MachineConfigPool that before_openshift_update paused", "tune_nodes, enable_gpus"): for_an_update,
    ("ClusterQueue at HoldAndDrain", "enable_gpus"): held_queue,
    ("skip label of upgrade_driver", "enable_gpus"): held_node,
    ("cordon of a drain", "tune_nodes, before_openshift_update"): cordoned(cordons.FOR_POOL),
    ("cordon of upgrade_driver", "tune_nodes, before_openshift_update"): cordoned(cordons.FOR_DRIVER),
    ("cordon of repair_node", "tune_nodes, before_openshift_update"): cordoned(cordons.FOR_REPAIR),
    ("cordon of repartition", "tune_nodes, before_openshift_update"): cordoned(cordons.FOR_MIG),
    ("WITH_REBOOT of gpu_mig_reboot", "enable_gpus without gpu_mig_reboot, pods run"): with_reboot,
}


def names(text: str) -> str:
    """Return what of run, time and release the text names."""
    parts = {"run": "root@bastion (pid 4711)", "time": "since 20", "release": "4.22.9"}
    return ", ".join(key for key, part in parts.items() if part in text) or "nothing"


def table() -> list[str]:
    """Return the lines of the table."""
    lines = [["left behind", "met by", "it does", "it names", "goes on, or gives it back"], ["---"] * 5]
    for titles, row in ROWS.items():
        does, text = row()
        commands = dict.fromkeys(re.findall(r"`(?:ansible-playbook)[^`]*`", text))
        lines.append([*titles, does, names(text), ", ".join(commands) or "run again with gpu_on_busy"])
    return [f"| {' | '.join(line)} |" for line in lines]


def test_the_page_says_what_a_later_run_does_with_what_was_left() -> None:
    text = PAGE.read_text()
    found = text.partition(MARK)[2].strip().partition("\n\n")[0].splitlines()
    assert found == table(), "docs/destructive.md has to say:\n" + "\n".join(table())
