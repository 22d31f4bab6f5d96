# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""enable_gpus.yml during an API outage, on a stack in trouble, and its removal: codes and remedies."""

from __future__ import annotations

import json
import threading
import typing as t
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest
import yaml
from cluster import Cluster
from integration.patience import SECONDS, until
from integration.playbook import ROOT, Data, Run
from integration.troubles.demo import (
    GPU,
    MACHINES,
    OPERATORS,
    POOL,
    POOLS,
    Demo,
    gpu_nodes,
    policies,
    trouble,
    verdict,
)
from integration.troubles.taints import tainted, untaint
from integration.wire import Audit

from openshift_sandbox import faults

pytestmark = pytest.mark.story("a cluster's life: the whole run, a working stack in trouble, removal")


@pytest.fixture(scope="module")
def whole(cluster: Cluster, demo: Demo) -> Run:
    """Run enable_gpus.yml; the API server is silent for 20 s once the ClusterPolicy exists.

    If it refused connections, Kubernetes' own controllers would need a minute more.
    """
    sandbox = cluster.needs_sandbox()
    been: list[bool] = []

    def outage() -> None:
        until(lambda: policies(cluster), "the ClusterPolicy", 4 * SECONDS)
        faults.api_down(sandbox, 20, hang=True)
        been.append(True)

    away = threading.Thread(target=outage)
    away.start()
    run = demo.enable(gpu_operator_wait_timeout=300, gpu_report_dir=str(demo.directory / "report"))
    away.join(timeout=SECONDS)
    assert not away.is_alive()
    assert run.rc == 0, run.output
    assert been, "the API was never away"
    return run


def test_twenty_seconds_without_api(cluster: Cluster, demo: Demo, whole: Run) -> None:
    client = cluster.client
    assert len(gpu_nodes(cluster)) == len(client.list(*MACHINES)) == 2
    for namespace in ("openshift-nfd", GPU):
        assert len(client.list(OPERATORS, "subscriptions", namespace)) == 1
        assert len(client.list("operators.coreos.com/v1", "operatorgroups", namespace)) == 1
        assert [plan["spec"]["approved"] for plan in client.list(OPERATORS, "installplans", namespace)] == [
            True
        ]
    assert len(policies(cluster)) == 1
    assert client.list("v1", "pods", "gpu-validation") == []
    assert sorted(task.name.rpartition(" : ")[2] for task in whole.tasks if task.changed) == [
        "ask | Ask for the operators",
        "present | Bring the GPU stack to every node of the pools (requested)",
        "present | Cap the GPUs of namespaces (ready)",
        "present | Create the instance, expect the labels of GPUs (requested)",
        "present | Create the priority classes",
        "present | Run a CUDA program on every node of the pools, and prove what the pools say",
        "present | Wait until every machine is a ready node, and have the pools scaled and watched",
        "request | Ask for the machines of all pools",
    ]


def test_the_report_of_the_whole_run(cluster: Cluster, demo: Demo, whole: Run) -> None:
    folder = demo.directory / "report"
    report = read(folder)
    assert report["run"]["state"] == "passed", report["findings"]
    assert (report["playbooks"], report["run"]["check_mode"]) == (["enable_gpus"], False)
    nodes = {node["name"]: node for node in report["nodes"]}
    assert sorted(nodes) == gpu_nodes(cluster)
    for node in nodes.values():
        assert (node["pool"], node["type"], node["verdict"]) == ("demo", "g4dn.xlarge", "ready")
        assert [node[key] for key in ("expected", "allocatable", "validated")] == [1, 1, 1]
        assert {"machine", "nfd labels", "driver", "allocatable", "validated"} <= set(node["stages"])
    assert [(one["namespace"], one["limits"][0]["hard"]) for one in report["quotas"]] == [("team-a", "2")]
    ours = [
        task
        for task in whole.tasks
        if task.name.rpartition(" : ")[2] in {one["task"] for one in report["tasks"]}
    ]
    assert len(ours) > 10
    assert sum(one["state"] == "changed" for one in report["tasks"]) == whole.changed
    root = ET.fromstring((folder / "junit.xml").read_text())
    assert (root.get("failures"), root.get("skipped")) == ("0", "0")
    # Beside the tasks: each node, and its two programs.
    summary = json.loads((folder / "ctrf.json").read_text())["results"]["summary"]
    assert (summary["tests"], summary["failed"]) == (len(report["tasks"]) + len(nodes) * 3, 0)
    assert (
        'accelerators_openshift_run_failed{cluster="localhost"} 0\n' in (folder / "report.prom").read_text()
    )
    assert (
        "2 of 2 nodes of 1 pool are ready; 2 of 2 GPUs passed validation."
        in (folder / "report.html").read_text()
    )
    user = yaml.safe_load(demo.kubeconfig.read_text())["users"][0]["user"]
    secrets = [str(demo.kubeconfig), str(demo.directory), str(ROOT), *map(str, user.values())]
    assert {path.name for path in folder.iterdir()} == {
        *("report.json", "ctrf.json", "junit.xml", "report.prom", "report.html"),
    }
    for path in folder.iterdir():
        assert [one for one in secrets if one in path.read_text()] == [], path.name


def test_a_look_at_the_cluster_has_no_name_and_writes_nothing(
    cluster: Cluster, demo: Demo, audit: Audit, whole: Run
) -> None:
    folder = demo.directory / "look"
    run = demo.playbook("conformance", gpu_pools=POOLS, gpu_report_dir=str(folder))
    assert (run.rc, run.changed) == (0, 0), run.output
    assert audit.writes(*run.tasks) == []
    text = (folder / "conformance.json").read_text()
    found = json.loads(text)
    assert [node["name"] for node in found["nodes"]] == ["node-1", "node-2"]
    assert found["nodes"][0]["labels"]["nvidia.com/gpu.count"] == "1"
    assert found["objects"]["ClusterVersion"][0]["status"]["desired"] == "4.22.5"
    assert {"ClusterPolicy", "ClusterServiceVersion", "DaemonSet", "Pod"} <= set(found["objects"])
    assert {stage["verdict"] for stage in found["stack"]["stages"]} == {"ready"}
    assert [one["kind"] for one in found["unread"]] == ["NicClusterPolicy"]
    names = [node["metadata"]["name"] for node in cluster.client.list("v1", "nodes")]
    assert [name for name in names if name in text] == []
    assert {path.name for path in folder.iterdir()} >= {"conformance.json", "report.json"}


def test_a_bundle_for_support_has_no_secret_and_writes_nothing(demo: Demo, audit: Audit, whole: Run) -> None:
    folder = demo.directory / "bundle"
    run = demo.playbook("must_gather", gpu_gather_dir=str(folder))
    assert (run.rc, run.changed) == (0, 0), run.output
    assert audit.writes(*run.tasks) == []
    asked = audit.of(*run.tasks)
    assert 60 < len(asked) < 160
    assert [one.uri for one in asked if "/secrets" in one.uri] == []
    found = json.loads((folder / "index.json").read_text())
    assert (found["cut"], found["unread"]) == ([], [])
    names = {path.name for path in folder.iterdir()}
    assert names == {"index.json", *found["files"]}
    assert {"cluster_policy.yaml", "gpu_nodes.status", "gpu_operator_pod.log", "nfd_events.txt"} <= names
    assert "Nothing is wrong on 2 GPU nodes." in (folder / "summary.txt").read_text()
    assert (folder / "version").read_text().splitlines()[0] == "NVIDIA GPU Operator"
    assert secrets_in(demo, folder) == []


def secrets_in(demo: Demo, folder: Path) -> list[str]:
    """Return the files of a bundle with a credential or a path of this machine."""
    user = yaml.safe_load(demo.kubeconfig.read_text())["users"][0]["user"]
    secrets = [str(demo.kubeconfig), str(demo.directory), str(ROOT), *map(str, user.values())]
    texts = {path.name: path.read_text() for path in folder.iterdir()}
    return [name for name, text in texts.items() if any(secret in text for secret in secrets)]


def read(folder: Path) -> Data:
    """Return the report, which keeps to its schema."""
    report = json.loads((folder / "report.json").read_text())
    schema = json.loads((ROOT / "docs/report.schema.json").read_text())
    jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker()).validate(report)
    return t.cast(Data, report)


def test_the_second_run_changes_nothing(demo: Demo, audit: Audit, whole: Run) -> None:
    again = demo.enable()
    assert (again.rc, again.changed) == (0, 0), again.output
    assert audit.of(*again.tasks)
    assert audit.writes(*again.tasks) == []


def test_cuda_fails_on_one_node(cluster: Cluster, demo: Demo, audit: Audit, whole: Run) -> None:
    folder = demo.directory / "report"
    with trouble(cluster, "cuda-fails-one-node"):
        run = demo.enable("gpu_validation", gpu_validation_repeat=True, gpu_report_dir=str(folder))
    found = verdict(run, "WORK-FAILED", "workload")
    bad = [
        node["metadata"]["name"]
        for node in cluster.client.list(
            "v1", "nodes", labels=f"{POOL},topology.kubernetes.io/zone=us-east-2b"
        )
    ]
    assert bad[0] in found["message"]
    assert "exit code 1" in found["message"]
    assert "unspecified launch failure" in found["message"]
    assert all(bad[0] in line for line in found["evidence"]), found["evidence"]
    assert {node["name"]: node["validated"] for node in found["workload"]["nodes"]} == {
        name: int(name not in bad) for name in gpu_nodes(cluster)
    }
    assert all(
        any(word in line for word in ("pods", "jobs", "configmaps gpu-validation"))
        for line in audit.writes(*run.tasks)
    ), audit.writes(*run.tasks)
    report = read(folder)
    assert report["run"]["state"] == "failed"
    assert [(one["code"], one["remedy"]) for one in report["findings"]] == [("WORK-FAILED", found["remedy"])]
    assert {node["name"]: node["verdict"] for node in report["nodes"]} == {
        name: "failed" if name in bad else "ready" for name in gpu_nodes(cluster)
    }
    assert json.loads((folder / "must-gather/index.json").read_text())["files"]["gpu_nodes.status"]
    assert f"A bundle for support is in {folder}/must-gather" in run.output
    assert secrets_in(demo, folder / "must-gather") == []


def test_the_quota_is_smaller_than_the_validation_needs(
    cluster: Cluster, demo: Demo, audit: Audit, whole: Run
) -> None:
    with trouble(cluster, "validation-quota"):
        capped = until(
            lambda: [
                one
                for one in cluster.client.list("v1", "resourcequotas", "gpu-validation")
                if one.get("status", {}).get("used")
            ],
            "the quota",
        )
        run = demo.enable("gpu_validation", gpu_validation_repeat=True)
    cluster.client.delete("v1", "resourcequotas", capped[0]["metadata"]["name"], "gpu-validation")
    found = verdict(run, "QUOTA-TOO-SMALL", "quota")
    assert "exceeded quota: set-by-a-colleague, requested: requests.nvidia.com/gpu=2" in found["message"]
    assert "gpu-validation" in found["remedy"]
    until(lambda: not cluster.client.list("v1", "pods", "gpu-validation"), "the pods gone")
    assert audit.writes(*run.tasks) == []


def test_a_taint_that_no_operand_tolerates(cluster: Cluster, demo: Demo, audit: Audit, whole: Run) -> None:
    with trouble(cluster, "untolerated-taint"):
        until(
            lambda: all(tainted(node) for node in cluster.client.list("v1", "nodes", labels=POOL)),
            "the taints",
        )
        run = demo.enable("gpu_operator")
    untaint(cluster.client)
    found = verdict(run, "GPU-TAINT", "gpu")
    first = gpu_nodes(cluster)[0]
    assert (
        f"Node {first}: taint example.com/maintenance=disks:NoSchedule is not tolerated by"
        in found["message"]
    )
    assert f"oc adm taint nodes {first} example.com/maintenance:NoSchedule-" in found["remedy"]
    assert [line.partition(":")[0] for line in found["evidence"]] == gpu_nodes(cluster)
    assert (found["special_resource"]["state"], found["special_resource"]["reason"]) == (
        "ready",
        "Reconciled",
    )
    assert audit.writes(*run.tasks) == []


def test_the_driver_crashes(cluster: Cluster, demo: Demo, audit: Audit, whole: Run) -> None:
    with trouble(cluster, "driver-crashloop"):
        run = demo.enable("gpu_operator")
    found = verdict(run, "GPU-DRV-NO-DTK", "gpu")
    assert (
        f"Node {gpu_nodes(cluster)[0]}: driver: container nvidia-driver-ctr of pod nvidia-driver-daemonset-"
        in found["message"]
    )
    assert "CrashLoopBackOff" in found["message"]
    assert found["message"].endswith(
        "error: failed to install elfutils packages. RHEL entitlement may be improperly deployed."
    )
    assert "driver-toolkit" in found["remedy"]
    assert [line.partition(":")[0] for line in found["evidence"][:2]] == gpu_nodes(cluster)
    assert audit.writes(*run.tasks) == []


def test_a_policy_that_is_ready_without_gpu_nodes(
    cluster: Cluster, demo: Demo, audit: Audit, whole: Run
) -> None:
    with trouble(cluster, "no-gpu-nodes-ready"):
        early = demo.enable("node_feature_discovery", node_feature_discovery_grace=5)
        until(lambda: "NoGPUNodes" in str(policies(cluster)), "NoGPUNodes")
        run = demo.enable("gpu_operator")
    missing = verdict(early, "NFD-LABEL-MISSING", "nfd")
    assert "lacks feature.node.kubernetes.io/pci-10de.present=true" in missing["message"]
    assert [line.partition(":")[0] for line in missing["evidence"]] == gpu_nodes(cluster)
    found = verdict(run, "GPU-NFD-EMPTY", "gpu")
    assert "is ready with reason NoGPUNodes" in found["message"]
    assert (found["special_resource"]["state"], found["special_resource"]["reason"]) == (
        "ready",
        "NoGPUNodes",
    )
    assert audit.writes(*early.tasks, *run.tasks) == []


def test_all_is_well_once_the_troubles_are_gone(demo: Demo, audit: Audit, whole: Run) -> None:
    run = demo.enable(gpu_operator_grace=30)
    assert (run.rc, run.changed) == (0, 0), run.output
    assert audit.writes(*run.tasks) == []


def test_removal_takes_away_what_was_made(cluster: Cluster, demo: Demo, whole: Run) -> None:
    run = demo.remove()
    assert run.rc == 0, run.output
    client = cluster.client
    assert gpu_nodes(cluster) == []
    assert client.list(*MACHINES) == []
    for namespace in ("openshift-nfd", GPU):
        assert client.list(OPERATORS, "subscriptions", namespace) == []
        assert client.list("apps/v1", "daemonsets", namespace) == []
    assert client.get("v1", "namespaces", "gpu-validation") is None
    assert client.list("v1", "resourcequotas", "team-a") == []
