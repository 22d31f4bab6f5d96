"""Changes of the driver by an upgrade of the GPU operator: when, for which nodes, and how to pin it."""

from __future__ import annotations

import base64
import gzip
import json
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import busy, driver_change, unpack

Object = dict[str, t.Any]
NOW, NEXT = "gpu-operator-certified.v26.3.3", "gpu-operator-certified.v26.7.0"
OLD, NEW = "nvcr.io/nvidia/driver@sha256:aaaa", "nvcr.io/nvidia/driver@sha256:bbbb"


def csv(name: str, image: str = "", related: str = "") -> Object:
    env = [
        {"name": "TOOLKIT_IMAGE", "value": "x"},
        {"name": "DRIVER_IMAGE-580", "value": "other"},
        *([{"name": "DRIVER_IMAGE", "value": image}] if image else []),
    ]
    deployment = {
        "name": "gpu-operator",
        "spec": {"template": {"spec": {"containers": [{"name": "gpu-operator", "env": env}]}}},
    }
    images = [
        {"name": "driver-image-580", "image": "other"},
        *([{"name": "driver-image", "image": related}] if related else []),
    ]
    return {
        "kind": "ClusterServiceVersion",
        "metadata": {"name": name},
        "spec": {"install": {"spec": {"deployments": [deployment]}}, "relatedImages": images},
    }


def policy(**driver: t.Any) -> Object:
    return {"metadata": {"name": "gpu-cluster-policy"}, "spec": {"driver": driver}}


def plan(*csvs: str, manifest: str = "") -> Object:
    step = {"resource": {"kind": "ClusterServiceVersion", "name": NEXT, "manifest": manifest}}
    return {
        "metadata": {"name": "install-1"},
        "spec": {"clusterServiceVersionNames": list(csvs)},
        "status": {"plan": [{}, step]},
    }


def found(
    policies: list[Object] | None = None, following: Object | None = None, running: Object | None = None
) -> driver_change.Change | None:
    policies = [policy()] if policies is None else policies
    return driver_change.find(
        plan(NEXT, "mesh.v1"),
        running or csv(NOW, OLD),
        csv(NEXT, NEW) if following is None else following,
        policies,
    )


@pytest.mark.parametrize(
    ("driver", "follows"),
    [
        ({}, True),
        ({"enabled": True, "version": "", "repository": ""}, True),
        ({"enabled": False}, False),
        ({"useNvidiaDriverCRD": True}, False),
        ({"repository": "nvcr.io/nvidia", "image": "driver", "version": "580.1"}, False),
        ({"image": "nvcr.io/nvidia/driver:580.1"}, False),
    ],
)
def test_a_policy_that_names_no_driver_follows_the_operator(driver: Object, follows: bool) -> None:
    assert driver_change.follows(policy(**driver)) is follows
    assert bool(found([policy(**driver)])) is follows


def test_the_drivers_of_two_operators() -> None:
    change = found()
    assert change
    assert (change.image, change.to, change.csv, change.next_csv) == (OLD, NEW, NOW, NEXT)
    assert f"{OLD} -> {NEW}" in change.text
    assert found(following=csv(NEXT, OLD)) is None, "the same driver"
    assert found([]) is None, "no policy"
    assert driver_change.find(plan("mesh.v1"), csv(NOW, OLD), csv(NEXT, NEW), [policy()]) is None, (
        "another operator's plan"
    )


def test_the_image_list_serves_where_no_variable_names_the_driver() -> None:
    assert driver_change.default(csv(NOW, related=OLD)) == OLD
    assert driver_change.default(csv(NOW, NEW, related=OLD)) == NEW
    assert driver_change.default(None) == ""


def test_a_driver_that_the_plan_does_not_show_counts_as_another_one() -> None:
    change = found(following={"kind": "unreadable"})
    assert change
    assert "unknown (the plan does not show it)" in change.text


@pytest.mark.parametrize(
    ("image", "triple"),
    [
        (OLD, ("nvcr.io/nvidia", "driver", "sha256:aaaa")),
        ("mirror:5000/nvidia/driver:580.126.20", ("mirror:5000/nvidia", "driver", "580.126.20")),
        ("nvcr.io/nvidia/driver:580@sha256:aaaa", ("nvcr.io/nvidia", "driver", "sha256:aaaa")),
    ],
)
def test_the_image_in_three_parts(image: str, triple: tuple[str, ...]) -> None:
    assert tuple(driver_change.triple(image).values()) == triple


@pytest.mark.parametrize("image", ["", "driver", "nvcr.io/nvidia/driver"])
def test_an_image_that_cannot_be_read(image: str) -> None:
    with pytest.raises(AcceleratorError) as caught:
        driver_change.triple(image)
    assert caught.value.code == "OLM-DRIVER-PIN"


def test_only_our_own_policy_is_pinned_unasked() -> None:
    change = found()
    assert change
    driver_change.check_pin(change, lambda _policy: True, take=False)
    driver_change.check_pin(change, lambda _policy: False, take=True)
    with pytest.raises(AcceleratorError, match="was not created by this collection") as caught:
        driver_change.check_pin(change, lambda _policy: False, take=False)
    assert (caught.value.code, caught.value.facts["driver_change"]["from"]) == ("OLM-DRIVER-PIN", OLD)


def test_the_question_names_drivers_nodes_and_pods() -> None:
    change = found()
    assert change
    nodes: list[dict[str, t.Any]] = [
        {"metadata": {"name": "gpu-0", "labels": {"nvidia.com/cuda.driver-version.full": "580.126.20"}}},
        {"metadata": {"name": "gpu-1"}},
    ]
    pods = [
        {"metadata": {"name": "train", "namespace": "a"}, "spec": {"nodeName": name}}
        for name in ("gpu-0", "elsewhere")
    ]
    error = driver_change.refuse(change, nodes, pods)
    assert error.code == "OLM-DRIVER-CHANGE"
    assert (
        "2 nodes would get it (gpu-0, gpu-1), and 1 pod with GPUs would have to end (a/train on gpu-0)"
        in error.message
    )
    assert "Node gpu-0: driver 580.126.20" in error.evidence
    assert error.facts["driver_change"]["pods"] == ["a/train on gpu-0"]
    assert "No node has a driver now" in driver_change.refuse(change, [], []).message


def test_a_csv_in_the_plan_itself_or_in_a_config_map() -> None:
    whole = csv(NEXT, NEW)
    assert busy.shown(plan(NEXT, manifest=json.dumps(whole)), NEXT) == whole
    assert busy.shown(plan(NEXT, manifest="not JSON"), NEXT) is None
    assert busy.shown(plan(NEXT), "another") is None
    text = json.dumps(whole)
    packed = base64.b64encode(gzip.compress(text.encode()))
    crd = "kind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n"
    assert unpack.csv({"data": {"crd.yaml": crd, "csv.yaml": text}}, NEXT) == whole
    assert unpack.csv({"binaryData": {"csv.yaml": packed.decode()}}, NEXT) == whole
    assert unpack.csv({"binaryData": {"csv.yaml": base64.b64encode(packed).decode()}}, NEXT) == whole, (
        "OLM's own encoding inside of the API's"
    )
    for broken in (
        {"data": {"csv.yaml": f"{NEXT}: ["}},
        {"binaryData": {"x": "!"}},
        {"binaryData": {"x": base64.b64encode(b"no").decode()}},
        None,
    ):
        assert unpack.csv(broken, NEXT) is None
