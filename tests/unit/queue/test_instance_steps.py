# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gpu_queue brings Kueue through Red Hat's operator, on a server in memory, and takes it away again."""

from __future__ import annotations

import typing as t

import pytest
from unit.queue.builders import INSTANCE, World, params, queue, workload

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._queue import removal_steps, steps

Data = dict[str, t.Any]
JOBS: t.Final = {"frameworks": ["BatchJob"], "namespace": "openshift-kueue-operator"}
ARGO: t.Final = {"argocd.argoproj.io/instance": "gitops"}


def operated(*objects: Data, **given: t.Any) -> World:
    """Return a cluster with Red Hat's operator, which has not brought Kueue yet."""
    return World(*objects, **{"red_hat": True, "has_kueue": False, **given})


def keep(world: World, *queues: Data, check_mode: bool = False, **given: t.Any) -> Data:
    api = world.api(check_mode=check_mode)
    return steps.present(api, params(*queues, **{"instance": JOBS, **given}))


def refused(world: World, *queues: Data, **given: t.Any) -> AcceleratorError:
    with pytest.raises(AcceleratorError) as caught:
        keep(world, *queues, **given)
    assert not world.server.writes()
    return caught.value


def remove(world: World, **given: t.Any) -> Data:
    return removal_steps.absent(world.api(), params(**{"instance": JOBS, "state": "absent", **given}))


def frameworks(world: World) -> t.Any:
    return world.must("kueues", "cluster")["spec"]["config"]["integrations"]["frameworks"]


def theirs(*kinds: str, **status: t.Any) -> Data:
    spec = {"managementState": "Managed", "config": {"integrations": {"frameworks": list(kinds)}}}
    metadata = {"name": "cluster", "labels": ARGO}
    available = {"conditions": [{"type": "Available", "status": "True"}]}
    head = {"apiVersion": INSTANCE.api_version, "kind": INSTANCE.kind, "metadata": metadata}
    return {**head, "spec": spec, "status": available | status}


def deployment(namespace: str) -> Data:
    metadata = {"name": "kueue-controller-manager", "namespace": namespace}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}


def test_kueue_comes_before_the_queues() -> None:
    world = operated()
    found = keep(world, queue())
    written = [path.rpartition("/")[2] for _method, path in world.server.writes()]
    assert written == ["cluster", "team-a", "training", "research", "research"]
    assert found["instance"] == {"name": "cluster", "available": True}
    assert [one["active"] for one in found["queues"]] == [True]
    assert frameworks(world) == ["BatchJob"]
    labels = world.must("kueues", "cluster")["metadata"]["labels"]
    assert labels["app.kubernetes.io/managed-by"] == "accelerators.openshift"


def test_a_second_run_writes_nothing_and_asks_for_the_object_once() -> None:
    world = operated()
    keep(world, queue())
    found = keep(world, queue())
    assert not world.server.writes()
    assert found["instance"]["available"]
    assert world.asked()["GET cluster"] == 1
    assert "GET deployments" not in world.asked()


def test_kueue_comes_without_a_queue_too() -> None:
    world = operated()
    found = keep(world)
    assert [path.rpartition("/")[2] for _method, path in world.server.writes()] == ["cluster"]
    assert (found["queues"], found["instance"]["available"]) == ([], True)


def test_other_frameworks_are_one_write() -> None:
    world = operated()
    keep(world)
    keep(world, instance={**JOBS, "frameworks": ["BatchJob", "Pod"]})
    assert len(world.server.writes()) == 1
    assert frameworks(world) == ["BatchJob", "Pod"]


def test_without_cert_manager_nothing_is_written() -> None:
    error = refused(operated(cert_manager=False), queue())
    assert error.code == "QUEUE-NO-CERT-MANAGER"
    assert "name=openshift-cert-manager-operator" in error.remedy


def test_a_kueue_that_works_needs_no_second_look_at_cert_manager() -> None:
    world = operated(theirs("BatchJob"), cert_manager=False, has_kueue=True)
    assert keep(world)["instance"]["available"]


def test_beside_another_kueue_nothing_is_written() -> None:
    error = refused(operated(deployment("kueue-system")), queue())
    assert error.code == "QUEUE-TWO-KUEUES"
    assert "kueue-system" in error.message
    own = operated(deployment("openshift-kueue-operator"))
    assert keep(own)["instance"]["available"], "the operator's own Kueue is no second one"


def test_without_the_operator_the_module_refuses() -> None:
    world = World(has_kueue=False)
    world.add(INSTANCE._replace(api_version="cert-manager.io/v1", kind="Issuer", plural="issuers"))
    assert refused(world, queue()).code == "QUEUE-NO-KUEUE"


def test_a_wrong_queue_is_refused_before_kueue_comes() -> None:
    assert refused(operated(), queue(namespaces=["team-c"])).code == "QUOTA-NO-NAMESPACE"
    assert refused(operated(), queue(namespaces=["openshift-nfd"])).code == "QUEUE-NAMESPACE"


def test_check_mode_before_the_operator_is_there_foresees_all_objects() -> None:
    world = World(has_kueue=False)
    world.add(INSTANCE._replace(api_version="cert-manager.io/v1", kind="Issuer", plural="issuers"))
    api = world.api(check_mode=True)
    found = steps.present(api, params(queue(), instance=JOBS))
    assert not world.server.writes()
    titles = [change.object_name for change in api.changes]
    assert titles == [
        "Kueue cluster",
        "Namespace team-a",
        "ResourceFlavor training",
        "ClusterQueue research",
        "LocalQueue team-a/research",
    ]
    assert not api.warnings
    assert found["instance"] == {"name": "cluster", "available": False}


def test_check_mode_with_the_operator_alone_writes_nothing() -> None:
    world = operated()
    found = keep(world, queue(), check_mode=True)
    assert not world.server.writes()
    assert found["queues"][0]["active"] is False


def test_an_operator_that_does_nothing_ends_the_wait() -> None:
    world = operated()
    world.is_stuck = True
    with pytest.raises(AcceleratorError) as caught:
        steps.present(world.api(seconds=2.0), params(queue(), instance=JOBS))
    assert caught.value.code == "QUEUE-NOT-AVAILABLE"
    assert "openshift-kueue-operator" in caught.value.remedy
    assert world.names("kueues") == ["cluster"]


def test_the_object_of_others_is_used_as_it_is_unless_it_may_be_changed() -> None:
    world = operated(theirs("Pod"), has_kueue=True)
    api = world.api()
    steps.present(api, params(instance=JOBS))
    assert not world.server.writes()
    (text,) = api.warnings
    assert "spec.config.integrations.frameworks" in text
    keep(world, adopt="take")
    assert frameworks(world) == ["Pod", "BatchJob"]


def test_a_removal_takes_kueue_after_its_queues() -> None:
    world = operated()
    keep(world, queue())
    found = remove(world)
    assert [path.rpartition("/")[2] for _method, path in world.server.writes()][-1] == "cluster"
    assert found["needed_by"] == []
    assert world.names("kueues") == world.names("clusterqueues") == []
    again = remove(world)
    assert (again["needed_by"], world.server.writes()) == ([], [])


def test_a_removal_without_the_option_leaves_kueue() -> None:
    world = operated()
    keep(world, queue())
    assert "needed_by" not in remove(world, instance=None)
    assert world.names("kueues") == ["cluster"]


def test_kueue_stays_for_queues_of_others_and_workloads_that_have_not_ended() -> None:
    world = operated()
    keep(world, queue())
    spec = {"resourceGroups": [{"flavors": [{"name": "other"}]}]}
    foreign = {"name": "theirs", "labels": ARGO}
    world.server.put({"apiVersion": world.version, "kind": "ClusterQueue", "metadata": foreign, "spec": spec})
    world.server.put({**workload("waits", ""), "status": {}})
    world.server.put(
        {**workload("done", ""), "status": {"conditions": [{"type": "Finished", "status": "True"}]}}
    )
    api = world.api()
    found = removal_steps.absent(api, params(instance=JOBS, state="absent"))
    assert found["needed_by"] == [
        "ClusterQueue theirs (made by Argo CD (gitops))",
        "1 Workload that has not ended (team-a/waits)",
    ]
    assert world.names("kueues") == ["cluster"]
    assert world.names("clusterqueues") == ["theirs"]
    assert "Kueue cluster and its operator stay" in api.warnings[-1]


def test_the_object_of_others_stays_and_so_does_its_operator() -> None:
    world = operated(theirs("BatchJob"), has_kueue=True)
    assert remove(world)["needed_by"] == ["Kueue cluster (made by Argo CD (gitops))"]
    assert world.names("kueues") == ["cluster"]
