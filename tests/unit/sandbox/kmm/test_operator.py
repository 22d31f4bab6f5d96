"""How a Module of KMM reaches its nodes."""

from __future__ import annotations

from pathlib import Path

from unit.sandbox.kmm.builders import KERNEL, READY, SPACE, advance, world

from openshift_sandbox.stand_ins.kmm.operator import FINALIZER


def test_a_module_reaches_its_node_and_leaves_it_again(tmp_path: Path) -> None:
    made = world(
        tmp_path,
        devicePlugin={"container": {"image": "plugin:1", "args": ["--resource-name=a/b", "--devices=2"]}},
    )
    made.settle(1.0)
    (pull,) = advance(made)
    assert pull.startswith("card-pull-pod-")
    assert (
        made.api.get("NodeModulesConfig", "n1")["spec"]["modules"][0]["config"]["containerImage"]
        == f"card:{KERNEL}"
    )
    assert advance(made) == ["kmm-worker-n1-card"]
    assert READY in made.api.get("Node", "n1")["metadata"]["labels"]
    live = made.api.get("Module", "card", SPACE)
    assert live["status"]["moduleLoader"] == {
        "nodesMatchingSelectorNumber": 1,
        "desiredNumber": 1,
        "availableNumber": 1,
    }
    assert made.api.all("DaemonSet")[0]["spec"]["template"]["spec"]["nodeSelector"] == {READY: ""}

    made.cluster.delete("Module", "card", SPACE)
    made.settle(1.0)
    assert FINALIZER in made.api.get("Module", "card", SPACE)["metadata"]["finalizers"]
    assert advance(made) == ["kmm-worker-n1-card"]
    assert (made.api.all("Module"), READY in made.api.get("Node", "n1")["metadata"]["labels"]) == ([], False)
    left = made.api.get("NodeModulesConfig", "n1")
    assert (left["spec"]["modules"], left["status"]["modules"]) == ([], [])


def test_a_tainted_node_does_not_exist_for_a_module(tmp_path: Path) -> None:
    made = world(tmp_path)
    made.api.patch(
        "v1", "nodes", "n1", "", {"spec": {"taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}}
    )
    made.settle(1.0)
    numbers = made.api.get("Module", "card", SPACE)["status"]["moduleLoader"]
    assert numbers == {"nodesMatchingSelectorNumber": 0, "desiredNumber": 0, "availableNumber": 0}
