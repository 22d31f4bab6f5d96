# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and labels that a pool may not have."""

from __future__ import annotations

import typing as t

import pytest
from unit import pool_builders
from unit.pools.builders import NOBODY, Data, existing, pool, problems

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError

MASTER: t.Final = "node-role.kubernetes.io/master"
CONTROL_PLANE: t.Final = "node-role.kubernetes.io/control-plane"


@pytest.mark.parametrize("name", ["worker", "infra", "master"])
def test_a_pool_has_no_name_of_the_installer(name: str) -> None:
    assert problems([pool(name=name)]) == [("POOL-NAME", "gpu_pools[0].name")]


def test_a_name_leaves_room_for_the_host_name_of_a_machine() -> None:
    assert problems([pool(name="a" * 36)], prefix="demo-x7k2p") == [("POOL-NAME", "gpu_pools[0].name")]
    assert pool_builders.plan([pool(name="a" * 35)], cloud="aws", prefix="demo-x7k2p")["pools"]


def test_existing_nodes_may_be_called_workers() -> None:
    (found,) = pool_builders.plan([existing(1, gpu="x") | {"name": "worker"}])["pools"]
    assert found["name"] == "worker"


@pytest.mark.parametrize("key", [MASTER, CONTROL_PLANE])
@pytest.mark.parametrize("way", ["labels", "node_selector"])
def test_no_pool_gives_or_selects_a_role_of_the_control_plane(way: str, key: str) -> None:
    label = {key: ""}
    old: Data = {"node_selector": label, "expected": {"nvidia.com/gpu": 1}}
    wrong = pool(labels=label) if way == "labels" else pool(**NOBODY, existing=old)
    path = f"labels.{key}" if way == "labels" else f"existing.node_selector.{key}"
    assert problems([wrong]) == [("POOL-LABEL-TAKEN", f"gpu_pools[0].{path}")]


@pytest.mark.parametrize(
    ("key", "instead"),
    [
        ("nvidia.com/device-plugin.config", "Set sharing of the pool."),
        ("nvidia.com/mig.config", "Set sharing.mig of the pool."),
        ("nvidia.com/gpu.workload.config", "Set workload of the pool."),
        ("nvidia.com/gpu.deploy.driver", "gpu_operator_spec"),
        ("nvidia.com/gpu-driver-upgrade.skip", "upgrade_driver.yml"),
        ("nvidia.com/gpu.present", "A label of your own"),
        ("network.nvidia.com/operator.mofed.wait", "A label of your own"),
        *((f"{owner}/a", "A label of your own") for owner in ("amd.com", "gpu.intel.com", "habana.ai")),
        *(
            (f"{owner}.openshift.io/a", "A label of your own")
            for owner in ("node", "machine", "machineconfiguration")
        ),
        *(
            (key, "A label of your own")
            for key in ("kmm.sigs.x-k8s.io/a", "kubernetes.io/os", "beta.kubernetes.io/os")
        ),
        *((key, "A label of your own") for key in ("topology.ebs.csi.aws.com/zone",)),
        ("failure-domain.beta.kubernetes.io/zone", "Set zones"),
        ("nvidia.com/ofed-driver-upgrade.skip", "upgrade_operators.yml"),
        ("kmm.node.kubernetes.io/openshift-kmm.amd.ready", "A label of your own"),
        ("feature.node.kubernetes.io/pci-10de.present", "node_feature_discovery_rules"),
        ("kubernetes.io/hostname", "A label of your own"),
        ("kubernetes.io/arch", "instance_type"),
        ("node.kubernetes.io/instance-type", "instance_type"),
        ("topology.kubernetes.io/zone", "Set zones"),
    ],
)
def test_a_label_that_somebody_else_writes_or_obeys_is_refused(key: str, instead: str) -> None:
    with pytest.raises(InputError) as raised:
        pool_builders.plan([pool(labels={key: "x"})], cloud="aws")
    assert raised.value.code == "POOL-LABEL-TAKEN"
    assert raised.value.message.startswith(f"gpu_pools[0].labels.{key}: ")
    assert instead in raised.value.remedy


@pytest.mark.parametrize("key", ["team", "example.com/nvidia", "node-role.kubernetes.io/gpu", "gpu"])
def test_a_label_of_the_users_own_is_allowed(key: str) -> None:
    pool_builders.plan([pool(labels={key: ""})], cloud="aws")
