# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools elsewhere than in the three big clouds: a candidate for each platform, and what is planned for it."""

from __future__ import annotations

import copy
import typing as t

from unit import pool_builders

from ansible_collections.accelerators.openshift.plugins.module_utils._core import ownership
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import (
    candidates,
    machine_set,
    plan as machine_plan,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import infrastructure
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool
from openshift_sandbox import scenario
from openshift_sandbox.seed import cluster as seed_cluster, nodes
from openshift_sandbox.seed.platforms.registry import platform as seeded

Data = dict[str, t.Any]
GPUS: t.Final = {"gpus": 2, "gpu_model": "L40S"}
PARAMS: t.Final = {"namespace": "openshift-machine-api"}
CANDIDATES: t.Final[dict[str, Data]] = {
    "baremetal": {"instance_type": "l40s-server", **GPUS, "baremetal": {"host_selector": {"gpu": "l40s"}}},
    "vsphere": {"instance_type": "gpu-template", **GPUS, "zones": ["fd-cluster-b"]},
    "openstack": {"instance_type": "g1.l40s.2", **GPUS, "zones": ["az1"]},
    "nutanix": {
        "instance_type": "two",
        **GPUS,
        "zones": ["fd-pe-2"],
        "nutanix": {"gpus": [{"name": "Ada L40S"}, {"device_id": 9909}]},
    },
    "ibmcloud": {"instance_type": "gx3-16x80x1l4", "zones": ["us-east-2"]},
}


def cluster(name: str) -> tuple[infrastructure.Infrastructure, list[Data]]:
    """Infrastructure and worker sets as the installer leaves them."""
    shape = scenario.load(name).cluster
    found = infrastructure.read(seed_cluster.infrastructure(shape))
    sets = []
    for zone in shape["zones"]:
        value = seeded(shape).provider_spec(shape, "worker", zone, shape["workers"]["instance_type"])
        sets.append(nodes.machine_set(shape, seeded(shape).machine_set(shape, zone), value, "", 1))
    return found, sets


def single(name: str, **changes: t.Any) -> Pool:
    found, _sets = cluster(name)
    return pool_builders.single(
        {"name": "gpu", "candidates": [CANDIDATES[name]], "replicas": 1, **changes}, found.cloud, found.name
    )


def planned(
    name: str, live: t.Sequence[Data] = (), image: str = "", **changes: t.Any
) -> machine_plan.MachinePlan:
    found, workers = cluster(name)
    pool = single(name, **changes)
    held = machine_plan.held(found, pool, live)
    return machine_plan.plan(
        found, pool, candidates.start(pool, held).shares, [*workers, *live], {**PARAMS, "image": image}
    )


def lived(plan: machine_plan.MachinePlan) -> list[Data]:
    """The sets as the cluster has them once they are made."""
    made = copy.deepcopy(list(plan.manifests.values()))
    for one in made:
        one["metadata"]["labels"] |= ownership.MANAGED_BY
    return made


def value(plan: machine_plan.MachinePlan) -> Data:
    (manifest,) = plan.manifests.values()
    return machine_set.provider_of(manifest)
