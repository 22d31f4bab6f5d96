# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool that lives is changed: labels, disks, fewer nodes, other machines; what runs on its nodes is never sent away unasked.

The tests follow one pool's life, in their order.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import threading
import time
import typing as t
from pathlib import Path

import pytest
import yaml
from integration.conftest import Cluster
from integration.patience import SECONDS, until
from integration.playbook import Playbook, Run, TaskResult
from integration.wire import Audit

from openshift_sandbox.client import ApiError

Data = dict[str, t.Any]

NAME: t.Final = "it-change"
POOL: t.Final = f"accelerators.openshift/pool={NAME}"
MACHINES: t.Final = ("machine.openshift.io/v1beta1", "machines", "openshift-machine-api")
SETS: t.Final = ("machine.openshift.io/v1beta1", "machinesets", "openshift-machine-api")
SPACE: t.Final = "it-change-work"
TAINT: t.Final = {"key": "nvidia.com/gpu", "value": "a", "effect": "NoSchedule"}
BASE: t.Final[Data] = {
    "name": NAME,
    "instance_type": "g4dn.xlarge",
    "zones": ["us-east-2a"],
    "replicas": 2,
    "labels": {"team": "ml", "tier": "one"},
    "taints": [TAINT],
    "wait_timeout": 120,
}
LONG: t.Final = 180.0


class Pool:
    """The pool as the module makes it and as the cluster holds it."""

    def __init__(self, cluster: Cluster, playbook: Playbook) -> None:
        self.client, self.playbook = cluster.client, playbook
        self.options = dict(BASE)

    def apply(self, check: bool = False, **changes: t.Any) -> TaskResult:
        """What is given with `keep_` is how the pool is from here on."""
        self.options |= {
            key.removeprefix("keep_"): value for key, value in changes.items() if key.startswith("keep_")
        }
        once = {key: value for key, value in changes.items() if not key.startswith("keep_")}
        return self.playbook.module("gpu_machineset", check=check, **{**self.options, **once})

    def resize(self, replicas: int) -> Run:
        """By the playbook; the pool is as it was but for that."""
        self.options["replicas"] = replicas
        return self.playbook.playbook(
            "resize_pool",
            gpu_pools=[{**self.described, "replicas": 5}],
            gpu_pool=NAME,
            gpu_replicas=replicas,
        )

    @property
    def described(self) -> Data:
        """As an entry of gpu_pools."""
        candidates = [{"instance_type": self.options["instance_type"], "zones": self.options["zones"]}]
        return {
            **{
                key: self.options[key]
                for key in ("name", "labels", "taints", "disk", "replicas")
                if key in self.options
            },
            "candidates": candidates,
        }

    @property
    def nodes(self) -> list[Data]:
        return self.client.list("v1", "nodes", labels=POOL)

    @property
    def names(self) -> set[str]:
        return {node["metadata"]["name"] for node in self.nodes}

    @property
    def machines(self) -> list[Data]:
        return self.client.list(*MACHINES, POOL)

    @property
    def set(self) -> Data:
        (one,) = self.client.list(*SETS, POOL)
        return one

    @property
    def disks(self) -> list[int]:
        return [
            one["spec"]["providerSpec"]["value"]["blockDevices"][0]["ebs"]["volumeSize"]
            for one in self.machines
        ]

    def is_tidy(self, replicas: int) -> bool:
        """No extra machine, no cordoned node, no replacement under way."""
        marked = "accelerators.openshift/replacing" in self.set["metadata"]["annotations"]
        cordoned = [node for node in self.nodes if node["spec"].get("unschedulable")]
        return (
            not marked
            and not cordoned
            and len(self.machines) == len(self.nodes) == self.set["spec"]["replicas"] == replicas
        )


@pytest.fixture(scope="module")
def pool(cluster: Cluster, playbook: Playbook) -> t.Iterator[Pool]:
    cluster.needs_sandbox()
    cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    made = Pool(cluster, playbook)
    done = made.apply()
    assert not done.failed, done.result
    yield made
    cluster.client.delete("v1", "namespaces", SPACE)
    gone = made.apply(state="absent", on_busy="drain", delete_emptydir=True, force=True)
    assert not gone.failed, gone.result


@contextlib.contextmanager
def working(pool: Pool, name: str, node: str, gpus: int = 1, **spec: t.Any) -> t.Iterator[None]:
    """A pod of nobody on that node; nodeName instead of the scheduler, which would want the device to be advertised."""
    resources = {"limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
    body: Data = {
        "nodeName": node,
        "containers": [{"name": "main", "image": "example.com/job", "resources": resources}],
        **spec,
    }
    pool.client.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": SPACE}, "spec": body}
    )
    running(pool, name)
    try:
        yield
    finally:
        pool.client.delete("v1", "pods", name, SPACE)
        until(lambda: pool.client.get("v1", "pods", name, SPACE) is None, f"pod {name} gone")


def running(pool: Pool, name: str) -> None:
    until(
        lambda: (
            ((pool.client.get("v1", "pods", name, SPACE) or {}).get("status") or {}).get("phase") == "Running"
        ),
        f"pod {name}",
    )


@contextlib.contextmanager
def served(pool: Pool, minimum: int) -> t.Iterator[None]:
    """Two pods of a Deployment on the pool's nodes, of which a disruption budget wants so many."""
    labels = {"app": "served"}
    spec: Data = {
        "nodeSelector": dict([POOL.split("=")]),
        "tolerations": [{"operator": "Exists"}],
        "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "main", "image": "example.com/served"}],
    }
    template = {"metadata": {"labels": labels}, "spec": spec}
    deployment: Data = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    place = {"name": "served", "namespace": SPACE}
    pool.client.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": place, "spec": deployment})
    budget = {"minAvailable": minimum, "selector": {"matchLabels": labels}}
    pool.client.apply(
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": place, "spec": budget}
    )
    until(
        lambda: (
            (pool.client.get("apps/v1", "deployments", "served", SPACE) or {})
            .get("status", {})
            .get("readyReplicas")
            == 2
        ),
        "the pods",
    )
    until(
        lambda: (
            (pool.client.get("policy/v1", "poddisruptionbudgets", "served", SPACE) or {})
            .get("status", {})
            .get("currentHealthy")
            == 2
        ),
        "the budget",
    )
    try:
        yield
    finally:
        pool.client.delete("apps/v1", "deployments", "served", SPACE)
        pool.client.delete("policy/v1", "poddisruptionbudgets", "served", SPACE)
        until(lambda: not pool.client.list("v1", "pods", SPACE, "app=served"), "the pods gone")


def labels_of(obj: Data) -> Data:
    return t.cast(Data, obj["metadata"].get("labels") or {})


def test_labels_and_taints_reach_machines_and_nodes_and_leave_them(pool: Pool, audit: Audit) -> None:
    first = min(pool.names)
    pool.client.patch("v1", "nodes", first, None, {"metadata": {"labels": {"mine": "x"}}})
    assert all(labels_of(node).get("node-role.kubernetes.io/gpu") == "" for node in pool.nodes)
    options = {"labels": {"team": "ai"}, "taints": [TAINT | {"value": "b"}]}
    foreseen = pool.apply(check=True, **options)
    assert foreseen.changed
    assert audit.writes(foreseen) == []
    done = pool.apply(**{f"keep_{key}": value for key, value in options.items()})
    assert done.changed, done.result
    fields = {one["field"]: (one["live"], one["wanted"]) for one in done["drift"]}
    assert fields == {
        "labels.team": ("ml", "ai"),
        "labels.tier": ("one", None),
        "taints.nvidia.com/gpu:NoSchedule": ("a", "b"),
    }
    for machine in pool.machines:
        assert "tier" not in machine["spec"]["metadata"]["labels"]
        assert machine["spec"]["taints"] == options["taints"]
    for node in pool.nodes:
        assert (labels_of(node).get("team"), labels_of(node).get("tier")) == ("ai", None)
        assert [one for one in node["spec"]["taints"] if one["key"] == TAINT["key"]] == options["taints"]
    assert labels_of(next(node for node in pool.nodes if node["metadata"]["name"] == first))["mine"] == "x"
    again = pool.apply()
    assert (again.changed, again["drift"], audit.writes(again)) == (False, [], [])


def test_what_differs_is_told_and_nothing_is_written(pool: Pool, audit: Audit) -> None:
    told = pool.apply(on_change="report", disk={"size_gib": 200})
    assert (told.changed, audit.writes(told)) == (False, [])
    assert [(one["field"], one["live"], one["wanted"], len(one["machines"])) for one in told["drift"]] == [
        ("providerSpec.blockDevices[0].ebs.volumeSize", 120, 200, 2)
    ]
    assert "on_change: report" in " ".join(told["warnings"])


def test_new_machines_get_it(pool: Pool, audit: Audit) -> None:
    done = pool.apply(keep_disk={"size_gib": 200})
    assert done.changed
    assert (
        pool.set["spec"]["template"]["spec"]["providerSpec"]["value"]["blockDevices"][0]["ebs"]["volumeSize"]
        == 200
    )
    assert pool.disks == [120, 120]
    again = pool.apply()
    assert (again.changed, audit.writes(again)) == (False, [])
    assert [len(one["machines"]) for one in again["drift"]] == [2]


def test_a_replacement_is_refused_while_a_node_works(pool: Pool, audit: Audit) -> None:
    busy = max(pool.names)
    with working(pool, "job", busy):
        again = pool.apply()
        assert (again.failed, again.changed, audit.writes(again)) == (False, False, [])
        refused = pool.apply(on_change="replace")
        assert (refused["code"], refused["layer"]) == ("NODE-BUSY", "node")
        assert f"{SPACE}/job" in refused["message"]
        assert busy in refused["message"]
        assert "on_busy" in refused["remedy"]
        assert audit.writes(refused) == []
    assert pool.is_tidy(2)


def test_every_machine_is_replaced_and_a_budget_is_kept_to(pool: Pool, audit: Audit) -> None:
    """The budget lets nobody go at first; somebody changes it while the first drain waits."""
    before = pool.names
    with served(pool, minimum=2):
        foreseen = pool.apply(check=True, on_change="replace")
        assert foreseen.changed, foreseen.result
        assert audit.writes(foreseen) == []
        seen: list[bool] = []

        def yields() -> None:
            until(
                lambda: [node for node in pool.nodes if node["spec"].get("unschedulable")], "a cordoned node"
            )
            seen.append(len(pool.machines) == 3)
            pool.client.patch(
                "policy/v1", "poddisruptionbudgets", "served", SPACE, {"spec": {"minAvailable": 1}}
            )

        colleague = threading.Thread(target=yields)
        colleague.start()
        done = pool.apply(on_change="replace")
        colleague.join(SECONDS)
        assert not done.failed, done.result
        assert seen == [True]
    assert {one["node"] for one in done["replaced"]} == before
    assert before & pool.names == set()
    assert pool.disks == [200, 200]
    assert pool.is_tidy(2)
    evictions = [line for line in audit.writes(done) if line.startswith("create pods")]
    assert len(evictions) >= 2, audit.writes(done)
    again = pool.apply(on_change="replace")
    assert (again.changed, again["replaced"], audit.writes(again)) == (False, [], [])


def test_a_budget_that_never_yields_is_named(pool: Pool) -> None:
    with served(pool, minimum=2):
        late = pool.apply(keep_disk={"size_gib": 210}, on_change="replace", wait_timeout=12)
        assert late["code"] == "NODE-PDB", late.result
        assert f"{SPACE}/served-" in late["message"]
        assert "served" in late["message"]
        assert "disruption budget" in late["message"]
        assert len(pool.machines) == 3
    done = pool.apply()
    assert not done.failed, done.result
    assert pool.is_tidy(2)
    assert sorted(pool.disks) == [200, 210]
    assert len(done["replaced"]) == 1


def test_killed_in_the_middle(pool: Pool, tmp_path: Path) -> None:
    """kill -9 while a drain waits; the next run ends it."""
    pool.options["disk"] = {"size_gib": 220}
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "tasks": [
            {
                "accelerators.openshift.gpu_machineset": {
                    **pool.options,
                    "on_change": "replace",
                    "kubeconfig": str(pool.playbook.kubeconfig),
                }
            }
        ],
    }
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    environment = {**os.environ, **pool.playbook._environment()}
    with served(pool, minimum=2):
        command = [
            str(Path(sys.executable).parent / "ansible-playbook"),
            "-i",
            "localhost,",
            "-c",
            "local",
            "play.yml",
        ]
        run = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
        )
        try:
            until(
                lambda: [node for node in pool.nodes if node["spec"].get("unschedulable")], "a cordoned node"
            )
        finally:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
        assert len(pool.machines) == 3
        assert not pool.is_tidy(2)
    done = pool.apply(on_change="replace")
    assert not done.failed, done.result
    assert pool.is_tidy(2)
    assert pool.disks == [220, 220]


def test_a_node_is_drained_and_given_back(pool: Pool, audit: Audit) -> None:
    name = min(pool.names)
    node = functools.partial(pool.playbook.module, "gpu_node", name=name)
    assert node(state="drained", check=True).changed
    assert node(state="drained").changed
    assert not node(state="drained").changed
    assert [one["metadata"]["name"] for one in pool.nodes if one["spec"].get("unschedulable")] == [name]
    again = pool.apply()
    assert (again.changed, audit.writes(again)) == (False, [])
    assert node(state="schedulable").changed
    back = node(state="schedulable")
    assert (back.changed, audit.writes(back)) == (False, [])
    assert pool.is_tidy(2)
    assert node(name="nobody", state="drained")["code"] == "NODE-ABSENT"
    worker = next(one for one in pool.client.list("v1", "nodes") if one["metadata"]["name"] not in pool.names)
    foreign = node(name=worker["metadata"]["name"], state="replaced")
    assert (foreign["code"], audit.writes(foreign)) == ("NODE-NOT-OURS", [])


def test_what_tolerates_the_cordon_comes_back_and_is_told_of(pool: Pool, audit: Audit) -> None:
    """By the real scheduler: the Deployment's pods fit on this one node only, and come to it however often they are sent away."""
    name, labels = min(pool.names), {"app": "agent"}

    def agents() -> list[Data]:
        return [
            one
            for one in pool.client.list("v1", "pods", SPACE, "app=agent")
            if "deletionTimestamp" not in one["metadata"]
        ]

    spec: Data = {
        "nodeSelector": {"kubernetes.io/hostname": name},
        "tolerations": [{"operator": "Exists"}],
        "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "main", "image": "example.com/agent"}],
    }
    deployment: Data = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": spec},
    }
    place = {"name": "agent", "namespace": SPACE}
    pool.client.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": place, "spec": deployment})
    until(lambda: [one for one in agents() if one.get("status", {}).get("phase") == "Running"], "the agent")
    (first,) = agents()
    try:
        drained = pool.playbook.module("gpu_node", name=name, state="drained", wait_timeout=60)
        assert drained.changed, drained.result
        until(lambda: [one for one in agents() if one["spec"].get("nodeName")], "the agent's return")
        (second,) = agents()
        assert first["metadata"]["uid"] != second["metadata"]["uid"]
        # Its node is drained; sending it away once more would bring the next one.
        again = pool.playbook.module("gpu_node", name=name, state="drained", wait_timeout=60)
        assert (again.changed, audit.writes(again)) == (False, [])
        (warning,) = again["warnings"]
        assert f"{SPACE}/{second['metadata']['name']} of ReplicaSet agent-" in warning
        assert f"came to {name} although that is cordoned: it tolerates {{operator: Exists}}" in warning
    finally:
        pool.client.delete("apps/v1", "deployments", "agent", SPACE)
        until(lambda: not pool.client.list("v1", "pods", SPACE, "app=agent"), "the pods gone")
        assert not pool.playbook.module("gpu_node", name=name, state="schedulable").failed
    assert pool.is_tidy(2)


@pytest.mark.skipif(os.environ.get("FAULTS_LONG") != "1", reason="takes minutes: set FAULTS_LONG=1")
def test_a_budget_that_yields_after_three_minutes(pool: Pool, audit: Audit) -> None:
    with served(pool, minimum=2):
        name = pool.client.list("v1", "pods", SPACE, "app=served")[0]["spec"]["nodeName"]
        over = threading.Event()

        def of_node() -> list[str]:
            pods = pool.client.list("v1", "pods", SPACE, "app=served")
            return [
                pod["metadata"]["name"]
                for pod in pods
                if pod["spec"].get("nodeName") == name and "deletionTimestamp" not in pod["metadata"]
            ]

        def yields() -> None:
            until(
                lambda: [node for node in pool.nodes if node["spec"].get("unschedulable")], "a cordoned node"
            )
            over.wait(LONG)
            pool.client.patch(
                "policy/v1", "poddisruptionbudgets", "served", SPACE, {"spec": {"minAvailable": 1}}
            )

        here = set(of_node())
        colleague = threading.Thread(target=yields)
        started = time.monotonic()
        colleague.start()
        done = pool.playbook.module("gpu_node", name=name, state="drained", wait_timeout=400)
        took = time.monotonic() - started
        over.set()
        colleague.join(SECONDS)
        assert not done.failed, done.result
        assert LONG <= took <= LONG + SECONDS
        refused = [line for line in audit.writes(done) if line.startswith("create pods")]
        # Every five seconds and at once when something changes, for every pod of the node that is kept.
        assert LONG / 5 <= len(refused) <= 3 * LONG / 5, len(refused)
        # What tolerates everything, as these pods do, may come anew.
        assert here
        assert not here & set(of_node())
        assert not pool.playbook.module("gpu_node", name=name, state="schedulable").failed
    assert pool.is_tidy(2)


def test_replace_node(pool: Pool, audit: Audit) -> None:
    name = min(pool.names)
    asked = {"gpu_node": name, "gpu_on_busy": "drain", "gpu_evict_unmanaged": True}
    with working(pool, "job", name):
        refused = pool.playbook.playbook("replace_node", gpu_node=name)
        assert refused.failure["code"] == "NODE-BUSY"
        assert audit.writes(*refused.tasks) == []
        foreseen = pool.playbook.playbook("replace_node", "--check", **asked)
        assert (foreseen.rc, foreseen.changed, audit.writes(*foreseen.tasks)) == (0, 1, []), foreseen.output
        done = pool.playbook.playbook("replace_node", **asked)
        assert (done.rc, done.changed) == (0, 1), done.output
    assert name not in pool.names
    assert pool.is_tidy(2)
    again = pool.playbook.playbook("replace_node", gpu_node=name)
    assert (again.rc, again.changed, audit.writes(*again.tasks)) == (0, 0, []), again.output


def test_fewer_nodes_spare_the_one_that_works(pool: Pool, audit: Audit) -> None:
    for busy in sorted(pool.names)[:1]:
        with working(pool, "job", busy):
            foretold = pool.apply(check=True, replicas=1)
            assert {one["node"] for one in foretold["removed"]} == pool.names - {busy}
            told = pool.playbook.playbook(
                "plan", "--tags", "gpu_node_pool", gpu_pools=[{**pool.described, "replicas": 1}]
            )
            table = next(task for task in told.tasks if task.name == "Show the plan")["msg"]
            assert [line.split()[1] for line in table if line.startswith("drain")] == [
                one["node"] for one in foretold["removed"]
            ]
            done = pool.resize(1)
            assert (done.rc, done.changed) == (0, 1), done.output
            assert pool.names == {busy}
            again = pool.resize(1)
            assert (again.rc, again.changed, audit.writes(*again.tasks)) == (0, 0, []), again.output
            refused = pool.apply(replicas=0)
            assert refused["code"] == "NODE-BUSY"
            assert audit.writes(refused) == []
            gone = pool.playbook.playbook("remove_pool", gpu_pool=NAME)
            assert gone.failure["code"] == "NODE-BUSY"
            assert audit.writes(*gone.tasks) == []
    assert pool.is_tidy(1)


@pytest.mark.parametrize(
    ("spec", "code", "option"),
    [
        ({"volumes": [{"name": "scratch", "emptyDir": {}}]}, "NODE-EMPTYDIR", "delete_emptydir"),
        ({}, "NODE-UNMANAGED", "force"),
    ],
)
def test_what_would_be_lost_is_named(pool: Pool, audit: Audit, spec: Data, code: str, option: str) -> None:
    with working(pool, "precious", min(pool.names), gpus=0, **spec):
        refused = pool.apply(replicas=0)
        assert refused["code"] == code, refused.result
        assert f"{SPACE}/precious" in refused["message"]
        assert option in refused["remedy"]
        assert audit.writes(refused) == []


def test_the_last_node_goes_when_told(pool: Pool) -> None:
    with working(pool, "job", min(pool.names)):
        done = pool.apply(keep_replicas=0, on_busy="drain", force=True)
        assert not done.failed, done.result
        assert pool.machines == []


def test_another_instance_type(pool: Pool, audit: Audit) -> None:
    assert not pool.apply(keep_replicas=1).failed
    before = pool.names
    refused = pool.apply(instance_type="g4dn.2xlarge")
    assert refused["code"] == "POOL-DRIFT"
    assert not pool.apply(replicas=2).failed
    larger = pool.apply(instance_type="g4dn.2xlarge", on_change="replace")
    assert (larger["code"], audit.writes(larger)) == ("POOL-SURGE", [])
    assert "Set max_surge to 2" in larger["remedy"]
    done = pool.apply(keep_instance_type="g4dn.2xlarge", on_change="replace", max_surge=2)
    assert not done.failed, done.result
    assert before & pool.names == set()
    assert [one["metadata"]["labels"]["machine.openshift.io/instance-type"] for one in pool.machines] == [
        "g4dn.2xlarge"
    ]
    with contextlib.suppress(ApiError):
        assert pool.is_tidy(1)


def test_the_zone_whose_node_works_keeps_it(pool: Pool) -> None:
    zones = ["us-east-2a", "us-east-2b"]
    assert not pool.apply(zones=zones, replicas=2).failed
    busy = next(
        node["metadata"]["name"]
        for node in pool.nodes
        if node["metadata"]["labels"]["topology.kubernetes.io/zone"] == zones[1]
    )
    with working(pool, "job", busy):
        done = pool.apply(zones=zones, replicas=1)
        assert not done.failed, done.result
        assert pool.names == {busy}
    assert not pool.apply(replicas=1).failed


def test_whoever_deletes_a_machine_waits_for_us(pool: Pool, audit: Audit) -> None:
    described = {**pool.described, "replicas": 1, "pre_drain_hook": True}
    ensure = functools.partial(pool.playbook.module, "gpu_machineset", pool=described, wait_timeout=120)
    made = ensure()
    assert not made.failed, made.result
    (machine,) = pool.machines
    assert [hook["owner"] for hook in machine["spec"]["lifecycleHooks"]["preDrain"]] == [
        "accelerators.openshift"
    ]
    assert audit.writes(ensure()) == []
    (before,) = pool.names
    with working(pool, "job", before):
        pool.client.delete(*MACHINES[:2], machine["metadata"]["name"], MACHINES[2])
        held = ensure()
        assert (held["code"], held["layer"]) == ("MACH-HOOK", "machine"), held.result
        assert f"{SPACE}/job" in held["message"]
        assert "since 20" in held["message"]
        assert before in pool.names
    done = ensure()
    assert not done.failed, done.result
    assert before not in pool.names
    pool.options["replicas"] = 1
    assert pool.is_tidy(1)


def test_remove_pool(pool: Pool, audit: Audit) -> None:
    foreseen = pool.playbook.playbook("remove_pool", "--check", gpu_pool=NAME)
    assert (foreseen.rc, foreseen.changed, audit.writes(*foreseen.tasks)) == (0, 1, []), foreseen.output
    done = pool.playbook.playbook("remove_pool", gpu_pool=NAME)
    assert (done.rc, done.changed) == (0, 1), done.output
    assert (pool.machines, pool.nodes) == ([], [])
    again = pool.playbook.playbook("remove_pool", gpu_pool=NAME)
    assert (again.rc, again.changed) == (0, 0), again.output
