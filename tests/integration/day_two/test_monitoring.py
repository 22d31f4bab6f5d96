# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""monitor_gpus.yml: alerts, metrics and dashboard are made, kept, and taken away."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster, must_get
from integration.playbook import Playbook, Run
from integration.twelve_steps import Case, Walks
from integration.wire import Audit

from openshift_sandbox.catalogue import crds

Data = dict[str, t.Any]
SPACE, NAME, CONSOLE = "it-monitoring", "accelerators-openshift-gpus", "openshift-config-managed"
MONITORED: t.Final = "openshift.io/cluster-monitoring"
POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies")
PROMETHEUS: t.Final = "monitoring.coreos.com/v1"
POOL: t.Final = {
    "name": "training",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "replicas": 1,
}
MADE: t.Final = (
    ("v1", "configmaps", SPACE),
    ("v1", "configmaps", CONSOLE),
    (PROMETHEUS, "prometheusrules", SPACE),
    (PROMETHEUS, "servicemonitors", SPACE),
)

CASE: t.Final = Case(
    "gpu_monitoring",
    create={
        "namespace": SPACE,
        "pools": [{"name": "it", "node_selector": {"it": "it"}, "expected": {"nvidia.com/gpu": 8}}],
    },
    modify={"namespace": SPACE, "limits": {"idle": "4h"}, "metrics": ["DCGM_FI_PROF_SM_ACTIVE"]},
    delete={"namespace": SPACE, "state": "absent"},
)


@pytest.fixture(scope="module")
def policy(cluster: Cluster) -> t.Iterator[None]:
    """Make a ClusterPolicy as special_resource makes it; no operator runs."""
    client = cluster.client
    crds.load(client, crds.operator_crds("gpu-operator-certified"))
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    keys = (
        "operator",
        "daemonsets",
        "driver",
        "toolkit",
        "devicePlugin",
        "dcgm",
        "nodeStatusExporter",
        "gfd",
    )
    exporter = {"enabled": True, "config": {"name": ""}, "serviceMonitor": {"enabled": True}}
    spec: Data = {**{key: {} for key in keys}, "dcgmExporter": exporter}
    metadata = {"name": "it-monitoring"}
    client.apply({"apiVersion": POLICIES[0], "kind": "ClusterPolicy", "metadata": metadata, "spec": spec})
    yield
    client.delete(*POLICIES, "it-monitoring")
    client.delete("v1", "namespaces", SPACE)


def monitor(playbook: Playbook, *arguments: str, **variables: t.Any) -> Run:
    given = {"gpu_operator_namespace": SPACE, "gpu_pools": [POOL], **variables}
    return playbook.playbook("monitor_gpus", *arguments, **given)


def collected(cluster: Cluster) -> str:
    live = must_get(cluster.client, *POLICIES, "it-monitoring")
    return str(live["spec"]["dcgmExporter"]["config"]["name"])


def label(cluster: Cluster) -> str | None:
    live = must_get(cluster.client, "v1", "namespaces", SPACE)["metadata"]
    found: str | None = live.get("labels", {}).get(MONITORED)
    return found


def made(cluster: Cluster) -> list[bool]:
    return [cluster.client.get(version, plural, NAME, place) is not None for version, plural, place in MADE]


@pytest.mark.long("the unit tests of _monitoring make, keep and remove the same in memory")
def test_it_is_made_kept_and_taken_away(
    cluster: Cluster, playbook: Playbook, audit: Audit, policy: None
) -> None:
    checked = monitor(playbook, "--check", "--diff")
    assert (checked.rc, audit.writes(*checked.tasks), made(cluster)) == (0, [], [False] * 4), checked.output
    run = monitor(playbook)
    assert (run.rc, made(cluster)) == (0, [True] * 4), run.output[-3000:]
    assert (collected(cluster), label(cluster)) == (NAME, "true")
    rule = must_get(cluster.client, PROMETHEUS, "prometheusrules", NAME, SPACE)
    names = [group["name"].rpartition(".")[2] for group in rule["spec"]["groups"]]
    assert names == ["gpus", "pools", "alerts"]
    again = monitor(playbook)
    assert (again.rc, again.changed, audit.writes(*again.tasks)) == (0, 0, [])
    gone = monitor(playbook, gpu_monitoring_state="absent")
    assert (gone.rc, made(cluster)) == (0, [False] * 4), gone.output[-3000:]
    assert (collected(cluster), label(cluster)) == ("", None)
    nothing = monitor(playbook, gpu_monitoring_state="absent")
    assert (nothing.rc, nothing.changed, audit.writes(*nothing.tasks)) == (0, 0, [])
    ordinary = playbook.module("gpu_monitoring", in_process=False, namespace=SPACE, state="absent")
    assert not ordinary.changed, ordinary.result


@pytest.mark.long("the unit tests of _monitoring make, change and remove the same in memory")
def test_twelve_steps(policy: None, walks: Walks) -> None:
    for in_process in (True, False):
        walks.check(CASE, in_process)
    walks.compare(CASE)


@pytest.mark.long("the unit tests of _monitoring say the same of a server in memory")
def test_a_label_of_others_stays(cluster: Cluster, playbook: Playbook, policy: None) -> None:
    labelled = {"name": SPACE, "labels": {MONITORED: "true"}}
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": labelled})
    run = monitor(playbook)
    assert (run.rc, label(cluster)) == (0, "true"), run.output[-3000:]
    gone = monitor(playbook, gpu_monitoring_state="absent")
    assert (gone.rc, label(cluster)) == (0, "true")
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    assert label(cluster) is None


@pytest.mark.long("the unit tests of _monitoring refuse the same in memory")
@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("MON-METRIC", {"gpu_monitoring_metrics": ["DCGM_FI_DEV_FB_TOTAL"]}),
        ("MON-ALERT", {"gpu_monitoring_without": ["GpuBroken"]}),
        ("MON-LIMIT", {"gpu_monitoring_limits": {"idle": "an hour"}}),
        ("MON-USER-WORKLOAD", {"gpu_monitoring_prometheus": "user_workload"}),
    ],
)
def test_bad_input_is_refused_before_the_first_write(
    cluster: Cluster, playbook: Playbook, audit: Audit, policy: None, code: str, given: Data
) -> None:
    run = monitor(playbook, **given)
    assert (run.failure["code"], audit.writes(*run.tasks)) == (code, [])
