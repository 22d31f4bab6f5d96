"""Labels that somebody edits by hand."""

from __future__ import annotations

from unit.sandbox.gpu_operator.builders import labels, make

from openshift_sandbox.stand_ins.people.edits import ForeignEdits


def test_an_edited_label_is_put_back_with_the_trouble() -> None:
    world = make(
        ForeignEdits(),
        troubles=[{"type": "node_label", "key": "accelerators.openshift/pool", "value": "theirs"}],
    )
    world.settle(1)
    assert labels(world)["accelerators.openshift/pool"] == "theirs"
    world.scenario.now.troubles.clear()
    world.settle(1)
    assert labels(world)["accelerators.openshift/pool"] == "test"
