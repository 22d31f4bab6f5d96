"""What is asked before an object changes of whose operator nobody knows what it ends."""

from __future__ import annotations

import typing as t

import pytest
from unit import managed
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.stack.builders import some_params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.steps import ask_change

Object = dict[str, t.Any]
LIVE: t.Final[Object] = {"apiVersion": "a/v1", "kind": "FpgaStack", "metadata": {"name": "fpga"}}
POOLS: t.Final = [{"node_selector": {"pool": "a"}}]


def ask(wanted: Object | None, device: str = "amd.com/gpu", **more: t.Any) -> list[dict[str, t.Any]]:
    server = FakeServer("Node", "Pod")
    server.put({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"pool": "a"}}})
    limits = {"limits": {device: "1"}}
    server.put(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "train", "namespace": "team"},
            "spec": {"nodeName": "n", "containers": [{"name": "c", "resources": limits}]},
            "status": {"phase": "Running"},
        }
    )
    live = managed.live({**LIVE, "spec": {"image": {"tag": "1"}, "metrics": True}})
    params = some_params(**{"pools": POOLS, **more.pop("params", {})})
    return ask_change(api_on(server), params, live, wanted, **more)


def test_each_change_and_the_deletion_of_an_object_are_asked_for() -> None:
    newer = {**LIVE, "spec": {"image": {"tag": "2"}, "metrics": True}}
    with pytest.raises(AcceleratorError, match=r"spec\.image\.tag of FpgaStack fpga changes") as caught:
        ask(newer)
    assert caught.value.code == "GPU-BUSY"
    assert caught.value.message.endswith("Nothing was changed.")
    with pytest.raises(AcceleratorError, match="FpgaStack fpga is deleted"):
        ask(None)
    (ends,) = ask(newer, params={"on_busy": "drain"})
    assert [one["name"] for one in ends["pods"]] == ["train"]
    elsewhere = {"pools": [{"node_selector": {"pool": "b"}}]}
    assert ask(newer, params=elsewhere) == []
    with pytest.raises(AcceleratorError):
        ask(newer, params={"pools": []})


def test_what_does_not_change_or_is_known_to_end_nothing_is_not_asked_for() -> None:
    assert ask({**LIVE, "spec": {"image": {"tag": "1"}, "metrics": True}}) == []
    newer = {**LIVE, "spec": {"image": {"tag": "2"}, "metrics": True}}
    assert ask(newer, harmless=("image",)) == []


@pytest.mark.parametrize("device", ["example.com/fpga", "rdma/shared", "openshift.io/vf"])
def test_pods_with_any_device_are_asked_for(device: str) -> None:
    newer = {**LIVE, "spec": {"image": {"tag": "2"}, "metrics": True}}
    for wanted in (newer, None):
        with pytest.raises(AcceleratorError, match="pod with devices") as caught:
            ask(wanted, device)
        assert caught.value.code == "GPU-BUSY"
    assert ask(newer, "devices.kubevirt.io/kvm") == [], "no device"
