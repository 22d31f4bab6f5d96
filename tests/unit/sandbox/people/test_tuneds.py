"""Another team's Tuned with a profile of the same name."""

from __future__ import annotations

from unit.sandbox.fake_api import World
from unit.sandbox.node_tuning.builders import NAMESPACE, node, reasons, says, tuned

from openshift_sandbox.stand_ins.node_tuning.operand import TunedDaemons
from openshift_sandbox.stand_ins.node_tuning.operator import NodeTuningOperator
from openshift_sandbox.stand_ins.people.tuneds import NAME, ForeignTuneds


def test_a_profile_of_somebody_is_defined_twice() -> None:
    world = World(
        NodeTuningOperator(),
        TunedDaemons(),
        ForeignTuneds(),
        cluster={"version": "4.22.5"},
        troubles=[{"type": "profile_invalid"}],
    )
    world.api.create(node("g", pool="training"))
    world.settle(1)
    assert len(world.api.all("Tuned")) == 1
    world.api.create(tuned("gpu"))
    world.settle(2)
    for name in ("gpu", NAME):
        assert reasons(world.api.get("Tuned", name, NAMESPACE))["Valid"][0] == "InvalidConfiguration"
    assert says(world, "g")[0] == "openshift-node"


def test_a_profile_with_a_name_is_there_from_the_beginning() -> None:
    world = World(
        ForeignTuneds(), troubles=[{"type": "profile_invalid", "profile": "gpu", "text": "[main]\n"}]
    )
    world.settle(1)
    assert world.api.get("Tuned", NAME, NAMESPACE)["spec"]["profile"] == [{"name": "gpu", "data": "[main]\n"}]
    assert len(world.api.writes) == 1
