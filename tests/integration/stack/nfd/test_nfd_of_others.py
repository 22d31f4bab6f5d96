# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nfd_labels beside another owner's instance, and input that it refuses before the first request."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook
from integration.stack.nfd.labelled import MINE, NAMESPACE, NFD, PCI, POOL, Data, create
from integration.wire import Audit

from openshift_sandbox.sandbox import Sandbox

SCENARIO: t.Final = "aws"
pytestmark = pytest.mark.long("an instance of NFD that others keep: test_nfd.py has ours in every run")
ARGO: t.Final = {
    "annotations": {
        "argocd.argoproj.io/tracking-id": "gitops:nfd.openshift.io/NodeFeatureDiscovery:openshift-nfd/theirs"
    }
}
CONFIG: t.Final = (
    "# by the platform team\n"
    "sources: {pci: {deviceClassWhitelist: ['0200', '03'], deviceLabelFields: [class, vendor]}}\n"
)


@pytest.fixture
def theirs(cluster: Cluster, playbook: Playbook, sandbox: Sandbox) -> t.Iterator[t.Callable[..., None]]:
    if cluster.client.list(*NFD, NAMESPACE):
        playbook.module("nfd_labels", state="absent")

    def put(**more: t.Any) -> None:
        spec = {
            "workerConfig": {"configData": CONFIG},
            "operand": {"servicePort": 12000},
            **more.pop("spec", {}),
        }
        create(cluster, NFD[0], "NodeFeatureDiscovery", "theirs", spec=spec, **more)

    yield put
    cluster.client.delete(*NFD, "theirs", NAMESPACE)
    until(lambda: cluster.client.get(*NFD, "theirs", NAMESPACE) is None, "the end of the instance")


def config(cluster: Cluster) -> str:
    return str((cluster.client.get(*NFD, "theirs", NAMESPACE) or {})["spec"]["workerConfig"]["configData"])


def test_an_instance_that_argo_cd_keeps(
    cluster: Cluster, playbook: Playbook, audit: Audit, theirs: t.Callable[..., None]
) -> None:
    theirs(metadata=ARGO)
    labels = "accelerators.openshift.nfd_labels"
    refused, tainted, used = playbook.tasks(
        {labels: {}, "ignore_errors": True},
        {labels: {"pci_classes": ["0200", "03"], "rules": [MINE]}, "ignore_errors": True},
        # The instance has all that the task asks for, so the module uses it and names its owner.
        {labels: {"pci_classes": ["0200", "03"]}},
    ).tasks
    assert (refused.failed, refused["code"]) == (True, "NFD-MANAGED")
    assert "Argo CD (gitops)" in refused["message"]
    assert (tainted.failed, tainted["code"]) == (True, "NFD-TAINTS")
    assert not used.changed, used.result
    assert (used["nfd"]["name"], used["nfd"]["manager"]) == ("theirs", "Argo CD (gitops)")
    assert "an InfiniBand adapter is 0207" in used["nfd"]["pci_classes"][0]["lets_through"]
    assert audit.writes(refused, tainted, used) == []
    assert config(cluster) == CONFIG

    taken, again, stays = playbook.tasks(
        {labels: {"adopt": "take", "expect": [{"node_selector": POOL, "labels": {PCI: True}}]}},
        {labels: {"adopt": "take"}},
        {labels: {"name": "theirs", "state": "absent"}},
    ).tasks
    assert [one.changed for one in (taken, again, stays)] == [True, False, False], [
        one.result for one in (taken, again, stays)
    ]
    assert audit.writes(again, stays) == []
    assert yaml.safe_load(config(cluster))["sources"]["pci"]["deviceLabelFields"] == ["vendor"]
    live = cluster.client.get(*NFD, "theirs", NAMESPACE) or {}
    assert "app.kubernetes.io/managed-by" not in (live["metadata"].get("labels") or {})


def test_an_instance_whose_workers_have_no_node(playbook: Playbook, theirs: t.Callable[..., None]) -> None:
    theirs(
        spec={
            "operand": {
                "image": "example.com/nfd:v1",
                "servicePort": 12000,
                "workerNodeSelector": {"nobody": "has-it"},
            }
        }
    )
    task = playbook.module("nfd_labels", grace=2)
    assert (task.failed, task["code"]) == (True, "NFD-DEGRADED")
    assert "no node to run on by operand.workerNodeSelector {'nobody': 'has-it'}" in task["message"]


def test_what_is_wrong_is_refused_before_the_first_request(
    playbook: Playbook, audit: Audit, sandbox: Sandbox
) -> None:
    rule = {"name": "it-bad", "rules": [{"name": "x", "labels": {"node-role.kubernetes.io/gpu": "true"}}]}
    wrong: list[Data] = [
        {"rules": [rule]},
        {"pci_classes": ["0x02"]},
        {"features": [{"name": "it-bad", "nodes": ["a"]}]},
        {"compare": {"gpu": {}}},
    ]
    run = playbook.tasks(
        *({"accelerators.openshift.nfd_labels": options, "ignore_errors": True} for options in wrong)
    )
    assert [task["code"] for task in run.tasks] == ["NFD-RULE", "NFD-PCI", "NFD-FEATURE", "NFD-COMPARE"]
    assert audit.of(*run.tasks) == []


def test_a_feature_file_as_a_machine_config(playbook: Playbook, sandbox: Sandbox) -> None:
    """Apply the filter's MachineConfig in check mode; the API server must accept it."""
    shell = (
        "{{ {'example.com/shell': 'xdma'} | accelerators.openshift.feature_file("
        "name='fpga', expires='2027-01-31T00:00:00Z', "
    )
    run = playbook.tasks(
        {
            "accelerators.openshift.manifests": {"objects": f"{shell}as='machine_config', pool='fpga') }}}}"},
            "check_mode": True,
        },
        {"ansible.builtin.debug": {"msg": "{{ 'a = b' | accelerators.openshift.feature_file }}"}},
    )
    assert run.tasks[0].changed, run.output[-2000:]
    assert "NFD-FILE" in run.output
