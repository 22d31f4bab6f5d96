# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""enable_gpus.yml in trouble: each failure has its code, its layer and a remedy, and nothing was written that should not have been.

The tests follow a cluster's life, in their order: before the first node, operators, the whole run, a working stack, removal.
"""

from __future__ import annotations

import contextlib
import re
import threading
import typing as t
from pathlib import Path

import pytest
import yaml
from integration.conftest import Cluster
from integration.patience import SECONDS, until
from integration.playbook import ROOT, Playbook, Run
from integration.wire import Audit

from openshift_sandbox import faults, lifecycle, scenario
from openshift_sandbox.client import ApiError, Client
from openshift_sandbox.programs import olm
from openshift_sandbox.sandbox import Sandbox

Data = dict[str, t.Any]

POOLS: t.Final[list[Data]] = yaml.safe_load((ROOT / "examples/demo.yml").read_text())["gpu_pools"]
ENABLE, REMOVE = "enable_gpus", "remove_gpus"
POOL: t.Final = "accelerators.openshift/pool=demo"
OPERATORS: t.Final = "operators.coreos.com/v1alpha1"
# Troubles for which a catalogue is served anew.
CATALOGUE: t.Final = {"package_missing", "csv_failed", "foreign_csv", "resolution_failed"}
MACHINE_SETS: t.Final = ("machine.openshift.io/v1beta1", "machinesets", "openshift-machine-api", POOL)
MACHINES: t.Final = ("machine.openshift.io/v1beta1", "machines", "openshift-machine-api", POOL)
GPU: t.Final = "nvidia-gpu-operator"
POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies")
# A wait that should end early, or be over soon, must not hold the tests up for long when it does not.
QUICK: t.Final = {
    "gpu_operator_grace": 3,
    "gpu_node_pool_capacity_timeout": 2,
    **{
        f"{role}_wait_timeout": 90
        for role in ("gpu_node_pool", "node_feature_discovery", "gpu_operator", "gpu_validation")
    },
}
COLOUR: t.Final = re.compile(r"\x1b\[[0-9;]*m")


class Demo(Playbook):
    """The checkout's ansible.cfg shows the verdict below the recap; so do these runs."""

    @contextlib.contextmanager
    def removed(self, tag: str) -> t.Iterator[None]:
        """What the runs inside make is taken away again, whatever happens."""
        try:
            yield
        finally:
            assert self.remove(tag).rc == 0

    def enable(self, *tags: str, **more: t.Any) -> Run:
        return self._of_pools(ENABLE, tags, more)

    def remove(self, *tags: str, **more: t.Any) -> Run:
        return self._of_pools(REMOVE, tags, more)

    def _of_pools(self, name: str, tags: t.Sequence[str], more: Data) -> Run:
        return self.playbook(
            name, *(["--tags", ",".join(tags)] if tags else []), **{"gpu_pools": POOLS, **QUICK, **more}
        )

    def _environment(self) -> dict[str, str]:
        return super()._environment() | {"ANSIBLE_CALLBACKS_ENABLED": "accelerators.openshift.verdict"}


@pytest.fixture(scope="module")
def demo(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Demo]:
    cluster.needs_sandbox()
    made = Demo(tmp_path_factory.mktemp("troubles"), cluster.kubeconfig)
    yield made
    assert made.remove().rc == 0


@contextlib.contextmanager
def trouble(cluster: Cluster, name: str) -> t.Iterator[None]:
    """The troubles of a scenario's file, brought into the running sandbox and out of it again."""
    sandbox = cluster.needs_sandbox()
    scripted = [dict(one) for one in scenario.load(name).troubles]
    assert scripted, f"scenario {name} has no trouble"
    for one in scripted:
        faults.add(sandbox, one["type"], {key: value for key, value in one.items() if key != "type"})
    olm.wait_ready(sandbox, steady=2.0 if CATALOGUE & {one["type"] for one in scripted} else 0.0)
    try:
        yield
    finally:
        for one in scripted:
            faults.clear(sandbox, one["type"], {key: value for key, value in one.items() if key != "type"})
        olm.wait_ready(sandbox)


def verdict(run: Run, code: str, layer: str) -> Data:
    """The failure that ended the run, as the task returned it and as the last lines of the output show it."""
    assert run.rc != 0, run.output
    task = run.failure
    found: Data = next((item for item in task.result.get("results", []) if item.get("failed")), task.result)
    assert (found.get("code"), found.get("layer")) == (code, layer), found.get("msg", found)
    assert found["remedy"]
    said, remedy = COLOUR.sub("", run.output).rstrip().splitlines()[-2:]
    assert said.startswith(f"localhost: {code}: ")
    assert remedy == f"Remedy: {found['remedy']}"
    return found


def gpu_nodes(cluster: Cluster) -> list[str]:
    return sorted(node["metadata"]["name"] for node in cluster.client.list("v1", "nodes", labels=POOL))


def policies(cluster: Cluster) -> list[Data]:
    """None while their CRD is not there."""
    with contextlib.suppress(ApiError):
        return cluster.client.list(*POLICIES)
    return []


def pool(**changes: t.Any) -> list[Data]:
    return [POOLS[0] | changes]


# Wrong input: told with its path before the first request


WRONG = [
    (pool(replica=2), "POOL-UNKNOWN-KEY", ["gpu_pools[0].replica"], "replicas"),
    (
        pool(candidates=[{"instance_type": "g4dn.xlrage", "zones": ["us-east-2a"]}]),
        "POOL-INSTANCE-TYPE",
        ["gpu_pools[0].candidates[0]"],
        "g4dn.xlarge",
    ),
    (pool(sharing={"mig": {"slices": 7}}), "POOL-GEOMETRY", ["gpu_pools[0].sharing.mig"], ""),
    (
        [
            *pool(replicas="two", market="cheap"),
            POOLS[0] | {"name": "b", "taints": [{"key": "x", "effect": "Never"}], "labels": "team=ml"},
        ],
        "POOL-INVALID",
        [
            "gpu_pools[0].replicas",
            "gpu_pools[0].market",
            "gpu_pools[1].taints[0].effect",
            "gpu_pools[1].labels",
        ],
        "NoExecute",
    ),
]


@pytest.mark.parametrize(("pools", "code", "paths", "hint"), WRONG, ids=[case[1] for case in WRONG])
def test_wrong_pools(
    demo: Demo, audit: Audit, pools: list[Data], code: str, paths: list[str], hint: str
) -> None:
    run = demo.enable(gpu_pools=pools)
    found = verdict(run, code, "input")
    assert [path for path in paths if path not in found["message"]] == []
    assert hint in found["message"] + found["remedy"]
    assert audit.of(*run.tasks) == []


# Before the first node


def test_rights_are_missing(cluster: Cluster, demo: Demo, audit: Audit) -> None:
    run = demo.enable(
        gpu_cluster_connection={
            "kubeconfig": str(cluster.needs_sandbox().directory / "kubeconfig-restricted")
        }
    )
    found = verdict(run, "API-FORBIDDEN", "api")
    assert "create machinesets" in found["message"]
    assert "Grant verb create on resource machinesets" in found["remedy"]
    assert audit.writes(*run.tasks) == []


def test_the_operator_is_in_no_catalogue(cluster: Cluster, demo: Demo, audit: Audit) -> None:
    with trouble(cluster, "operator-missing"):
        run = demo.enable()
    found = verdict(run, "OLM-NO-PACKAGE", "olm")
    assert "gpu-operator-certified" in found["message"]
    assert "oc get packagemanifests" in found["remedy"]
    assert audit.writes(*run.tasks) == []
    assert gpu_nodes(cluster) == []


@pytest.mark.parametrize(
    ("name", "code", "text", "remedy"),
    [
        ("no-capacity", "MACH-CAPACITY", "InsufficientInstanceCapacity", "candidates"),
        (
            "quota-exceeded",
            "MACH-QUOTA",
            "You have requested more vCPU capacity than your current vCPU limit of 0 allows",
            "Service Quotas",
        ),
    ],
    ids=["capacity", "quota"],
)
def test_the_cloud_gives_no_machine(
    cluster: Cluster, demo: Demo, audit: Audit, name: str, code: str, text: str, remedy: str
) -> None:
    with demo.removed("gpu_node_pool"), trouble(cluster, name):
        run = demo.enable("gpu_node_pool")
        found = verdict(run, code, "machine")
        assert text in found["message"], found["message"]
        assert "g4dn.xlarge in us-east-2" in found["message"]
        assert remedy in found["remedy"]
        assert [line for line in found["evidence"] if text in line]
        assert (found["nodes"], found["attempts"][0]["obtained"]) == ([], 0)
        assert found["duration"] < QUICK["gpu_node_pool_wait_timeout"] / 2
        # two sets made, and taken away again
        assert len(audit.writes(*run.tasks)) == 4
        assert cluster.client.list(*MACHINE_SETS) == []
    assert cluster.client.list(*MACHINES) == []


# Operators


def test_a_plan_with_a_foreign_csv(cluster: Cluster, demo: Demo, audit: Audit) -> None:
    with trouble(cluster, "foreign-csv"), demo.removed("gpu_operator"):
        run = demo.enable("gpu_operator")
        found = verdict(run, "OLM-FOREIGN-CSV", "olm")
        assert "kernel-module-management" in found["message"]
        assert "allow_csvs" in found["remedy"]
        assert [
            line
            for line in found["evidence"]
            if line.startswith("gpu-operator-certified") and line.endswith(": asked for")
        ]
        plans = cluster.client.list(OPERATORS, "installplans", GPU)
        assert [(plan["spec"]["approved"], plan["status"]["phase"]) for plan in plans] == [
            (False, "RequiresApproval")
        ]
        assert [
            line for line in audit.writes(*run.tasks) if "installplans" in line or "clusterpolic" in line
        ] == []
    assert cluster.client.list(OPERATORS, "subscriptions", GPU) == []


def test_a_csv_that_fails(cluster: Cluster, demo: Demo, audit: Audit) -> None:
    with trouble(cluster, "csv-failed"), demo.removed("gpu_operator"):
        run = demo.enable("gpu_operator")
        found = verdict(run, "OLM-CSV-FAILED", "olm")
        assert "InstallCheckFailed" in found["message"]
        assert GPU in found["remedy"]
        assert [line for line in audit.writes(*run.tasks) if "clusterpolic" in line] == []
    assert cluster.client.list(OPERATORS, "subscriptions", GPU) == []


# The whole run, with the API away in the middle


@pytest.fixture(scope="module")
def whole(cluster: Cluster, demo: Demo) -> Run:
    """The API is silent for 20 s once the ClusterPolicy is there. Were it to refuse connections, Kubernetes' own controllers would need a minute more."""
    sandbox = cluster.needs_sandbox()

    def outage() -> None:
        until(lambda: policies(cluster), "the ClusterPolicy")
        faults.api_down(sandbox, 20, hang=True)

    away = threading.Thread(target=outage)
    away.start()
    run = demo.enable(gpu_operator_wait_timeout=300)
    away.join(timeout=SECONDS)
    assert not away.is_alive()
    assert run.rc == 0, run.output
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
        "present | Bring the GPU stack to every node of the pools",
        "present | Cap the GPUs of namespaces",
        "present | Create the instance, expect the labels of GPUs",
        "present | Create the priority classes",
        "present | Install the operator",
        "present | Install the operator",
        "present | Run a CUDA program on every node of the pools",
        "present | Wait until every machine is a ready node",
    ]


def test_the_second_run_changes_nothing(demo: Demo, audit: Audit, whole: Run) -> None:
    again = demo.enable()
    assert (again.rc, again.changed) == (0, 0), again.output
    assert audit.of(*again.tasks)
    assert audit.writes(*again.tasks) == []


# A stack that worked


def test_cuda_fails_on_one_node(cluster: Cluster, demo: Demo, audit: Audit, whole: Run) -> None:
    with trouble(cluster, "cuda-fails-one-node"):
        run = demo.enable("gpu_validation", gpu_validation_repeat=True)
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
    assert all(line.startswith(bad[0]) for line in found["evidence"])
    assert {node["name"]: node["validated"] for node in found["workload"]["nodes"]} == {
        name: int(name not in bad) for name in gpu_nodes(cluster)
    }
    assert all("pods" in line or "configmaps gpu-validation" in line for line in audit.writes(*run.tasks)), (
        audit.writes(*run.tasks)
    )


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
    for node in cluster.client.list("v1", "nodes", labels=POOL):
        kept = [taint for taint in node["spec"]["taints"] if taint["key"] != "example.com/maintenance"]
        cluster.client.patch("v1", "nodes", node["metadata"]["name"], None, {"spec": {"taints": kept}})
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


def tainted(node: Data) -> bool:
    return any(taint["key"] == "example.com/maintenance" for taint in node["spec"].get("taints") or [])


def test_the_driver_crashes(cluster: Cluster, demo: Demo, audit: Audit, whole: Run) -> None:
    with trouble(cluster, "driver-crashloop"):
        run = demo.enable("gpu_operator")
    found = verdict(run, "GPU-DRV-NODTK", "gpu")
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
    assert gpu_nodes(cluster) == client.list(*MACHINES) == []
    for namespace in ("openshift-nfd", GPU):
        assert client.list(OPERATORS, "subscriptions", namespace) == []
        assert client.list("apps/v1", "daemonsets", namespace) == []
    assert client.get("v1", "namespaces", "gpu-validation") is None
    assert client.list("v1", "resourcequotas", "team-a") == []


# Clusters of another shape


@pytest.mark.parametrize(
    ("name", "code", "text", "remedy"),
    [
        ("no-machine-api", "MACH-NO-API", "platform is None", "existing.node_selector"),
        (
            "no-worker-machine-set",
            "MACH-NO-REFERENCE",
            "no worker machine set in zone us-east-2a to copy from",
            "Make a worker machine set first",
        ),
    ],
    ids=["no-machine-api", "no-worker-machine-set"],
)
def test_a_cluster_that_makes_no_machines(
    cluster: Cluster, tmp_path: Path, name: str, code: str, text: str, remedy: str
) -> None:
    cluster.needs_sandbox()
    sandbox = Sandbox(tmp_path / "sandbox")
    try:
        lifecycle.up(sandbox, name, fresh=True)
        run = Demo(tmp_path, sandbox.kubeconfig).enable()
        found = verdict(run, code, "machine")
        assert text in found["message"]
        assert remedy in found["remedy"]
        assert (
            Audit(sandbox.directory / "audit.log", Client(sandbox.kubeconfig, "integration-tests")).writes(
                *run.tasks
            )
            == []
        )
    finally:
        lifecycle.down(sandbox)
