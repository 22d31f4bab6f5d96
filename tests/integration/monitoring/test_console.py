# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One variable brings NVIDIA's plugin of the console, with the rights of the playbook's own account."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from cluster import Cluster, must_get
from integration.credentials.test_access_grant import Accounts
from integration.monitoring.test_real_prometheus import SPACE, stack
from integration.playbook import Playbook, Run
from integration.wire import Audit

from openshift_sandbox.catalogue import crds

SCENARIO: t.Final = "gpu-nodes"
pytestmark = [
    pytest.mark.long("few ask for the plugin: tests/unit/monitoring has each step"),
    pytest.mark.story("the plugin comes, is compared and rendered, and goes"),
]
PLUGIN: t.Final = "console-plugin-nvidia-gpu"
POOLS: t.Final = [
    {
        "name": "training",
        "existing": {
            "node_selector": {"accelerators.openshift/pool": "training"},
            "expected": {"nvidia.com/gpu": 8},
        },
    }
]
# What OpenShift has in the list.
OTHERS: t.Final = ["monitoring-plugin", "networking-console-plugin"]
Data = dict[str, t.Any]


@pytest.fixture(scope="module")
def accounts(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, playbook: Playbook) -> Accounts:
    """Set the stack up, and give each playbook its account."""
    crds.load(cluster.client, crds.operator_crds("gpu-operator-certified"))
    for one in stack():
        cluster.client.apply(one)
    run = playbook.playbook("rbac", gpu_rbac_playbooks=["monitor_gpus"])
    assert run.rc == 0, run.output[-3000:]
    return Accounts(cluster, playbook, tmp_path_factory.mktemp("console"))


def monitored(accounts: Accounts, **variables: t.Any) -> tuple[Run, Data]:
    """Run monitor_gpus. Return the run, and what its result says of the plugin."""
    run = accounts.run("monitor_gpus", gpu_pools=POOLS, **variables)
    assert run.rc == 0, run.output[-3000:]
    task = next(one for one in run.tasks if "console" in one.result.get("monitoring", {}))
    found: Data = task["monitoring"]["console"]
    return run, found


def plugins(cluster: Cluster) -> list[str]:
    live = must_get(cluster.client, "operator.openshift.io/v1", "consoles", "cluster")
    return list(live["spec"]["plugins"])


def there(cluster: Cluster) -> list[str]:
    """Return the kinds of the plugin's objects that the cluster has."""
    kinds = {
        "consoleplugins": ("console.openshift.io/v1", None),
        "services": ("v1", SPACE),
        "deployments": ("apps/v1", SPACE),
    }
    return [
        kind
        for kind, (version, space) in kinds.items()
        for one in cluster.client.list(version, kind, space)
        if one["metadata"]["name"] == PLUGIN
    ]


def test_the_console_loads_the_plugin_once_it_works(cluster: Cluster, accounts: Accounts) -> None:
    _run, found = monitored(accounts, gpu_monitoring_console=True)
    assert found["image"].endswith("console-plugin-nvidia-gpu:release-0.3.0")
    assert "pods begin again" in found["note"]
    assert plugins(cluster) == [*OTHERS, PLUGIN]
    live = must_get(cluster.client, "apps/v1", "deployments", PLUGIN, SPACE)
    assert live["status"]["availableReplicas"] == 1


def test_a_second_run_writes_nothing(accounts: Accounts, audit: Audit) -> None:
    run, found = monitored(accounts, gpu_monitoring_console=True)
    assert audit.writes(*run.tasks) == []
    assert "note" not in found


def test_a_render_has_the_files_of_the_plugin(playbook: Playbook, audit: Audit, tmp_path: Path) -> None:
    variables = {"gpu_pools": POOLS, "gpu_monitoring_console": True, "gpu_render_dir": str(tmp_path)}
    run = playbook.playbook("render", "--tags gpu_monitoring", **variables)
    assert run.rc == 0, run.output[-3000:]
    assert audit.writes(*run.tasks) == []
    files = {one.name for one in tmp_path.glob("*.yaml")}
    assert {f"40-console-plugin-{PLUGIN}.yaml", f"40-deployment-{SPACE}-{PLUGIN}.yaml"} <= files


def test_somebody_takes_the_plugin_out_of_the_list_and_drift_tells(
    cluster: Cluster, playbook: Playbook
) -> None:
    body = {"spec": {"plugins": OTHERS}}
    cluster.client.patch("operator.openshift.io/v1", "consoles", "cluster", None, body)
    variables = {"gpu_pools": POOLS, "gpu_monitoring_console": True}
    run = playbook.playbook("drift", "--tags gpu_monitoring", **variables)
    assert run.failure["msg"].startswith("DRIFT-FOUND: 1 object differs from gpu_pools: Console cluster.")
    assert "accelerators.openshift.monitor_gpus -e @FILE" in run.output
    assert plugins(cluster) == OTHERS


def test_the_plugin_goes_and_the_entries_of_others_stay(cluster: Cluster, accounts: Accounts) -> None:
    monitored(accounts, gpu_monitoring_console=True)
    assert plugins(cluster) == [*OTHERS, PLUGIN]
    _run, found = monitored(accounts, gpu_monitoring_state="absent")
    assert "pods begin again" in found["note"]
    assert (plugins(cluster), there(cluster)) == (OTHERS, [])
