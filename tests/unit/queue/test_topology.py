# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Topology of the flavors: made, refused, and removed."""

from __future__ import annotations

import typing as t

import pytest
from unit.queue.builders import World, params, pools, queue, share

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._queue import (
    options,
    removal_steps,
    steps,
)

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
LEVELS: t.Final = [ZONE, HOST]


def made(*levels: str) -> World:
    world = World()
    steps.present(world.api(), params(queue(), topology=list(levels)))
    return world


def refused(world: World, **given: t.Any) -> AcceleratorError:
    with pytest.raises(AcceleratorError) as caught:
        steps.present(world.api(), params(queue(), **given))
    assert not world.server.writes()
    return caught.value


def test_each_flavor_names_the_topology_that_comes_before_it() -> None:
    world = made(*LEVELS)
    assert [path.split("/")[4] for _method, path in world.server.writes()][:2] == [
        "topologies",
        "resourceflavors",
    ]
    levels = [{"nodeLabel": ZONE}, {"nodeLabel": HOST}]
    assert world.must("topologies", "gpu-pools")["spec"] == {"levels": levels}
    assert world.must("resourceflavors", "training")["spec"]["topologyName"] == "gpu-pools"
    steps.present(world.api(), params(queue(), topology=LEVELS))
    assert not world.server.writes()


@pytest.mark.parametrize(
    ("levels", "path"),
    [
        pytest.param(["not a label"], "gpu_queue_topology[0]", id="blank"),
        pytest.param([ZONE, "Upper/zone"], "gpu_queue_topology[1]", id="prefix"),
        pytest.param([ZONE, ZONE], "gpu_queue_topology[1]", id="twice"),
        pytest.param([HOST, ZONE], "gpu_queue_topology[0]", id="below a node"),
    ],
)
def test_wrong_levels_are_refused_with_their_path(levels: list[str], path: str) -> None:
    with pytest.raises(InputError) as caught:
        options.levels(params(queue(), topology=levels))
    assert caught.value.code == "QUEUE-TOPOLOGY"
    assert caught.value.message.startswith(f"{path}:")


def test_a_kueue_without_topologies_is_refused_only_if_one_is_wanted() -> None:
    world = World()
    del world.server.served[world.version, "topologies"]
    assert refused(world, topology=LEVELS).code == "QUEUE-NO-TOPOLOGY"
    assert steps.present(world.api(), params(queue()))["queues"]
    assert removal_steps.absent(world.api(), params(state="absent"))["queues"] == [{"name": "research"}]


@pytest.mark.parametrize(
    ("levels", "what"), [([ZONE], "Topology gpu-pools"), ([], "ResourceFlavor training")]
)
def test_nobody_can_change_a_topology(levels: list[str], what: str) -> None:
    error = refused(made(*LEVELS), topology=levels)
    assert error.code == "QUEUE-TOPOLOGY-FIXED"
    assert error.message.startswith(what)


def test_a_flavor_can_get_a_topology_later() -> None:
    world = made()
    steps.present(world.api(), params(queue(), topology=LEVELS))
    assert world.must("resourceflavors", "training")["spec"]["topologyName"] == "gpu-pools"


def test_a_pool_that_the_autoscaler_scales_is_named() -> None:
    described = {
        "name": "training",
        "candidates": [{"instance_type": "p4d.24xlarge", "zones": ["us-east-2a"]}],
        "autoscale": {"min": 0, "max": 2},
    }
    for levels, count in (([], 0), (LEVELS, 1)):
        api = World().api()
        steps.present(api, params(queue(), pools=pools(described), topology=levels))
        assert sum("no Job brings a node" in text for text in api.warnings) == count


def test_the_topology_goes_with_the_last_flavor() -> None:
    world = World()
    wanted = (queue(), queue("batch", share("batch")))
    steps.present(world.api(), params(*wanted, topology=LEVELS))
    removal_steps.absent(world.api(), params(state="absent", pools=pools()[:1]))
    assert world.names("topologies") == ["gpu-pools"]
    api = world.api(check_mode=True)
    removal_steps.absent(api, params(state="absent"))
    assert len(api.changes) == 4
    removal_steps.absent(world.api(), params(state="absent"))
    assert world.names("topologies") == world.names("resourceflavors") == []


def test_a_topology_of_others_stays() -> None:
    world = made(*LEVELS)
    world.must("topologies", "gpu-pools")["metadata"].pop("labels")
    removal_steps.absent(world.api(), params(state="absent"))
    assert world.names("topologies") == ["gpu-pools"]
