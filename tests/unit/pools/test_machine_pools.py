"""The command that makes a pool's nodes where Red Hat operates the cluster."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._pools import machine_pools, plan
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.draft import Place
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.model import Pool

Data = dict[str, t.Any]
T4: t.Final[Data] = {
    "name": "t4",
    "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
    "replicas": 2,
    "taints": [
        {"key": "nvidia.com/gpu", "value": "t4", "effect": "NoSchedule"},
        {"key": "team", "effect": "PreferNoSchedule"},
    ],
}
EXISTING: t.Final = "`existing: {node_selector: {gpu-pool: t4}, expected: {nvidia.com/gpu: 1}}`"


def planned(**changes: t.Any) -> Pool:
    (pool,) = plan.draft([{**T4, **changes}]).pools(Place("aws"))
    return pool


@pytest.mark.parametrize(
    ("managed", "changes", "command"),
    [
        (
            "rosa",
            {},
            "rosa create machinepool --cluster NAME --name t4 --instance-type g4dn.xlarge "
            "--availability-zone us-east-2a --replicas 2 --labels gpu-pool=t4 "
            "--taints nvidia.com/gpu=t4:NoSchedule,team=:PreferNoSchedule",
        ),
        (
            "osd",
            {"taints": [], "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["a", "b"]}]},
            "ocm create machinepool --cluster NAME --instance-type g4dn.xlarge --replicas 2 "
            "--labels gpu-pool=t4 t4",
        ),
        (
            "rosa",
            {"taints": [], "replicas": None, "autoscale": {"min": 1, "max": 3}},
            "rosa create machinepool --cluster NAME --name t4 --instance-type g4dn.xlarge "
            "--availability-zone us-east-2a --enable-autoscaling --min-replicas 1 --max-replicas 3 "
            "--labels gpu-pool=t4",
        ),
    ],
    ids=["rosa", "dedicated", "autoscaled"],
)
def test_the_command_has_all_that_the_pool_says(managed: str, changes: Data, command: str) -> None:
    remedy = machine_pools.instead(planned(**changes), managed)
    assert remedy == f"Run `{command}`, then give pool t4 {EXISTING} in place of its candidates."
