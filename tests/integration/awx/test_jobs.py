# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs of AWX: their credential, their artifacts, a fleet with a dead cluster, and a cancelled job."""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

import pytest
import yaml
from cluster import Cluster
from integration.awx.job import JOB, Controller, credential
from integration.playbook import ROOT
from integration.troubles.other_run import LEASE
from integration.wire import Audit

from openshift_sandbox import faults

Data = dict[str, t.Any]

POOLS: t.Final[Data] = yaml.safe_load((ROOT / "examples/demo.yml").read_text())
# Nothing listens here.
DEAD: t.Final = {"gpu_cluster_connection": {"host": "https://127.0.0.1:1", "api_key": "x"}}
EVENT: t.Final = 100 * 1024


@pytest.fixture(scope="module")
def environment(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[dict[str, str]]:
    cluster.needs_sandbox()
    yield credential(cluster, tmp_path_factory.mktemp("credential"))
    cluster.client.delete("rbac.authorization.k8s.io/v1", "clusterrolebindings", "awx-tests")
    cluster.client.delete("v1", "serviceaccounts", "awx", "default")


@pytest.fixture(scope="module")
def controller(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Controller:
    return Controller(tmp_path_factory.mktemp("jobs"), environment)


def test_a_plan_reads_its_credential_and_leaves_its_numbers(controller: Controller, audit: Audit) -> None:
    start = audit.position()
    job = controller.launch("plan", {"cluster": {}}, **POOLS)
    assert (job.rc, job.status) == (0, "successful"), job.output
    found = job.artifacts["gpu_run"]["cluster"]
    assert (found["playbook"], found["changed"], found["pools"]) == ("plan", False, ["demo"])
    assert found["check"] is False
    assert int(found["plan"]["create"]) > 2
    assert job.largest < EVENT
    audit.flush()
    assert audit.written(start) == []


def test_a_job_without_a_credential_is_told_to_name_one(tmp_path: Path) -> None:
    job = Controller(tmp_path, {}).launch("plan", {"cluster": {}}, **POOLS)
    assert job.rc == 2
    assert "CRED-NONE" in job.output
    assert "Launch the job with a credential: GPU cluster for one cluster, or GPU fleet" in job.output
    assert "KUBECONFIG;" not in job.output
    assert "export KUBECONFIG" not in job.output


def test_the_next_node_takes_the_artifacts_as_extra_variables(controller: Controller) -> None:
    shared = {"cluster": {"playbook": "plan", "pools": ["other"], "plan": {"create": 9}}}
    job = controller.launch("plan", {"cluster": {}}, gpu_run=shared, **POOLS)
    assert job.rc == 0, job.output
    assert job.artifacts["gpu_run"]["cluster"]["pools"] == ["demo"]


def test_a_diagnosis_of_a_cluster_without_the_stack_fails_with_a_code(
    controller: Controller, audit: Audit
) -> None:
    start = audit.position()
    job = controller.launch("diagnose", {"cluster": {}}, **POOLS)
    assert job.rc == 2, job.output
    assert "Fail if something is wrong" in job.output
    found = job.artifacts["gpu_run"]["cluster"]
    assert (found["playbook"], found["pools"]) == ("diagnose", ["demo"])
    assert len(found["codes"]) == 1
    audit.flush()
    assert audit.written(start) == []


def test_a_validation_of_a_cluster_without_nodes_fails_with_a_code(controller: Controller) -> None:
    job = controller.launch("validate", {"cluster": {}}, **POOLS)
    assert job.rc == 2, job.output
    assert "WORK-" in job.output


@pytest.mark.long("two sandboxes; molecule/awx has the jobs of one in make test")
def test_a_dead_cluster_stops_no_other_and_a_relaunch_takes_only_it(
    controller: Controller, environment: dict[str, str]
) -> None:
    live: Data = {
        "gpu_cluster_connection": {
            "host": environment["K8S_AUTH_HOST"],
            "api_key": environment["K8S_AUTH_API_KEY"],
            "ca_cert": environment["K8S_AUTH_SSL_CA_CERT"],
        }
    }
    fleet = Controller(controller._folder / "fleet", {})
    job = fleet.launch("plan", {"east": live, "west": DEAD, "north": live}, **POOLS)
    assert (job.rc, job.status) == (2, "failed")
    assert sorted(job.artifacts["gpu_run"]) == ["east", "north"]
    assert re.search(r"3 clusters: 2 done \(\d changed\), 1 failed: west \(API-UNREACHABLE\)", job.output)
    again = fleet.launch("plan", {"east": live, "west": live, "north": live}, limit="west", **POOLS)
    assert (again.rc, again.hosts) == (0, {"west"}), again.output


def is_held(cluster: Cluster) -> bool:
    """Return whether a task of the job holds the lease now: between two tasks nobody does."""
    spec = (cluster.client.get(*LEASE) or {}).get("spec") or {}
    return str(spec.get("holderIdentity")).endswith(f"|{JOB}")


def test_a_cancelled_job_leaves_a_lease_that_the_next_one_takes(
    controller: Controller, cluster: Cluster, audit: Audit
) -> None:
    start = audit.position()
    sandbox = cluster.needs_sandbox()
    # Between the look and the signal the task may end, so the job is cancelled in a task that takes a minute.
    faults.add(sandbox, "slow_driver", {"seconds": 60})
    try:
        job = controller.launch(
            "enable_gpus",
            {"cluster": {}},
            cancel=lambda: "clusterpolicies" in " ".join(audit.written(start)) and is_held(cluster),
            **POOLS,
        )
    finally:
        faults.clear(sandbox, "slow_driver", {})
    assert job.status == "canceled"
    lease = cluster.client.get(*LEASE)
    assert lease is not None
    assert str(lease["spec"]["holderIdentity"]).endswith(f"|{JOB}")
    removed = controller.launch("remove_gpus", {"cluster": {}}, **POOLS)
    assert removed.rc == 0, removed.output
    assert removed.artifacts["gpu_run"]["cluster"]["playbook"] == "remove_gpus"
