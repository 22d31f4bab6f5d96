# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pod that has only RDMA devices or virtual functions is work for everything that ends pods of a node."""

from __future__ import annotations

import typing as t
from types import SimpleNamespace

import pytest
from unit.nodes.builders import pod

from ansible_collections.accelerators.openshift.plugins.module_utils._impact import (
    driver,
    impact,
    policy_fields,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    removal as machine_removal,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import drain_judge
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.drain_judge import Rules
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import busy
from ansible_collections.accelerators.openshift.plugins.module_utils._operators import disruption
from ansible_collections.accelerators.openshift.plugins.module_utils._removal import (
    disruption as removal_disruption,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import repartition
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import rollout
from ansible_collections.accelerators.openshift.plugins.module_utils._update import rollout as update_rollout

Data = dict[str, t.Any]
NODE: t.Final[Data] = {
    "metadata": {"name": "n1", "labels": dict([driver.NIC_NODES.split("=")])},
    "spec": {},
}
POLICY: t.Final[Data] = {
    "kind": "NicClusterPolicy",
    "metadata": {"name": "nic"},
    "spec": {"ofedDriver": {"version": "1"}},
}
NEWER: t.Final[Data] = {**POLICY, "spec": {"ofedDriver": {"version": "2"}}}
PLAN: t.Final[Data] = {
    "metadata": {"name": "plan"},
    "spec": {"clusterServiceVersionNames": ["nvidia-network-operator.v2"]},
}
RUNNING: t.Final[Data] = {"metadata": {"name": "nvidia-network-operator.v1"}}


def names(question: impact.Question, found: Data) -> list[str]:
    answer = question.answer([NODE], [found])
    return [one.pod for one in answer.endings] if answer else []


def by_nic_driver(found: Data) -> list[str]:
    (question,) = policy_fields.of_nic(POLICY, NEWER)
    return names(question, found)


def by_nic_plugin(found: Data) -> list[str]:
    before = {**POLICY, "spec": {"sriovDevicePlugin": {"config": "{}"}}}
    (question,) = policy_fields.of_nic(before, {**before, "spec": {"nvIpam": {}}})
    return names(question, found)


def by_install_plan(found: Data) -> list[str]:
    (question,) = busy.about_nics([POLICY], PLAN, RUNNING, "nvidia-network-operator.v2")
    return names(question, found)


def by_operator_upgrade(found: Data) -> list[str]:
    (question,) = disruption.questions(RUNNING, {}, "nvidia-network-operator.v2", [POLICY])
    return names(question, found)


def by_drain(found: Data) -> list[str]:
    problem = drain_judge.refusal([found], Rules(), "Node n1 is to be drained")
    return [found["metadata"]["name"]] if problem and problem.code == "NODE-BUSY" else []


def by_reboot(found: Data) -> list[str]:
    reboot = rollout.reboot("p", "tuning", "arguments change", [NODE], None, [found])
    return [one.pod for one in reboot.endings]


def by_planned_reboot(found: Data) -> list[str]:
    question = rollout.RebootQuestion("it reboots", "the MCO", "", names=frozenset({"n1"}))
    return names(question, found)


def by_removal(found: Data) -> list[str]:
    loss = removal_disruption.Loss("the NIC stack goes", "the garbage collector")
    return [one.pod for each in removal_disruption.ending([found], {"n1": loss}) for one in each.endings]


def by_smaller_pool(found: Data) -> list[str]:
    """Return the pod if its machine is the last that the set loses."""
    machines = [
        {
            "metadata": {"name": name},
            "status": {"phase": "Running", "nodeRef": {"name": node}},
        }
        for name, node in (("a", "n1"), ("b", "n2"))
    ]
    (victim,) = machine_removal.victims(machines, 1, [found])
    return [found["metadata"]["name"]] if victim["metadata"]["name"] == "b" else []


def by_update(found: Data) -> list[str]:
    check = update_rollout.workloads([found])
    return [found["metadata"]["name"]] if any("uses GPUs" in line for line in check.evidence) else []


def by_repartition(found: Data) -> list[str]:
    turn = t.cast(
        repartition.Turn, SimpleNamespace(node=NODE, name="n1", pool=SimpleNamespace(name="p"), geometry="g")
    )
    (question,) = repartition.questions([turn])
    return names(question, found)


USERS: t.Final = (
    by_repartition,
    by_nic_driver,
    by_nic_plugin,
    by_install_plan,
    by_operator_upgrade,
    by_drain,
    by_reboot,
    by_planned_reboot,
    by_removal,
    by_smaller_pool,
    by_update,
)


def asking(resource: str) -> Data:
    found = pod("mpi")
    found["spec"]["containers"] = [{"name": "c", "resources": {"limits": {resource: "1"}}}]
    return found


@pytest.mark.parametrize("ends", USERS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("resource", ["rdma/rdma_shared_device_a", "openshift.io/vfs", "nvidia.com/hostdev"])
def test_what_ends_a_pod_with_network_devices_alone_says_so(
    ends: t.Callable[[Data], list[str]], resource: str
) -> None:
    assert ends(asking(resource)) == ["mpi"]
    assert ends(asking("cpu")) == [], "a pod without devices"
