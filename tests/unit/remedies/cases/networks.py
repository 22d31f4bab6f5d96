"""The variable of a playbook ends the refusal of gpu_network on busy nodes."""

from __future__ import annotations

import typing as t

from unit.networks.builders import World, gpu_pod, node, params, sriov, state
from unit.remedies.case import Case, Cases, Options, failure

from ansible_collections.accelerators.openshift.plugins.module_utils._networks import steps


def make(options: Options) -> str | None:
    """Make virtual functions on a node with a pod that uses a GPU."""
    world = World(node("n1"), state("n1"), gpu_pod("train", "n1"))
    return failure(lambda: steps.present(world.api(), params(sriov(), on_busy=options["on_busy"])))


CASES: t.Final[Cases] = {("NET-BUSY", "gpu_on_busy"): Case("gpu_network", make, where="gpu_network")}
