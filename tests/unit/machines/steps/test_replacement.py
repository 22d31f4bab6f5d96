# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run that is over left behind, and what a replacement may end."""

from __future__ import annotations

import dataclasses
import typing as t

import pytest
from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.machines.builders import Data, lived, plan
from unit.nodes.builders import pod

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.session import Unguarded
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import machine_set
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.pool_options import (
    GpuMachinesetParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import replacement
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps.replacement import (
    Replacement,
)

DRAINING = "eva|laptop||2|2|"


class Guard(Unguarded):
    """A guard that knows one run that still changes the cluster."""

    def is_over(self, run_id: str) -> bool:
        return run_id != DRAINING


def cordoned(mark: str = "pool", run: str = "") -> Data:
    prefix = "accelerators.openshift/cordoned"
    annotations = {prefix: mark, **({f"{prefix}-by-run": run} if run else {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "annotations": annotations},
        "spec": {"unschedulable": True},
    }


@pytest.mark.parametrize(
    ("node", "stays"),
    [
        (cordoned(run=DRAINING), True),
        (cordoned(run="eva|laptop||1|1|"), False),
        (cordoned(), False),
        (cordoned(mark="admin"), True),
    ],
)
def test_only_a_cordon_of_a_run_that_is_over_goes(node: Data, stays: bool) -> None:
    server = FakeServer()
    server.put(node)
    replacement.restore(api_on(server, guard=Guard()), {"nodes": [node], "machines": []})
    (live,) = server.objects.values()
    assert bool(live["spec"].get("unschedulable")) is stays


DELETE: t.Final = "machine.openshift.io/delete-machine"


class Surge:
    """A pool of two Machines, o-1 and o-2, in the middle of a replacement of both.

    n-1 has become a Node, and the provider has no instance for n-2. work: nodes with a pod that has a GPU.
    """

    def __init__(self, *work: str, on_busy: str = "fail") -> None:
        self.server = FakeServer("MachineSet", "Machine", "Node", "Pod")
        planned = plan(replicas=2)
        (self.set,) = lived(planned)
        name = self.set["metadata"]["name"]
        surged = machine_set.surged(planned.manifests[name], ["o-1", "o-2"])
        api_on(self.server).apply(surged)
        for one, day in (("o-1", 1), ("o-2", 2), ("n-1", 3), ("n-2", 4)):
            self.machine(name, one, day, has_node=one != "n-2")
        for node in work:
            job = pod(f"job-{node}", node=node, gpus=1)
            self.server.put({"apiVersion": "v1", "kind": "Pod", **job})
        params = {
            "namespace": "openshift-machine-api",
            "on_busy": on_busy,
            "adopt": "report",
            "capacity_timeout": 0,
            "approve_csrs": False,
        }
        self.replacement = Replacement(
            api_on(self.server),
            dataclasses.replace(planned, manifests={name: surged}),
            t.cast(GpuMachinesetParams, params),
        )

    def machine(self, of: str, name: str, day: int, has_node: bool) -> None:
        labels = {"machine.openshift.io/cluster-api-machineset": of, "accelerators.openshift/pool": "t4"}
        node = f"node-{name}"
        metadata = {"name": name, "namespace": "openshift-machine-api", "labels": labels}
        metadata |= {"creationTimestamp": f"2026-11-0{day}T00:00:00Z"}
        status = {"phase": "Running", "nodeRef": {"name": node}} if has_node else {"phase": "Provisioning"}
        self.server.put(
            {
                "apiVersion": "machine.openshift.io/v1beta1",
                "kind": "Machine",
                "metadata": metadata,
                "spec": {},
                "status": status,
            }
        )
        if has_node:
            ready = {"conditions": [{"type": "Ready", "status": "True"}]}
            self.server.put(
                {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}, "spec": {}, "status": ready}
            )

    def give_up(self) -> NotReadyError:
        exc = NotReadyError("MACH-CAPACITY", "no capacity.")
        assert self.replacement.give_up({self.set["metadata"]["name"]}, exc)
        return exc

    @property
    def marked(self) -> list[str]:
        machines = [one["metadata"] for key, one in self.server.objects.items() if key[1] == "machines"]
        return sorted(one["name"] for one in machines if DELETE in one.get("annotations", {}))

    @property
    def replicas(self) -> int:
        (found,) = [one for key, one in self.server.objects.items() if key[1] == "machinesets"]
        return int(found["spec"]["replicas"])


def test_a_surge_that_is_refused_in_part_marks_every_new_machine() -> None:
    """Replicas fall by two, so two Machines have to be marked: the Machine API would choose an old one."""
    surge = Surge()
    assert "Nothing was replaced" in surge.give_up().message
    assert surge.marked == ["n-1", "n-2"]
    assert surge.replicas == 2
    (live,) = [one for key, one in surge.server.objects.items() if key[1] == "machinesets"]
    assert machine_set.replacing_of(live) == []


def test_a_new_machine_on_which_work_has_started_is_not_given_back_unasked() -> None:
    surge = Surge("node-n-1")
    with pytest.raises(AcceleratorError) as caught:
        surge.give_up()
    assert caught.value.code == "NODE-BUSY"
    assert (surge.marked, surge.replicas) == ([], 4)


def test_a_pool_without_a_replacement_gives_nothing_back() -> None:
    surge = Surge()
    exc = NotReadyError("MACH-CAPACITY", "no capacity.")
    assert not surge.replacement.give_up({"another"}, exc)
    assert exc.message == "no capacity."
    assert surge.replicas == 4


def test_the_substitute_for_a_machine_that_went_has_no_work() -> None:
    """o-2 and n-2 went, and the set has one Machine too many; n-1 has work."""
    surge = Surge("node-n-1")
    for key in [key for key in surge.server.objects if key[3] in ("o-2", "n-2")]:
        del surge.server.objects[key]
    api = api_on(surge.server, check_mode=True)
    ends = Replacement(api, surge.replacement.plan, surge.replacement.params)
    ends._end(surge.set["metadata"]["name"], ["o-2"])
    assert [one["machine"] for one in ends.replaced] == ["o-1"]
