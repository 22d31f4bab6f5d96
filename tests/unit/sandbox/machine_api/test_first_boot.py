"""The configuration that a machine starts with."""

from __future__ import annotations

import base64

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.machine_api.builders import CLUSTER, NAMESPACE, add, make

from openshift_sandbox.seed.access import user_data

KEYS = "machineconfiguration.openshift.io/"


def secret(world: World, name: str, text: str) -> None:
    data = {"userData": base64.b64encode(text.encode()).decode()}
    metadata = {"name": name, "namespace": NAMESPACE}
    world.api.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})


def pool(world: World, name: str, configuration: str | None) -> None:
    status = {"configuration": {"name": configuration}} if configuration else {}
    world.api.create(
        {
            "apiVersion": f"{KEYS}v1",
            "kind": "MachineConfigPool",
            "metadata": {"name": name},
            "spec": {"configuration": {"name": "newer"}},
            "status": status,
        }
    )


def joined(world: World, secret_name: str = "worker-user-data") -> dict[str, str] | None:
    """Return the annotations of the node of a new machine, or None when it does not join."""
    value = {
        "instanceType": "p5.48xlarge",
        "placement": {"availabilityZone": "us-east-2a", "region": "us-east-2"},
        "userDataSecret": {"name": secret_name},
    }
    add(world, providerSpec={"value": value})
    world.settle(5)
    nodes = world.api.all("Node")
    return dict(nodes[0]["metadata"]["annotations"]) if nodes else None


def test_the_workers_configuration_is_the_one_that_they_have_not_the_one_that_they_get() -> None:
    world = make()
    secret(world, "worker-user-data", user_data(CLUSTER | {"base_domain": "example.com"}, "worker-user-data"))
    pool(world, "worker", "rendered-worker-now")
    notes = joined(world)
    assert notes is not None
    assert notes[f"{KEYS}currentConfig"] == notes[f"{KEYS}desiredConfig"] == "rendered-worker-now"


def test_the_pool_in_the_user_data() -> None:
    world = make()
    text = user_data(CLUSTER | {"base_domain": "example.com"}, "worker-user-data")
    secret(world, "gpu-user-data", text.replace("/config/worker", "/config/gpu"))
    pool(world, "worker", "rendered-worker-now")
    pool(world, "gpu", "rendered-gpu-0123")
    spec = {"kernelArguments": ["hugepagesz=1G", "hugepages=8"]}
    metadata = {"name": "rendered-gpu-0123"}
    world.api.create({"apiVersion": f"{KEYS}v1", "kind": "MachineConfig", "metadata": metadata, "spec": spec})
    notes = joined(world, "gpu-user-data")
    assert notes is not None
    assert notes[f"{KEYS}currentConfig"] == "rendered-gpu-0123"
    assert world.api.all("Node")[0]["status"]["capacity"]["hugepages-1Gi"] == "8192Mi"


@pytest.mark.parametrize("known", [True, False])
def test_a_machine_does_not_join_before_its_pool_has_a_configuration(known: bool) -> None:
    world = make()
    secret(world, "gpu-user-data", '{"source": "https://api-int:22623/config/gpu"}')
    if known:
        pool(world, "gpu", None)
    assert joined(world, "gpu-user-data") is None


def test_without_user_data_it_is_a_worker() -> None:
    notes = joined(make(), "nowhere")
    assert notes is not None
    assert notes[f"{KEYS}currentConfig"].startswith("rendered-worker-")
