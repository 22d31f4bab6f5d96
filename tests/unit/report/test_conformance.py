# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What conformance.yml returns of a cluster: facts for fixtures, and nothing that says whose it is."""

from __future__ import annotations

import json
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.filter.conformance import conformance

Data = dict[str, t.Any]
NODE: t.Final = "gpu-0.acme.example"
UUID: t.Final = "GPU-5f7c1f1e-6d1b-4f0e-9c53-0a4c0f2f7b11"
SERVED: t.Final[Data] = {
    "nvidia.com/v1": {"ClusterPolicy": {}},
    "v1": {"Pod": {}},
    "acme.example/v1": {"Secretive": {}},
}


def result(*objects: Data, kind: str = "Pod", msg: str = "") -> Data:
    found = {"resources": list(objects), "invocation": {"module_args": {"kind": kind}}}
    return {**found, "msg": msg} if msg else found


def a_node(name: str = NODE) -> Data:
    labels = {"nvidia.com/gpu.count": "8", "kubernetes.io/hostname": name, "acme.example/rack": "7"}
    messages = {
        "type": "Ready",
        "status": "True",
        "message": f"{name} at 10.0.1.9, {UUID}",
        "lastHeartbeatTime": "x",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": {"acme.example/owner": "canary"}},
        "spec": {"providerID": "aws:///canary"},
        "status": {
            "addresses": [{"type": "InternalIP", "address": "fd00::17"}],
            "conditions": [messages],
            "nodeInfo": {"kernelVersion": "5.14.0", "machineID": "canary", "systemUUID": "canary"},
            "allocatable": {"nvidia.com/gpu": "8"},
        },
    }


def a_pod() -> Data:
    waiting = {
        "waiting": {"reason": "ImagePullBackOff", "message": f"password: canary on {NODE} ({'fd00::17'})"}
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "driver-x", "annotations": {"a": "canary"}},
        "spec": {
            "nodeName": "worker-3.acme.example",
            "containers": [
                {"image": "mirror.acme.example:5000/nvidia/driver:595", "env": [{"value": "canary"}]}
            ],
        },
        "status": {
            "phase": "Pending",
            "containerStatuses": [{"name": "driver", "ready": False, "restartCount": 4, "state": waiting}],
        },
    }


def seen(**more: t.Any) -> Data:
    cluster = {"apis": SERVED, "version": {"server": {"kubernetes": {"gitVersion": "v1.35.2"}}}}
    return {"cluster": cluster, "read": [result(a_node()), result(a_pod())], "stack": {}, **more}


def test_what_is_kept() -> None:
    found = conformance(seen())
    assert (found["kubernetes"], found["served"]) == (
        "v1.35.2",
        {"nvidia.com/v1": ["ClusterPolicy"], "v1": ["Pod"]},
    )
    (node,) = found["nodes"]
    assert (node["name"], node["labels"]) == ("node-1", {"nvidia.com/gpu.count": "8"})
    assert node["conditions"] == [
        {"type": "Ready", "status": "True", "message": "node-1 at (removed), (removed)"},
    ]
    assert (node["system"]["kernelVersion"], node["allocatable"]) == ("5.14.0", {"nvidia.com/gpu": "8"})
    (pod,) = found["objects"]["Pod"]
    assert (pod["name"], pod["node"], pod["status"]["phase"]) == ("driver-x", "node-2", "Pending")
    assert pod["images"] == ["(removed)/nvidia/driver:595"]
    assert pod["containers"][0]["state"]["waiting"]["reason"] == "ImagePullBackOff"


@pytest.mark.parametrize(
    "secret", ["acme", "canary", "10.0.1.9", "fd00::17", "5f7c1f1e", "gpu-0", "worker-3", "Secretive"]
)
def test_what_is_not(secret: str) -> None:
    stack = {
        "nodes": [{"name": NODE}],
        "table": [f"driver: mirror.acme.example/a@sha256:1 on {NODE}, gpu-0 too"],
    }
    text = json.dumps(conformance(seen(stack=stack)))
    assert secret not in text
    assert "node-1 too" in text


def test_an_alias_follows_the_names_of_the_nodes() -> None:
    found = conformance(seen(read=[result(a_node("b"), a_node("a")), result(a_node("ab"))]))
    assert [(node["name"], node["conditions"][0]["message"][:9]) for node in found["nodes"]] == [
        ("node-1", "node-1 at"),
        ("node-2", "node-2 at"),
        ("node-3", "node-3 at"),
    ]


def test_images_of_registries_that_everybody_knows_stay_whole() -> None:
    image = "nvcr.io/nvidia/driver:595"
    pod = a_pod()
    pod["spec"]["containers"] = [{"image": image}]
    assert conformance(seen(read=[result(pod)]))["objects"]["Pod"][0]["images"] == [image]


def test_what_could_not_be_read_is_said() -> None:
    refused = result(kind="Pod", msg="pods is forbidden at https://api.acme.example:6443/api")
    assert conformance(seen(read=[refused]))["unread"] == [
        {"kind": "Pod", "why": "pods is forbidden at https://(removed)/api"}
    ]


def test_wrong_input_is_said() -> None:
    with pytest.raises(Exception, match="a map with cluster, read and stack"):
        conformance({"cluster": {}})
