# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""diagnose.yml on clusters of another shape: no alarm where all is well, and a NIC driver that fails."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
from cluster import Cluster, own
from documents import troubles
from integration.playbook import Playbook
from integration.stack.operators.subscribed import subscribe
from integration.troubles.demo import PATIENT
from integration.troubles.diagnosed import Data, Diagnosis
from integration.wire import Audit

STARTS_CLUSTERS = True
pytestmark = pytest.mark.long("a cluster for each: the judges of these stacks have unit tests")

DRA: t.Final[Data] = {
    "gpu_backend": "dra",
    "gpu_pools": [
        {
            "name": "claims",
            "candidates": [{"instance_type": "g4dn.12xlarge", "zones": ["us-east-2a"]}],
            "replicas": 1,
        }
    ],
}
HOSTED: t.Final = {"hypershift.openshift.io/nodePool": "demo-gpu"}
SINGLE: t.Final = {"node-role.kubernetes.io/worker": ""}
NICS: t.Final[Data] = {
    "backend": "nicclusterpolicy",
    "nic_cluster_policy": {
        "ofed_driver": {},
        "rdma_shared_device_plugin": {"resources": [{"name": "rdma_a"}]},
    },
    "pools": [
        {"name": rdma, "node_selector": {"rdma": rdma}, "expected": {"rdma/rdma_a": 63}}
        for rdma in ("ethernet", "infiniband")
    ],
    "grace": 5,
    "wait_timeout": 90,
}


class Elsewhere(t.NamedTuple):
    """A cluster, its diagnosis, and its audit log."""

    diagnosis: Diagnosis
    audit: Audit

    def enable(self, **given: t.Any) -> None:
        run = self.diagnosis.playbook.playbook("enable_gpus", **PATIENT | given)
        assert run.rc == 0, run.output[-3000:]


@contextlib.contextmanager
def elsewhere(request: pytest.FixtureRequest, scenario: str) -> t.Iterator[Elsewhere]:
    with own(scenario) as cluster:
        folder = request.getfixturevalue("tmp_path")
        playbook = Playbook(folder, cluster.kubeconfig)
        is_recorded = bool(request.config.getoption("--record"))
        yield Elsewhere(Diagnosis(cluster, playbook, is_recorded), Audit(_log(cluster), cluster.client))


def _log(cluster: Cluster) -> t.Any:
    return cluster.needs_sandbox().audit_log


def existing(labels: dict[str, str], gpus: int) -> list[Data]:
    chosen = {"node_selector": labels, "expected": {"nvidia.com/gpu": gpus}}
    return [{"name": "gpu", "existing": chosen}]


@pytest.mark.parametrize(
    ("scenario", "given"),
    [
        ("no-olm", None),
        ("hosted", {"gpu_pools": existing(HOSTED, 1)}),
        ("single-node", {"gpu_pools": existing(SINGLE, 2)}),
        ("aws", DRA),
    ],
    ids=["no OLM", "hosted", "single node", "DRA"],
)
def test_nothing_is_wrong(request: pytest.FixtureRequest, scenario: str, given: Data | None) -> None:
    with elsewhere(request, scenario) as place:
        if given:
            place.enable(**given)
        place.diagnosis.is_quiet(place.audit)


def test_two_stacks_and_a_nic_driver_that_does_not_build(request: pytest.FixtureRequest) -> None:
    [row] = [one for one in troubles.rows() if one.get("begin") == "rdma"]
    with elsewhere(request, "rdma") as place:
        place.enable(gpu_pools=existing({"rdma": "ethernet"}, 4))
        subscribe(place.diagnosis.playbook, {"nvidia-network-operator": "nvidia-network-operator"})
        made = place.diagnosis.playbook.module("special_resource", **NICS)
        assert not made.failed, made.result
        place.diagnosis.is_quiet(place.audit)
        with place.diagnosis.staged(row):
            place.diagnosis.finds(row)
