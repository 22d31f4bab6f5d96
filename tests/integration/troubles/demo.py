# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of enable_gpus.yml with the demo's pools while something is wrong."""

from __future__ import annotations

import contextlib
import re
import typing as t

import yaml
from cluster import Cluster
from integration.playbook import ROOT, Playbook, Run

from openshift_sandbox import faults, scenario
from openshift_sandbox.client import ApiError

Data = dict[str, t.Any]
POOLS: t.Final[list[Data]] = yaml.safe_load((ROOT / "examples/demo.yml").read_text())["gpu_pools"]
ENABLE, REMOVE = "enable_gpus", "remove_gpus"
POOL: t.Final = "accelerators.openshift/pool=demo"
OPERATORS: t.Final = "operators.coreos.com/v1alpha1"
MACHINE_SETS: t.Final = ("machine.openshift.io/v1beta1", "machinesets", "openshift-machine-api", POOL)
MACHINES: t.Final = ("machine.openshift.io/v1beta1", "machines", "openshift-machine-api", POOL)
GPU: t.Final = "nvidia-gpu-operator"
POLICIES: t.Final = ("nvidia.com/v1", "clusterpolicies")
# Shorter timeouts: a wait that should end early must not delay the tests for long if it does not.
QUICK: t.Final = {
    "gpu_operator_grace": 3,
    "gpu_node_pool_capacity_timeout": 2,
    **{
        f"{role}_wait_timeout": 90
        for role in ("gpu_node_pool", "node_feature_discovery", "gpu_operator", "gpu_validation")
    },
}
# For chains that have to succeed: on a busy machine a healthy start shows a trouble for longer than 3 s.
PATIENT: t.Final = QUICK | {"gpu_operator_grace": 20}
COLOUR: t.Final = re.compile(r"\x1b\[[0-9;]*m")


class Demo(Playbook):
    """A Playbook for the demo's pools.

    It enables the callback that prints the verdict below the recap, as the checkout's ansible.cfg does.
    """

    @contextlib.contextmanager
    def removed(self, tag: str) -> t.Iterator[None]:
        """Remove what the runs inside create, even if they fail."""
        try:
            yield
        finally:
            assert self.remove(tag).rc == 0

    def enable(self, *tags: str, **more: t.Any) -> Run:
        return self._of_pools(ENABLE, tags, more)

    def remove(self, *tags: str, **more: t.Any) -> Run:
        return self._of_pools(REMOVE, tags, more)

    def _of_pools(self, name: str, tags: t.Sequence[str], more: Data) -> Run:
        return self.playbook(
            name, *(["--tags", ",".join(tags)] if tags else []), **{"gpu_pools": POOLS, **QUICK, **more}
        )

    def _environment(self) -> dict[str, str]:
        return super()._environment() | {"ANSIBLE_CALLBACKS_ENABLED": "accelerators.openshift.verdict"}


@contextlib.contextmanager
def trouble(cluster: Cluster, name: str) -> t.Iterator[None]:
    """Stage the troubles of a scenario's file; clear them at the end."""
    sandbox = cluster.needs_sandbox()
    scripted = [dict(one) for one in scenario.load(name).troubles]
    assert scripted, f"scenario {name} has no trouble"
    for one in scripted:
        faults.add(sandbox, one["type"], {key: value for key, value in one.items() if key != "type"})
    try:
        yield
    finally:
        for one in scripted:
            faults.clear(sandbox, one["type"], {key: value for key, value in one.items() if key != "type"})


def verdict(run: Run, code: str, layer: str) -> Data:
    """Return the failure that ended the run; assert its code, its layer, and the last lines of the output."""
    assert run.rc != 0, run.output
    task = run.failure
    found: Data = next((item for item in task.result.get("results", []) if item.get("failed")), task.result)
    assert (found.get("code"), found.get("layer")) == (code, layer), found.get("msg", found)
    assert found["remedy"]
    said, remedy = COLOUR.sub("", run.output).rstrip().splitlines()[-2:]
    assert said.startswith(f"localhost: {code}: ")
    assert remedy == f"Remedy: {found['remedy']}"
    return found


def gpu_nodes(cluster: Cluster) -> list[str]:
    return sorted(node["metadata"]["name"] for node in cluster.client.list("v1", "nodes", labels=POOL))


def policies(cluster: Cluster) -> list[Data]:
    """Return the ClusterPolicies, an empty list if their CRD does not exist."""
    with contextlib.suppress(ApiError):
        return cluster.client.list(*POLICIES)
    return []


def pool(**changes: t.Any) -> list[Data]:
    return [POOLS[0] | changes]
