"""Which NFD instances a cluster has."""

from __future__ import annotations

from unit.sandbox.fake_api import World
from unit.sandbox.nfd.builders import AWS, node

from openshift_sandbox.seed.upstream_nfd import objects as upstream_objects
from openshift_sandbox.stand_ins.nfd.instances import instances
from openshift_sandbox.stand_ins.nfd.worker import NfdWorker, devices_of, pci_labels


def test_workers_of_upstream_s_chart() -> None:
    world = World(NfdWorker(), cluster=AWS)
    for one in upstream_objects({"upstream_nfd": {"namespace": "nfd", "release": "mine"}}):
        world.api.create(one)
    world.settle(1)
    (found,) = instances(world.cluster)
    assert (found.namespace, found.master, found.worker, found.is_openshift) == (
        "nfd",
        "mine-node-feature-discovery-master",
        "mine-node-feature-discovery-worker",
        False,
    )
    assert set(pci_labels(devices_of(node("gpu")), found.config)) == {
        "pci-1013.present",
        "pci-1d0f.present",
        "pci-10de.present",
    }
    assert upstream_objects({}) == []
