# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests that one task sends, counted in the API server's audit log.

The numbers are exact: one request too many fails a test.
"""

from __future__ import annotations

import collections
import typing as t

import pytest
from cluster import ROOT, Cluster, own
from integration.playbook import Playbook, Run, TaskResult
from integration.wire import Audit

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import KindNotServedError
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import connect
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds
from openshift_sandbox import audit as requests
from openshift_sandbox.client import Client

Data = dict[str, t.Any]

SPACE: t.Final = "it-requests"


def manifests(*objects: Data, **options: t.Any) -> Data:
    return {"accelerators.openshift.manifests": {"objects": list(objects), **options}}


def config_map(name: str, value: str = "1") -> Data:
    metadata = {"name": name, "namespace": SPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"value": value}}


NAMESPACE: t.Final = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
# Other tests may install operators and so serve kinds of the table; no test serves this group.
UNKNOWN: t.Final = {
    "apiVersion": "requests.example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "one", "namespace": SPACE},
}
QUOTA: t.Final = {"accelerators.openshift.gpu_quota": {"namespace": SPACE, "gpus": 1}}
POOLS: t.Final = [
    {"name": "one", "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}], "replicas": 1}
]
RIGHTS: t.Final[Data] = {"playbooks": ["resize_pool"], "namespace": SPACE}
# A review of the rights of the user itself, then what earlier runs made, and the namespaces.
LOOKED: t.Final = ["create", *["list"] * 5]
# A service account, three roles and three bindings. Each is read before the first write.
GRANTED: t.Final = [*LOOKED, *["get"] * 7, *["get", "patch"] * 7]
TAKEN: t.Final = [*LOOKED[:-1], *["get", "delete"] * 7]
TOKEN: t.Final[Data] = {
    "accelerators.openshift.access_token": {
        "playbook": "resize_pool",
        "namespace": SPACE,
        "path": "{{ playbook_dir }}/token",
    }
}
# No object names a pull secret.
PULL: t.Final[Data] = {
    "accelerators.openshift.gpu_pull_secret": {
        "content": {"auths": {"r.io": {"username": "u", "password": "p"}}},
        **dict.fromkeys(("namespace", "nic_namespace", "validation_namespace"), SPACE),
    },
    "ignore_errors": True,
}
# A run on a cluster where nothing is shared, and nothing has to be.
WHOLE: t.Final[Data] = {"namespace": SPACE, "pools": [{"name": "one"}]}
SHARING: t.Final[Data] = {"accelerators.openshift.gpu_sharing": WHOLE}
PARTITION: t.Final[Data] = {"accelerators.openshift.gpu_repartition": WHOLE}
NODES: t.Final = "{{ query('accelerators.openshift.gpu_nodes', query='[].name') }}"

# Name, task, and the verbs of its requests in order. Each step needs those before it.
STEPS: t.Final[list[tuple[str, Data, list[str]]]] = [
    ("namespace", manifests(NAMESPACE), ["get", "patch"]),
    ("create", manifests(config_map("one")), ["get", "patch"]),
    ("unchanged", manifests(config_map("one")), ["get"]),
    # The dry run in between shows whether the server would store a change.
    ("change", manifests(config_map("one", "2")), ["get", "patch", "patch"]),
    ("change (check)", manifests(config_map("one", "3")) | {"check_mode": True}, ["get", "patch"]),
    ("several", manifests(*(config_map(name) for name in "abc")), ["get", "patch"] * 3),
    ("several unchanged", manifests(*(config_map(name) for name in "abc")), ["get"] * 3),
    ("delete", manifests(config_map("one"), state="absent", wait=False), ["get", "delete", "list"]),
    ("delete again", manifests(config_map("one"), state="absent"), ["get"]),
    ("read", {"ansible.builtin.debug": {"msg": NODES}}, ["list"]),
    ("kind of no group", manifests(UNKNOWN) | {"ignore_errors": True}, ["get"]),
    ("kind of no group (absent)", manifests(UNKNOWN, state="absent"), ["get"]),
    ("no pools to pause", {"accelerators.openshift.update_pools": {}}, ["list", "list"]),
    ("no pull secret", PULL, ["list"] * 7),
    ("no GPU to share", SHARING, ["list"]),
    ("no GPU to partition", PARTITION, ["list", "get"]),
    (
        "no mirrors",
        {"accelerators.openshift.image_mirrors": {"mirrored_only": True}},
        ["get", "list", "list", "list"],
    ),
    ("no operator to upgrade", {"accelerators.openshift.operator_upgrade": {}}, ["list"]),
    ("rights", {"accelerators.openshift.access_grant": RIGHTS}, GRANTED),
    ("rights unchanged", {"accelerators.openshift.access_grant": RIGHTS}, LOOKED),
    ("token", TOKEN, ["get", "create"]),
    ("token that is good", TOKEN, ["get"]),
    ("rights taken", {"accelerators.openshift.access_grant": RIGHTS | {"state": "absent"}}, TAKEN),
    ("no queue", {"accelerators.openshift.gpu_queue": {"pools": []}}, []),
    ("no profile", {"accelerators.openshift.gpu_hardware_profile": {"pools": []}}, []),
    ("no network", {"accelerators.openshift.gpu_network": {}}, []),
    ("no partition", {"accelerators.openshift.gpu_admission": {"pools": [{"name": "one"}]}}, ["list", "get"]),
    ("plan", {"accelerators.openshift.gpu_plan": {"pools": POOLS, "platform": "aws"}}, []),
]

# The requests of enable_gpus.yml with examples/demo.yml when nothing is left to do. Preflight reads machine
# sets and both operators before their roles do.
AGAIN: t.Final = {
    # before the first write: does another run hold the lease?
    "get leases.coordination.k8s.io": 1,
    # the rights of an administrator
    "create selfsubjectaccessreviews.authorization.k8s.io": 1,
    "get infrastructures.config.openshift.io": 3,
    # whether images come from mirrors
    "get operatorhubs.config.openshift.io": 1,
    "list imagedigestmirrorsets.config.openshift.io": 1,
    "list imagetagmirrorsets.config.openshift.io": 1,
    "list imagecontentsourcepolicies.operator.openshift.io": 1,
    "list machinesets.machine.openshift.io": 2,
    "list machines.machine.openshift.io": 2,
    "list subscriptions.operators.coreos.com": 4,
    "list operatorgroups.operators.coreos.com": 4,
    "get namespaces": 4,
    "list installplans.operators.coreos.com": 4,
    "list clusterserviceversions.operators.coreos.com": 5,
    "list nodefeaturediscoveries.nfd.openshift.io": 1,
    "watch nodefeaturediscoveries.nfd.openshift.io": 1,
    "watch nodes": 1,
    "list nodes": 5,
    "list clusterpolicies.nvidia.com": 1,
    "list daemonsets.apps": 1,
    "list pods": 1,
    "list controllerrevisions.apps": 1,
    "list imagestreams.image.openshift.io": 1,
    "get priorityclasses.scheduling.k8s.io": 1,
    # whether an earlier run kept spare devices, or told pods what they lack
    "list deployments.apps": 1,
    "get validatingadmissionpolicies.admissionregistration.k8s.io": 1,
    # whether an earlier run made profiles for OpenShift AI, in one of the versions that it has had
    "list hardwareprofiles.infrastructure.opendatahub.io": 2,
    "list hardwareprofiles.dashboard.opendatahub.io": 1,
    "list acceleratorprofiles.dashboard.opendatahub.io": 1,
    # Once for what is no longer asked for; for the quota once before the first write, once in its role.
    "list resourcequotas": 3,
    "list priorityclasses.scheduling.k8s.io": 1,
    "list tuneds.tuned.openshift.io": 1,
    # networks that are no longer asked for; without an operator of networks its other kinds are not asked for
    "list network-attachment-definitions.k8s.cni.cncf.io": 1,
    "list macvlannetworks.mellanox.com": 1,
    "list sriovnetworks.sriovnetwork.openshift.io": 1,
    "get networks.operator.openshift.io": 1,
    # This dry run shows whether the quota refuses one GPU too many.
    "create pods": 1,
    # what is validated, and whether the gate of a pool is left
    "get configmaps": 2,
    # whether an earlier run shared GPUs
    "list configmaps": 1,
}


# The requests of node_tuning when nothing is left to do: for a pool without nodes, and for its removal.
TUNED_AGAIN: t.Final = {
    "list tuneds.tuned.openshift.io": 1,
    "list profiles.tuned.openshift.io": 1,
    "list nodes": 1,
    "list machineconfigpools.machineconfiguration.openshift.io": 1,
}
GONE_AGAIN: t.Final = {
    "list machineconfigpools.machineconfiguration.openshift.io": 1,
    "get tuneds.tuned.openshift.io": 1,
}


@pytest.fixture(scope="module")
def run(playbook: Playbook, audit: Audit) -> Run:
    if audit.log is None:
        pytest.skip("reads the audit log: only on a sandbox")
    run = playbook.tasks(*({"name": name, **task} for name, task, _verbs in STEPS))
    assert run.rc == 0, run.output[-4000:]
    return run


def named(run: Run, name: str) -> TaskResult:
    return next(task for task in run.tasks if task.name == name)


@pytest.mark.parametrize(
    ("name", "verbs"),
    [(name, verbs) for name, _task, verbs in STEPS],
    ids=[name for name, _task, _verbs in STEPS],
)
def test_one_task_asks_no_more(run: Run, audit: Audit, name: str, verbs: list[str]) -> None:
    asked = audit.of(named(run, name))
    assert [one.verb for one in asked] == verbs, [one.uri for one in asked]
    # The module looks up only a kind outside the table, and only in that kind's group.
    assert {one.uri for one in asked if "objectRef" not in one.event} <= {"/apis/requests.example.com/v1"}


def test_a_missing_operator_costs_one_request(audit: Audit, cluster: Cluster) -> None:
    # This kind stands for one of the table whose operator is missing: other tests may install the real ones.
    log = cluster.needs_sandbox().directory / "audit.log"
    missing = kinds.Kind("requests.example.com/v1", "Widget", "widgets", provider="the operator widgets")
    start = requests.position(log)
    with pytest.raises(KindNotServedError, match="the operator widgets provides it"):
        connect({"kubeconfig": str(cluster.kubeconfig)}, "missing-operator").get(missing, "one", SPACE)
    audit.flush()
    assert [one.uri for one in requests.read(log, start, "accelerators.openshift/missing-operator")] == [
        missing.path(SPACE, "one")
    ]


@pytest.mark.parametrize(
    "task", [QUOTA, manifests(NAMESPACE, config_map("again"))], ids=["gpu_quota", "manifests"]
)
def test_the_second_run_writes_nothing(
    playbook: Playbook, audit: Audit, cluster: Cluster, task: Data
) -> None:
    cluster.needs_sandbox()
    run = playbook.tasks(manifests(NAMESPACE), {"name": "first", **task}, {"name": "second", **task})
    assert run.rc == 0, run.output[-4000:]
    first, second = run.tasks[1:]
    assert audit.writes(first)
    assert audit.writes(second) == []
    assert not second.changed
    lists = [one.uri for one in audit.of(second) if one.verb == "list"]
    assert len(lists) == len(set(lists)), "the same list was read twice within a task"
    assert not playbook.module("gpu_quota", namespace=SPACE, state="absent").failed


def test_a_tuning_again_asks_no_more(playbook: Playbook, audit: Audit, cluster: Cluster) -> None:
    cluster.needs_sandbox()
    pool = {"name": "it-tuned", "node_selector": {"it": "tuned"}, "tuning": {"profile": "accelerator"}}
    task = {"accelerators.openshift.node_tuning": {"pools": [pool]}}
    absent = {"accelerators.openshift.node_tuning": {"pools": [pool], "state": "absent"}}
    first, second, gone, again = playbook.tasks(task, task, absent, absent).tasks
    assert [bool(audit.writes(one)) for one in (first, second, gone, again)] == [True, False, True, False]
    assert audit.counted(second) == TUNED_AGAIN
    assert audit.counted(again) == GONE_AGAIN


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[tuple[Playbook, Audit]]:
    """Yield a sandbox of its own, so that other tests do not see the operators that this chain installs."""
    with own("aws") as cluster:
        yield (
            Playbook(tmp_path_factory.mktemp("chain"), cluster.kubeconfig),
            Audit(cluster.needs_sandbox().audit_log, cluster.client),
        )


def test_the_whole_chain_again_writes_nothing_and_asks_no_more(chain: tuple[Playbook, Audit]) -> None:
    playbook, audit = chain
    pools = f"-e @{ROOT / 'examples/demo.yml'}"
    first, again = (playbook.playbook("enable_gpus", pools) for _turn in range(2))
    assert first.rc == 0, first.output[-4000:]
    assert again.rc == 0, again.output[-4000:]
    assert audit.writes(*first.tasks)
    assert audit.writes(*again.tasks) == []
    assert again.changed == 0
    sent = collections.Counter(audit.counted(*again.tasks))
    assert sent, "the audit log says nothing"
    assert sent - collections.Counter(AGAIN) == {}, "something is asked more often than it was"
    for task in again.tasks:
        lists = collections.Counter(one.uri for one in audit.of(task) if one.verb == "list")
        items = len(task.result.get("results", [None]))
        assert not lists or max(lists.values()) <= items, f"{task.name}: {lists}"


def use_every_gpu(client: Client, nodes: list[str]) -> None:
    """Create a pod with a GPU on each node."""
    for node in nodes:
        limits = {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}
        spec = {
            "nodeName": node,
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "job", "image": "job", "resources": limits}],
        }
        metadata = {"name": f"busy-{nodes.index(node)}", "namespace": "default"}
        client.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def update_boot_images(client: Client) -> None:
    """Write another boot image into the pool's machine sets, as the machine-config operator does."""
    kind = ("machine.openshift.io/v1beta1", "machinesets")
    value = {"ami": {"id": "ami-0fedcba9876543210"}}
    image = {"spec": {"template": {"spec": {"providerSpec": {"value": value}}}}}
    for one in client.list(*kind, "openshift-machine-api", "accelerators.openshift/pool=demo"):
        client.patch(*kind, one["metadata"]["name"], "openshift-machine-api", image)


def test_the_whole_chain_again_while_every_gpu_is_busy_and_others_keep_their_fields(
    chain: tuple[Playbook, Audit],
) -> None:
    """Use every GPU, and let the machine-config operator own the boot images; needs the test above."""
    playbook, audit = chain
    nodes = [
        one["metadata"]["name"]
        for one in audit.client.list("v1", "nodes", labels="accelerators.openshift/pool=demo")
    ]
    assert len(nodes) == 2
    use_every_gpu(audit.client, nodes)
    update_boot_images(audit.client)
    run = playbook.playbook("enable_gpus", f"-e @{ROOT / 'examples/demo.yml'}")
    assert run.rc == 0, run.output[-4000:]
    assert audit.writes(*run.tasks) == []
    assert run.changed == 0
