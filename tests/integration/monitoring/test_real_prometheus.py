# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster with a real Prometheus: the playbooks ask it with the rights of their own accounts."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from integration.credentials.test_access_grant import Accounts
from integration.patience import until
from integration.playbook import Playbook, Run
from integration.wire import Audit

from openshift_sandbox import build, faults
from openshift_sandbox.catalogue import crds

SCENARIO = "monitoring"
pytestmark = [
    pytest.mark.long("few have built Prometheus; the tests in tests/unit check what we ask it"),
    pytest.mark.skipif(
        not build.built("prometheus"), reason="Prometheus is not built: run `sandbox build --with prometheus`"
    ),
    pytest.mark.story("the monitoring is set up, looked at, and broken"),
]
SPACE: t.Final = "nvidia-gpu-operator"
EXPORTER: t.Final = {"app": "nvidia-dcgm-exporter"}
NODES: t.Final = ("t4-0", "t4-1", "a100-0")
KEYS: t.Final = (
    *("operator", "daemonsets", "driver", "toolkit", "devicePlugin", "dcgm"),
    *("nodeStatusExporter", "gfd"),
)
PLAYBOOKS: t.Final = ["monitor_gpus", "report_use"]
Object = dict[str, t.Any]


def stack() -> t.Iterator[Object]:
    """Return a ClusterPolicy and the exporters of its operator, which does not run."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
    exporter = {"enabled": True, "config": {"name": ""}, "serviceMonitor": {"enabled": False}}
    yield {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "gpu-cluster-policy"},
        "spec": {**{key: {} for key in KEYS}, "dcgmExporter": exporter},
    }
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "nvidia-dcgm-exporter", "namespace": SPACE, "labels": EXPORTER},
        "spec": {"selector": EXPORTER, "ports": [{"name": "gpu-metrics", "port": 9400}]},
    }
    for node in NODES:
        container = {"name": "nvidia-dcgm-exporter", "image": "example.com/dcgm-exporter:1"}
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"nvidia-dcgm-exporter-{node}", "namespace": SPACE, "labels": EXPORTER},
            "spec": {"nodeName": node, "containers": [container]},
        }


@pytest.fixture(scope="module")
def accounts(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, playbook: Playbook) -> Accounts:
    """Set the stack up, and give each playbook its account."""
    crds.load(cluster.client, crds.operator_crds("gpu-operator-certified"))
    for one in stack():
        cluster.client.apply(one)
    run = playbook.playbook("rbac", gpu_rbac_playbooks=PLAYBOOKS)
    assert run.rc == 0, run.output[-3000:]
    return Accounts(cluster, playbook, tmp_path_factory.mktemp("monitoring"))


def scraped(run: Run) -> Object:
    assert run.rc == 0, run.output[-3000:]
    task = next(one for one in run.tasks if "monitoring" in one.result)
    found: Object = task["monitoring"]["scraped"]
    return found


def test_a_first_run_asks_before_there_are_targets(accounts: Accounts) -> None:
    assert scraped(accounts.run("monitor_gpus", gpu_pools=[]))["asked"]


def test_prometheus_reaches_each_exporter_and_a_second_run_writes_nothing(
    accounts: Accounts, audit: Audit
) -> None:
    runs: list[Run] = []

    def reached() -> bool:
        runs.append(accounts.run("monitor_gpus", gpu_pools=[]))
        found = scraped(runs[-1])
        return bool(found["up"] == len(NODES) and not found["without_data"])

    until(reached, "Prometheus has data of each exporter", 240)
    assert audit.writes(*runs[-1].tasks) == []


def test_an_exporter_without_data_is_named(cluster: Cluster, accounts: Accounts) -> None:
    faults.add(cluster.needs_sandbox(), "exporter_without_data", {"node": "a100-0"})

    def named() -> bool:
        found = scraped(accounts.run("monitor_gpus", gpu_pools=[]))
        return bool(found["without_data"] == ["nvidia-dcgm-exporter-a100-0"])

    assert until(named, "the exporter has no data", 240)


def test_a_report_without_history_says_so_and_writes_nothing(accounts: Accounts, audit: Audit) -> None:
    """The first look of the report is at a full five minutes."""
    run = accounts.run("report_use", gpu_pools=[], gpu_use_days=1)
    assert (run.failure["code"], audit.writes(*run.tasks)) == ("MON-NO-DATA", [])


def test_an_account_without_the_right_learns_what_it_lacks(accounts: Accounts) -> None:
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/accelerators-openshift-report-use-monitoring"
    accounts.cluster.client.request("DELETE", path)
    run = accounts.run("report_use", gpu_pools=[], gpu_use_days=1)
    assert run.failure["code"] == "MON-API-FORBIDDEN"


def test_a_client_certificate_is_no_token(cluster: Cluster, accounts: Accounts) -> None:
    run = accounts.playbook.playbook("report_use")
    assert run.failure["code"] == "MON-API-TOKEN"
