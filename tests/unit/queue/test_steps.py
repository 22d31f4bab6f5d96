# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_queue on a server in memory: what is written, refused, handed over, and written again."""

from __future__ import annotations

import typing as t

import pytest
from unit.queue.builders import GPU, World, existing, node, params, pools, queue, share

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    ConflictError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._queue import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import upgrade

OURS: t.Final = {"app.kubernetes.io/managed-by": "accelerators.openshift"}


def quota(name: str, hard: dict[str, str], is_ours: bool, **spec: t.Any) -> dict[str, t.Any]:
    metadata = {"name": name, "namespace": "team-a", **({"labels": OURS} if is_ours else {})}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard, **spec}}


def refused(world: World, *queues: dict[str, t.Any], **given: t.Any) -> AcceleratorError:
    with pytest.raises(AcceleratorError) as caught:
        steps.present(world.api(), params(*queues, **given))
    assert not world.server.writes()
    return caught.value


def test_a_queue_gets_its_flavor_its_cluster_queue_and_its_local_queues() -> None:
    world = World()
    found = steps.present(world.api(), params(queue(namespaces=["team-a", "team-b"])))
    assert [path.rpartition("/")[2] for _method, path in world.server.writes()] == [
        "training",
        "research",
        "research",
        "research",
    ]
    (flavor,) = world.all("resourceflavors")
    assert flavor["spec"] == {
        "nodeLabels": {"accelerators.openshift/pool": "training"},
        "tolerations": [
            {"key": GPU, "operator": "Equal", "value": "present", "effect": "NoSchedule"},
        ],
    }
    (group,) = world.must("clusterqueues", "research")["spec"]["resourceGroups"]
    assert group["coveredResources"] == [GPU, "cpu", "memory", "ephemeral-storage"]
    assert group["flavors"][0]["resources"][0] == {"name": GPU, "nominalQuota": "16"}
    assert [one["metadata"]["namespace"] for one in world.all("localqueues")] == ["team-a", "team-b"]
    (told,) = found["queues"]
    assert told["active"]
    assert told["pools"] == [{"name": "training", "resources": {GPU: {"quota": 16, "used": "0"}}}]


def test_a_second_run_writes_nothing_and_asks_for_lists_alone() -> None:
    world = World()
    wanted = params(queue(namespaces=["team-a", "team-b"]), queue("batch", share("batch")))
    steps.present(world.api(), wanted)
    steps.present(world.api(), wanted)
    assert not world.server.writes()
    assert world.asked() == {
        "GET v1beta2": 1,
        "GET apis": 1,
        "GET v1": 1,
        **dict.fromkeys(("GET resourceflavors", "GET clusterqueues", "GET localqueues", "GET cohorts"), 1),
        **dict.fromkeys(("GET resourcequotas", "GET namespaces", "GET nodes"), 1),
    }


def test_no_queues_cost_no_request() -> None:
    world = World()
    assert steps.present(world.api(), params()) == {"queues": [], "handed_over": []}
    assert not world.server.requests


def test_an_older_kueue_gets_its_own_version_and_its_own_word_for_the_cohort() -> None:
    world = World(version="v1beta1")
    steps.present(world.api(), params(queue(cohort="gpus")))
    live = world.must("clusterqueues", "research")
    assert live["apiVersion"] == "kueue.x-k8s.io/v1beta1"
    assert live["spec"]["cohort"] == "gpus"
    assert "cohortName" not in live["spec"]


def test_a_cluster_without_kueue_is_refused() -> None:
    world = World()
    for key in [key for key in world.server.served if key[0].startswith("kueue")]:
        del world.server.served[key]
    assert refused(world, queue()).code == "QUEUE-NO-KUEUE"


def test_red_hats_operator_needs_a_label_on_each_namespace() -> None:
    world = World(red_hat=True)
    steps.present(world.api(), params(queue()))
    assert world.must("namespaces", "team-a")["metadata"]["labels"] == {"kueue.openshift.io/managed": "true"}
    assert "labels" not in world.must("namespaces", "team-b")["metadata"]
    steps.present(world.api(), params(queue()))
    assert not world.server.writes()


def test_a_namespace_that_the_run_creates_has_that_label_from_the_start() -> None:
    world, wanted = World(red_hat=True), queue(namespaces=["team-c"])
    steps.present(world.api(), params(wanted, create_namespaces=True))
    assert world.must("namespaces", "team-c")["metadata"]["labels"]["kueue.openshift.io/managed"] == "true"
    steps.present(world.api(), params(wanted, create_namespaces=True))
    assert not world.server.writes()


def test_kueue_that_does_not_look_ends_the_wait() -> None:
    world = World()
    world.is_slow = True
    with pytest.raises(AcceleratorError) as caught:
        steps.present(world.api(seconds=2.0), params(queue()))
    assert caught.value.code == "QUEUE-PENDING"
    assert "kueue-controller-manager" in caught.value.remedy


def test_check_mode_writes_nothing_and_predicts() -> None:
    world = World()
    api = world.api(check_mode=True)
    found = steps.present(api, params(queue()))
    assert not world.server.writes()
    assert len(api.changes) == 3
    assert found["queues"][0]["active"] is False


def test_a_missing_namespace_is_refused_or_created() -> None:
    world = World()
    assert refused(world, queue(namespaces=["team-c"])).code == "QUOTA-NO-NAMESPACE"
    near = refused(world, queue(namespaces=["team-aa1"]), create_namespaces=True, namespaces=["other"])
    assert near.code == "QUOTA-NEW-NAMESPACE"
    steps.present(world.api(), params(queue(namespaces=["team-c"]), create_namespaces=True))
    assert "app.kubernetes.io/managed-by" not in world.must("namespaces", "team-c")["metadata"]["labels"]


def test_a_foreign_queue_of_that_name_is_refused_unless_it_is_the_same() -> None:
    world = World()
    steps.present(world.api(), params(queue()))
    live = world.must("clusterqueues", "research")
    del live["metadata"]["labels"]
    steps.present(world.api(), params(queue()))
    assert not world.server.writes()
    exc = refused(world, queue("research", share(gpus=2)))
    assert exc.code == "QUEUE-FOREIGN"
    assert "resourceGroups" in exc.message
    steps.present(world.api(), params(queue("research", share(gpus=2)), adopt="take"))
    assert world.server.writes()


def test_fields_of_ours_that_somebody_changed_are_refused() -> None:
    world = World()
    steps.present(world.api(), params(queue()))
    live = world.must("clusterqueues", "research")
    live["spec"]["queueingStrategy"] = "StrictFIFO"
    changed: dict[str, t.Any] = {"f:spec": {"f:queueingStrategy": {}}}
    live["metadata"]["managedFields"].append({"manager": "edit", "operation": "Update", "fieldsV1": changed})
    with pytest.raises(ConflictError, match="queueingStrategy"):
        steps.present(world.api(), params(queue()))


def test_a_local_queue_never_moves() -> None:
    world = World()
    steps.present(world.api(), params(queue(local_queue="gpus")))
    exc = refused(world, queue("other", local_queue="gpus"))
    assert exc.code == "QUEUE-LOCAL-QUEUE"
    assert "gpu_queues[0].local_queue" in exc.remedy


def test_a_namespace_that_leaves_the_list_loses_its_local_queue_when_nothing_runs() -> None:
    world = World()
    steps.present(world.api(), params(queue(namespaces=["team-a", "team-b"])))
    (leaving,) = (one for one in world.all("localqueues") if one["metadata"]["namespace"] == "team-b")
    leaving["status"]["reservingWorkloads"] = 1
    api = world.api()
    steps.present(api, params(queue()))
    assert len(world.all("localqueues")) == 2
    assert any("stays while its Jobs run" in text for text in api.warnings)
    steps.present(world.api(), params(queue()))
    assert [one["metadata"]["namespace"] for one in world.all("localqueues")] == ["team-a"]


def test_a_node_of_two_pools_is_refused() -> None:
    world = World(node("n1", tier="a", model="h100"))
    two = pools(existing("first", {"tier": "a"}), existing("second", {"model": "h100"}))
    wanted = [queue("one", share("first", gpus=1)), queue("two", share("second", gpus=1))]
    exc = refused(world, *wanted, pools=two)
    assert exc.code == "QUEUE-TWO-FLAVORS"
    assert "n1" in exc.message
    assert "first and second" in exc.message


def test_a_queue_does_not_borrow_from_itself() -> None:
    world = World()
    lonely = queue("research", share(gpus=4, borrow=2), cohort="gpus")
    exc = refused(world, lonely)
    assert exc.code == "QUEUE-NO-LENDER"
    assert exc.message.startswith("gpu_queues[0].pools[0].borrow")
    assert refused(world, lonely, queue("b", share(gpus=0), cohort="gpus")).code == "QUEUE-NO-LENDER"
    steps.present(world.api(), params(lonely, queue("b", share(gpus=4), cohort="gpus")))
    quotas = world.must("clusterqueues", "research")["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
    assert quotas[0] == {"name": GPU, "nominalQuota": "4", "borrowingLimit": "2"}
    # A queue of others in the cohort lends too.
    other = queue("third", share(gpus=1, borrow=1), cohort="gpus")
    steps.present(world.api(), params(other))


def test_our_quota_is_handed_over_and_other_limits_stay() -> None:
    world = World()
    world.api().apply(quota("gpu-quota", {f"requests.{GPU}": "4", "requests.memory": "64Gi"}, is_ours=False))
    api = world.api()
    found = steps.present(api, params(queue()))
    assert found["handed_over"] == ["team-a/gpu-quota"]
    assert world.must("resourcequotas", "gpu-quota")["spec"]["hard"] == {"requests.memory": "64Gi"}
    assert any("is not counted" in text for text in api.warnings)
    assert steps.present(world.api(), params(queue()))["handed_over"] == []


def test_our_quota_of_gpus_alone_goes() -> None:
    world = World(quota("gpu-quota", {f"requests.{GPU}": "4"}, is_ours=True))
    steps.present(world.api(), params(queue()))
    assert world.names("resourcequotas") == []


@pytest.mark.parametrize(
    ("hard", "spec", "warns"),
    [
        pytest.param("4", {}, True, id="refuses"),
        pytest.param("16", {}, False, id="allows all that the queue admits"),
        pytest.param("0", {"scopes": ["BestEffort"]}, False, id="counts some pods alone"),
    ],
)
def test_a_quota_of_others_stays_and_is_named(hard: str, spec: dict[str, t.Any], warns: bool) -> None:
    world = World(quota("theirs", {f"requests.{GPU}": hard}, is_ours=False, **spec))
    api = world.api()
    assert steps.present(api, params(queue()))["handed_over"] == []
    assert world.names("resourcequotas") == ["theirs"]
    assert any("will refuse pods" in text for text in api.warnings) is warns


def test_a_pool_with_a_quota_for_a_namespace_of_the_queue_is_refused() -> None:
    described = existing("training", {"tier": "a"}, quota=[{"namespace": "team-a", "gpus": 2}])
    exc = refused(World(), queue("research", share(gpus=8)), pools=pools(described))
    assert exc.code == "QUEUE-TWO-QUOTAS"
    assert exc.message.startswith("gpu_queues[0].namespaces")
    enough = existing("training", {"tier": "a"}, quota=[{"namespace": "team-a", "gpus": 8}])
    steps.present(World().api(), params(queue("research", share(gpus=8)), pools=pools(enough)))


def test_a_stopped_queue_stays_stopped_and_is_named() -> None:
    world = World()
    steps.present(world.api(), params(queue()))
    world.must("clusterqueues", "research")["spec"]["stopPolicy"] = "Hold"
    api = world.api()
    steps.present(api, params(queue()))
    assert not world.server.writes()
    assert any("somebody set stopPolicy Hold. `oc patch" in text for text in api.warnings)


def test_a_queue_that_an_interrupted_upgrade_left_stopped_names_run_and_way_back() -> None:
    world = World()
    steps.present(world.api(), params(queue()))
    live = world.must("clusterqueues", "research")
    live["spec"]["stopPolicy"] = "HoldAndDrain"
    live["metadata"]["annotations"] = Run("jo", "bastion", "m", 4711, "1").holds(upgrade.WHY)
    api = world.api()
    steps.present(api, params(queue()))
    (told,) = (text for text in api.warnings if "stopPolicy" in text)
    assert "the driver upgrade of jo@bastion (pid 4711) since 20" in told
    assert "somebody" not in told
    assert "gpu_upgrade_action=resume" in told
    assert "gpu_upgrade_action=pause" in told


def test_more_gpus_than_the_pool_has_are_named() -> None:
    api = World().api()
    steps.present(api, params(queue("a", share(gpus=12)), queue("b", share(gpus=8))))
    assert any(
        "give away 20 nvidia.com/gpu of pool training, and its nodes have 16" in one for one in api.warnings
    )
