# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of MIG on a server in memory: the file, the labels, and what is refused before the first write."""

from __future__ import annotations

import typing as t

import pytest
from unit.engine import api_on
from unit.sharing.builders import SPACE, Server, cut, manager, node, params, policy, with_label

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import mig_config, mig_name
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.steps import absent, present

SEVEN: t.Final = {"mig": {"profile": "1g.5gb"}}
TWO: t.Final = {"mig": {"profile": "3g.20gb"}}
MIXED: t.Final = {"mig": {"layout": {"1g.5gb": 2, "2g.10gb": 1}}}
CONFIG: t.Final = "nvidia.com/mig.config"
STATE: t.Final = "nvidia.com/mig.config.state"
# The default of the API server would undo MIG on nodes without a label.
WITHOUT: t.Final = {"name": "gpu-mig", "default": ""}


def bare(name: str, pool: str = "inference") -> KubeObject:
    """Return a node on which no stack has counted the GPUs yet."""
    found = node(name, pool)
    del found["metadata"]["labels"]["nvidia.com/gpu.count"]
    found["status"]["allocatable"] = {}
    return found


def label(server: Server, name: str) -> str | None:
    found: str | None = (server.named("Node", name) or {})["metadata"]["labels"].get(CONFIG)
    return found


def file(server: Server, object_name: str = "gpu-mig") -> str:
    return server.data(object_name).get("config.yaml", "")


def test_the_file_comes_before_the_labels_and_a_second_run_writes_nothing() -> None:
    server = Server(bare("n"), bare("m", pool="other"))
    found = present(api_on(server), params(("inference", SEVEN)))
    name = cut("inference", SEVEN)
    assert [path.rpartition("/")[2] for _verb, path in server.writes()] == ["gpu-mig", "n"]
    assert list(mig_config.ours(file(server))) == [name]
    assert (label(server, "n"), label(server, "m")) == (name, None)
    assert (found["mig"], found["mig_manager"]) == ({"strategy": "single"}, {"config": WITHOUT})
    assert (found["config"], found["pools"][0]["mig_configs"]) == ({}, [name])
    server.requests.clear()
    present(api_on(server), params(("inference", SEVEN)))
    assert server.writes() == []


def test_each_instance_type_has_its_own_configuration() -> None:
    kinds = {"a": "1g.5gb", "b": "1g.10gb"}
    nodes = [with_type(bare(kind), kind) for kind in kinds]
    server = Server(*nodes)
    asked = params(("inference", {"mig": {"slices": 7}}))
    config = {
        kind: [{"devices": "all", "mig-enabled": True, "mig-devices": {profile: 7}}]
        for kind, profile in kinds.items()
    }
    asked["pools"][0]["partitions"] = [
        {"instance_type": kind, "config": config[kind], "expected": {}} for kind in kinds
    ]
    present(api_on(server), asked)
    for kind in kinds:
        assert label(server, kind) == mig_name.name("inference", config[kind])


def with_type(one: KubeObject, kind: str) -> KubeObject:
    one["metadata"]["labels"]["node.kubernetes.io/instance-type"] = kind
    return one


def test_a_node_that_offers_gpus_is_left_to_repartition() -> None:
    server = Server(node("n"), bare("m"))
    with pytest.raises(AcceleratorError) as raised:
        present(api_on(server), params(("inference", SEVEN)))
    assert raised.value.code == "GPU-MIG-CHANGE"
    assert "node n of pool inference" in raised.value.message
    assert server.writes() == []
    present(api_on(server), params(("inference", SEVEN), on_change="keep"))
    assert (label(server, "n"), label(server, "m")) == (None, cut("inference", SEVEN))


def test_another_geometry_keeps_the_old_configuration_while_a_node_has_it() -> None:
    server = Server(bare("n"))
    present(api_on(server), params(("inference", SEVEN)))
    live = server.named("Node", "n") or {}
    server.put(with_label(live, gpu__count="1"))
    with pytest.raises(AcceleratorError) as raised:
        present(api_on(server), params(("inference", TWO)))
    assert raised.value.code == "GPU-MIG-CHANGE"
    present(api_on(server), params(("inference", TWO), on_change="keep"))
    assert set(mig_config.ours(file(server))) == {cut("inference", SEVEN), cut("inference", TWO)}
    assert label(server, "n") == cut("inference", SEVEN)
    server.put(with_mark(server.named("Node", "n") or {}, cut("inference", TWO)))
    present(api_on(server), params(("inference", TWO)))
    assert set(mig_config.ours(file(server))) == {cut("inference", TWO)}


def with_mark(one: KubeObject, value: str) -> KubeObject:
    one["metadata"]["labels"][CONFIG] = value
    return one


def test_the_label_of_a_machine_changes_before_that_of_its_node() -> None:
    old = with_mark(bare("n"), cut("inference", SEVEN))
    old["metadata"]["annotations"] = {"machine.openshift.io/machine": "openshift-machine-api/m-1"}
    machine = {
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "Machine",
        "metadata": {"name": "m-1", "namespace": "openshift-machine-api"},
        "spec": {"metadata": {"labels": {CONFIG: cut("inference", SEVEN)}}},
    }
    server = Server(old, machine)
    present(api_on(server), params(("inference", TWO)))
    assert [path.rpartition("/")[2] for _verb, path in server.writes()] == ["gpu-mig", "m-1", "n"]
    live = server.named("Machine", "m-1") or {}
    assert live["spec"]["metadata"]["labels"] == {CONFIG: cut("inference", TWO)}


def theirs(text: str) -> KubeObject:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "theirs", "namespace": SPACE},
        "data": {"config.yaml": text},
    }


def named(object_name: str, strategy: str = "") -> KubeObject:
    found = policy()
    found["spec"] = {"migManager": {"config": {"name": object_name}}, "mig": {"strategy": strategy}}
    return found


THEIRS: t.Final = "version: v1\nmig-configs:\n  x: [{devices: all, mig-enabled: false}]\n"


def test_the_file_that_the_policy_names_keeps_the_configurations_of_others() -> None:
    server = Server(named("theirs"), theirs(THEIRS), bare("n"), with_mark(node("m", "other"), "x"))
    found = present(api_on(server), params(("inference", SEVEN)))
    assert found["mig_manager"] == {"config": {"name": "theirs", "default": ""}}
    assert mig_config.theirs(file(server, "theirs")) == {"x"}
    assert list(mig_config.ours(file(server, "theirs"))) == [cut("inference", SEVEN)]
    absent(api_on(server), params(("inference", SEVEN), state="absent"))
    assert file(server, "theirs") == THEIRS
    assert label(server, "n") is None


def test_the_last_configuration_beside_those_of_others_goes() -> None:
    server = Server(named("theirs"), theirs(THEIRS), bare("n"))
    present(api_on(server), params(("inference", SEVEN)))
    for _run in range(2):
        absent(api_on(server), params(("inference", {}), state="absent"))
        assert (file(server, "theirs"), label(server, "n")) == (THEIRS, None)
        server.requests.clear()
    present(api_on(server), params(("inference", {})))
    assert len(server.requests) == 1


def test_a_configuration_of_the_operators_file_is_not_lost() -> None:
    server = Server(bare("n"), with_mark(node("m", "other"), "all-1g.5gb"))
    with pytest.raises(AcceleratorError) as raised:
        present(api_on(server), params(("inference", SEVEN)))
    assert raised.value.code == "GPU-MIG-FOREIGN"
    assert "oc patch" in raised.value.remedy
    assert server.writes() == []
    for one in (named("theirs"), theirs(THEIRS.replace("  x:", "  all-1g.5gb:"))):
        server.put(one)
    present(api_on(server), params(("inference", SEVEN)))
    assert mig_config.theirs(file(server, "theirs")) == {"all-1g.5gb"}


def test_two_lists_of_pools_have_one_strategy() -> None:
    server = Server(bare("n"), bare("m", pool="other"))
    present(api_on(server), params(("inference", SEVEN)))
    server.put(named("gpu-mig", "single"))
    with pytest.raises(AcceleratorError) as raised:
        present(api_on(server), params(("other", MIXED)))
    assert raised.value.code == "GPU-MIG-STRATEGY"
    found = present(api_on(server), params(("other", SEVEN)))
    assert len(mig_config.ours(file(server))) == 2
    assert found["mig"] == {"strategy": "single"}


def test_whole_gpus_come_back_only_by_repartition_where_pods_may_use_them() -> None:
    server = Server(bare("n"), bare("m"))
    present(api_on(server), params(("inference", SEVEN)))
    server.put(with_label(server.named("Node", "m") or {}, gpu__count="1"))
    with pytest.raises(AcceleratorError) as raised:
        present(api_on(server), params(("inference", {})))
    assert raised.value.code == "GPU-MIG-CHANGE"
    found = present(api_on(server), params(("inference", {}), on_change="keep"))
    assert (label(server, "n"), label(server, "m")) == (None, cut("inference", SEVEN))
    assert found["mig_manager"] == {"config": WITHOUT}


def test_absent_leaves_nothing_but_what_a_policy_names() -> None:
    server = Server(named("gpu-mig", "single"), bare("n"))
    present(api_on(server), params(("inference", SEVEN)))
    absent(api_on(server), params(("inference", {}), state="absent"))
    assert label(server, "n") is None
    assert mig_config.ours(file(server)) == {}
    server.put(policy())
    absent(api_on(server), params(("inference", {}), state="absent"))
    assert server.named("ConfigMap", "gpu-mig") is None
    server.requests.clear()
    absent(api_on(server), params(("inference", {}), state="absent"))
    assert server.writes() == []


def test_it_waits_until_every_node_offers_its_partitions() -> None:
    marked = with_mark(node("n", gpus=1), cut("inference", SEVEN))
    server = Server(named("gpu-mig", "single"), marked, manager("n"))
    asked = params(("inference", SEVEN))
    asked["pools"][0]["expected"] = {"nvidia.com/gpu": 7}
    with pytest.raises(AcceleratorError) as raised:
        present(api_on(server, seconds=0.0), asked)
    assert raised.value.code == "GPU-MIG-RUNNING"
    live = server.named("Node", "n") or {}
    live["metadata"]["labels"][STATE] = "success"
    server.put(live)
    with pytest.raises(AcceleratorError) as raised:
        present(api_on(server, seconds=0.0), asked)
    assert raised.value.code == "GPU-MIG-SHARES"
    live["status"]["allocatable"] = {"nvidia.com/gpu": "7"}
    server.put(live)
    assert present(api_on(server), asked)["pools"][0]["nodes"] == [{"name": "n", "ready": True}]
    live["metadata"]["labels"][STATE] = "failed"
    server.put(live)
    with pytest.raises(AcceleratorError) as raised:
        present(api_on(server), asked)
    assert raised.value.code == "GPU-MIG-FAILED"


def test_check_mode_writes_nothing() -> None:
    server = Server(bare("n"))
    api = api_on(server, check_mode=True)
    present(api, params(("inference", SEVEN)))
    assert server.writes() == []
    assert len(api.changes) == 2


def pod_with_a_gpu(on: str) -> KubeObject:
    limits = {"limits": {"nvidia.com/gpu": "1"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"train-{on}", "namespace": "team"},
        "spec": {"nodeName": on, "containers": [{"name": "c", "image": "i", "resources": limits}]},
        "status": {"phase": "Running"},
    }


def test_reboots_are_asked_for_on_each_node_whose_change_has_not_succeeded() -> None:
    """Also on nodes of other pools: the ClusterPolicy has one MIG manager for all."""
    cut_before = {"mig__config": "all-1g.5gb"}
    labelled = {one: with_label(node(one, "other"), **cut_before) for one in ("done", "failed", "new")}
    labelled["done"] = with_label(labelled["done"], mig__config__state="success")
    labelled["failed"] = with_label(labelled["failed"], mig__config__state="failed")
    others = [node("whole", "other"), *labelled.values()]
    known = named("gpu-mig")

    def run(reboots: bool, **more: t.Any) -> tuple[Server, list[str]]:
        server = Server(known, *others, bare("n"), *map(pod_with_a_gpu, ("whole", *labelled)))
        found = present(api_on(server), params(("inference", SEVEN), mig_reboot=reboots, **more))
        return server, [pod["name"] for one in found["ends"] for pod in one["pods"]]

    with pytest.raises(AcceleratorError, match="may end, because gpu_mig_reboot lets") as raised:
        run(reboots=True)
    assert raised.value.code == "GPU-SHARING-BUSY"
    assert "Nothing was changed." in raised.value.message
    (ends,) = raised.value.facts["ends"]
    assert [pod["name"] for pod in ends["pods"]] == ["train-failed", "train-new"]
    assert run(reboots=False)[1] == []
    assert run(reboots=True, on_busy="drain")[1] == ["train-failed", "train-new"]
    known["spec"]["migManager"]["env"] = [{"name": "WITH_REBOOT", "value": "true"}]
    assert run(reboots=True)[1] == [], "the managers have it already, and do not restart"


def test_a_default_of_others_and_a_reboot_are_in_the_policy() -> None:
    policy_of_others = named("gpu-mig")
    policy_of_others["spec"]["migManager"]["config"]["default"] = "all-disabled"
    server = Server(policy_of_others, bare("n"))
    found = present(api_on(server), params(("inference", SEVEN), mig_reboot=True))
    assert found["mig_manager"] == {
        "config": {"name": "gpu-mig", "default": "all-disabled"},
        "env": [{"name": "WITH_REBOOT", "value": "true"}],
    }


def test_absent_asks_for_pods_where_the_operator_gives_nodes_its_default_layout() -> None:
    def run(default: str | None, pod_on: str = "n", **more: t.Any) -> tuple[Server, list[str]]:
        known = named("gpu-mig")
        known["spec"]["migManager"]["config"].pop("default", None)
        if default is not None:
            known["spec"]["migManager"]["config"]["default"] = default
        server = Server(known, bare("n"), bare("m"))
        present(api_on(server), params(("inference", SEVEN)))
        server.put(with_label(server.named("Node", "n") or {}, gpu__count="1"))
        server.put(with_label(node("o", "other"), mig__config="all-1g.5gb"))
        server.put(pod_with_a_gpu(pod_on))
        server.requests.clear()
        try:
            found = absent(api_on(server), params(("inference", {}), state="absent", **more))
        finally:
            if more.get("on_busy") != "drain" and label(server, "n"):
                assert server.writes() == []
        return server, [pod["name"] for one in found["ends"] for pod in one["pods"]]

    for default in ("all-disabled", None):
        with pytest.raises(AcceleratorError, match="the MIG manager cuts the GPUs anew") as raised:
            run(default)
        assert raised.value.code == "GPU-SHARING-BUSY"
        assert "Nothing was changed." in raised.value.message
        server, ended = run(default, on_busy="drain")
        assert (label(server, "n"), ended) == (None, ["train-n"])
    assert run("")[1] == [], "nodes without the label keep their partitions"
    assert run("all-disabled", pod_on="o")[1] == [], "another pool keeps its label"
