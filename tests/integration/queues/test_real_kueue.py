# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""examples/kueue.yml on a real Kueue: Jobs are admitted, one borrows, and ends for the owner of the GPUs."""

from __future__ import annotations

import dataclasses
import typing as t

import pytest
import yaml
from cluster import Cluster, must_get
from integration.patience import until
from integration.playbook import ROOT, Playbook, Run
from integration.troubles.demo import PATIENT
from integration.wire import Audit

from openshift_sandbox import build, scenario

SCENARIO: t.Final = "real-queues"
pytestmark = [
    pytest.mark.long("few have built Kueue; the unit tests of _queue hold each step in every run"),
    pytest.mark.skipif(
        not build.built("kueue"), reason="Kueue is not built: run `sandbox build --with kueue`"
    ),
    pytest.mark.story("two teams share a pool, from the first run to the removal"),
]
VERSION: t.Final = "kueue.x-k8s.io/v1beta2"
GPU: t.Final = "nvidia.com/gpu"
EXAMPLE: t.Final = yaml.safe_load((ROOT / "examples/kueue.yml").read_text())
TEAMS: t.Final = {"research": "team-a", "products": "team-b"}
# The sandbox ends pods with this label only after the delay `workload`.
LASTING: t.Final = {"accelerators.openshift/benchmark": "train"}
NOTHING: t.Final[dict[str, list[str]]] = {
    kind: [] for kind in ("resourceflavors", "clusterqueues", "localqueues", "topologies")
}
Object = dict[str, t.Any]


def play(playbook: Playbook, name: str, **more: t.Any) -> Run:
    return playbook.playbook(name, **{**EXAMPLE, **PATIENT, **more})


def submit(cluster: Cluster, queue: str, name: str, pods: int, gpus: int = 1) -> None:
    """Create a Job of pods with GPUs, as a team does: not suspended, without a node selector.

    gpus: of each pod.
    """
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {GPU: str(gpus)}}
    container = {"name": "train", "image": "example.com/train", "resources": resources}
    template = {
        "metadata": {"labels": LASTING},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    labels = {"kueue.x-k8s.io/queue-name": queue}
    cluster.client.create(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": TEAMS[queue], "labels": labels},
            "spec": {"parallelism": pods, "completions": pods, "template": template},
        }
    )


def near(cluster: Cluster, level: str) -> None:
    """Create a Job of two pods without a GPU, whose nodes have to share a domain of this level."""
    container = {"name": "near", "image": "example.com/near", "resources": {"requests": {"cpu": "1"}}}
    annotations = {"kueue.x-k8s.io/podset-required-topology": level}
    template = {
        "metadata": {"labels": LASTING, "annotations": annotations},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    labels = {"kueue.x-k8s.io/queue-name": "near"}
    cluster.client.create(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "near", "namespace": "team-a", "labels": labels},
            "spec": {"parallelism": 2, "completions": 2, "template": template},
        }
    )


def conditions(cluster: Cluster, queue: str, job: str) -> dict[str, tuple[str, str]]:
    """Return status and reason of each condition of the Workload of a Job."""
    for one in cluster.client.list(VERSION, "workloads", TEAMS[queue]):
        if one["metadata"]["ownerReferences"][0]["name"] == job:
            found = one.get("status", {}).get("conditions", [])
            return {each["type"]: (each["status"], each["reason"]) for each in found}
    return {}


def is_admitted(cluster: Cluster, queue: str, job: str) -> bool:
    return conditions(cluster, queue, job).get("Admitted", ("", ""))[0] == "True"


def pods(cluster: Cluster, queue: str, job: str) -> list[Object]:
    """Return the pods of a Job that run."""
    found = cluster.client.list("v1", "pods", TEAMS[queue], labels=f"job-name={job}")
    return [one for one in found if one.get("status", {}).get("phase") == "Running"]


def queue_objects(cluster: Cluster) -> dict[str, list[str]]:
    kinds = ("resourceflavors", "clusterqueues", "localqueues", "topologies", "workloads")
    return {
        kind: sorted(one["metadata"]["name"] for one in cluster.client.list(VERSION, kind)) for kind in kinds
    }


def test_the_example_makes_queues_that_kueue_calls_active(cluster: Cluster, playbook: Playbook) -> None:
    run = play(playbook, "enable_gpus")
    assert run.rc == 0, run.output[-4000:]
    assert queue_objects(cluster) == {
        "resourceflavors": ["training"],
        "clusterqueues": ["products", "research"],
        "localqueues": ["products", "research"],
        "topologies": [],
        "workloads": [],
    }
    for queue in TEAMS:
        live = must_get(cluster.client, VERSION, "clusterqueues", queue)
        assert live["spec"]["cohortName"] == "gpus"
        (active,) = [one for one in live["status"]["conditions"] if one["type"] == "Active"]
        assert (active["status"], active["reason"]) == ("True", "Ready")


def test_a_second_run_writes_nothing(playbook: Playbook, audit: Audit) -> None:
    since = audit.position()
    again = play(playbook, "enable_gpus")
    assert (again.rc, again.changed) == (0, 0), again.output[-4000:]
    audit.flush()
    assert audit.written(since) == []


def test_a_quota_is_handed_over_so_that_an_admitted_job_gets_its_pods(
    cluster: Cluster, playbook: Playbook
) -> None:
    """Kueue admits the Job while the quota refuses its pods. The next run leaves the limit to the queue."""
    hard = {f"requests.{GPU}": 1, "requests.memory": "64Gi"}
    made = playbook.module("gpu_quota", namespace="team-a", hard=hard)
    assert not made.failed, made.result
    submit(cluster, "research", "refused", pods=2, gpus=2)
    until(lambda: is_admitted(cluster, "research", "refused"), "Kueue admits the Job")

    def refusals() -> list[str]:
        found = [str(one.get("message")) for one in cluster.client.list("v1", "events", "team-a")]
        return [one for one in found if "exceeded quota: gpu-quota" in one]

    until(refusals, "the quota refuses the pods of the Job")
    assert cluster.client.list("v1", "pods", "team-a", labels="job-name=refused") == []
    run = play(playbook, "enable_gpus")
    assert run.rc == 0, run.output[-4000:]
    quota = must_get(cluster.client, "v1", "resourcequotas", "gpu-quota", "team-a")
    assert quota["spec"]["hard"] == {"requests.memory": "64Gi"}

    def succeeded() -> bool:
        live = must_get(cluster.client, "batch/v1", "jobs", "refused", "team-a")
        return bool(live.get("status", {}).get("succeeded") == 2)

    # The controller of Jobs tries again after a minute at most.
    until(succeeded, "both pods of the Job have run", 180)
    assert playbook.module("gpu_quota", namespace="team-a", state="absent").changed


def test_a_job_borrows_what_the_other_team_does_not_use(cluster: Cluster) -> None:
    sandbox = cluster.needs_sandbox()
    # Only now: the programs of the validation would take as long.
    scenario.save(dataclasses.replace(sandbox.scenario, delays={"workload": 60}), sandbox.directory)
    submit(cluster, "products", "borrower", 6)
    running = until(
        lambda: len(found := pods(cluster, "products", "borrower")) == 6 and found, "six pods run"
    )
    assert {one["spec"]["nodeSelector"]["accelerators.openshift/pool"] for one in running} == {"training"}
    assert {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"} in (
        running[0]["spec"]["tolerations"]
    )

    def used() -> tuple[str, str]:
        """Return the GPUs that the queue uses, and those that it borrowed."""
        (usage,) = must_get(cluster.client, VERSION, "clusterqueues", "products")["status"]["flavorsUsage"]
        (gpus,) = [one for one in usage["resources"] if one["name"] == GPU]
        return gpus["total"], gpus["borrowed"]

    # Kueue writes the usage a moment after the pods are there.
    until(lambda: used() == ("6", "4"), "the queue uses six GPUs and borrowed four")


def test_nothing_is_lent_above_the_limit(cluster: Cluster) -> None:
    submit(cluster, "products", "greedy", 1)
    until(
        lambda: conditions(cluster, "products", "greedy").get("QuotaReserved", ("", ""))[0] == "False",
        "the Job waits",
    )
    assert must_get(cluster.client, "batch/v1", "jobs", "greedy", TEAMS["products"])["spec"]["suspend"]
    assert cluster.client.delete("batch/v1", "jobs", "greedy", TEAMS["products"])


def test_the_owner_gets_its_gpus_back(cluster: Cluster) -> None:
    """Kueue ends the Job that borrows. It starts again when the owner's Job has ended."""
    submit(cluster, "research", "owner", 6)
    until(lambda: is_admitted(cluster, "research", "owner"), "the owner is admitted")
    found = conditions(cluster, "products", "borrower")
    assert found["Preempted"] == ("True", "InCohortReclamation")
    assert found["Admitted"][0] == "False"
    until(lambda: len(pods(cluster, "research", "owner")) == 6, "the owner's six pods run")
    until(lambda: is_admitted(cluster, "products", "borrower"), "the borrower is admitted again", 120)


def test_a_removal_names_the_jobs_and_then_ends_them(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    since = audit.position()
    refused = playbook.playbook("remove_gpus", "--tags gpu_policy", **EXAMPLE)
    assert refused.failure["code"] == "QUEUE-BUSY"
    assert "team-b/job-borrower" in refused.failure["msg"]
    audit.flush()
    assert audit.written(since) == []
    run = play(playbook, "remove_gpus", gpu_on_busy="drain")
    assert run.rc == 0, run.output[-4000:]
    assert must_get(cluster.client, "batch/v1", "jobs", "borrower", TEAMS["products"])["spec"]["suspend"]
    left = {kind: names for kind, names in queue_objects(cluster).items() if kind != "workloads"}
    assert left == NOTHING


def test_a_topology_places_the_pods_of_a_job_and_goes_with_the_queues(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    selector = {"topology.kubernetes.io/zone": "us-east-2b"}
    pool = {"name": "near", "existing": {"node_selector": selector, "expected": {GPU: 1}}}
    options = {
        "pools": playbook.module("gpu_plan", pools=[pool])["plan"]["pools"],
        "queues": [{"name": "near", "pools": [{"name": "near", "gpus": 1}], "namespaces": ["team-a"]}],
    }
    levels = ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]
    made = playbook.module("gpu_queue", **options, topology=levels)
    assert not made.failed, made.result
    again = playbook.module("gpu_queue", **options, topology=levels)
    assert (again.changed, audit.writes(again)) == (False, [])
    near(cluster, levels[0])

    def assignment() -> Object | None:
        for one in cluster.client.list(VERSION, "workloads", "team-a"):
            if one["metadata"]["ownerReferences"][0]["name"] == "near":
                (found,) = (one.get("status", {}).get("admission") or {}).get("podSetAssignments") or [{}]
                return t.cast("Object | None", found.get("topologyAssignment"))
        return None

    assert until(assignment, "the pods have a place")["levels"] == levels[1:]
    changed = playbook.module("gpu_queue", **options, topology=levels[:1])
    assert (changed["code"], audit.writes(changed)) == ("QUEUE-TOPOLOGY-FIXED", [])
    gone = playbook.module("gpu_queue", pools=options["pools"], state="absent", on_busy="drain")
    assert not gone.failed, gone.result
    assert {kind: names for kind, names in queue_objects(cluster).items() if kind in NOTHING} == NOTHING
