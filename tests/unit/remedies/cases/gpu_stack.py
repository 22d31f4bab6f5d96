"""The variables of the GPU stack end the failures whose remedies name them."""

from __future__ import annotations

import json
import typing as t
from unittest import mock

from unit.engine import api_on
from unit.fake_server import Answer, FakeServer
from unit.monitoring.builders import cluster as monitored, namespace, policy as exporting
from unit.nfd.builders import instance
from unit.operators.builders import csv_name
from unit.pools.builders import DRIVER, existing
from unit.remedies.case import LEFT_OUT, Case, Cases, Options, checked, ensured
from unit.remedies.clusters import olm_world as olm, policy
from unit.stack.builders import POOL
from unit.upgrade.in_memory.builders import NEW, gpu_pod
from unit.upgrade.in_memory.controller import Operator
from unit.upgrade.test_rollback_steps import Patient

from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd.instance import pci_classes
from ansible_collections.accelerators.openshift.plugins.module_utils._stack import steps
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.manifest import (
    effective_tolerations,
)
from ansible_collections.accelerators.openshift.plugins.modules import gpu_plan, nfd_labels

MODULE: t.Final = "special_resource"
TRIPLE: t.Final = {"version": NEW, "repository": "nvcr.io/nvidia", "image": "driver"}


class Careful(Operator):
    """The operator upgrades drivers only where the policy says so."""

    def work(self) -> None:
        section = self.must("ClusterPolicy", policy.NAME)["spec"]["driver"]
        if section["upgradePolicy"].get("autoUpgrade", True):
            super().work()
        else:
            for one in self._daemonsets():
                self._template(one)


def busy(options: Options) -> str | None:
    """Bring another driver to a node with a pod that has a GPU."""
    return changed(Operator(("gpu-0",), gpu_pod("train", "gpu-0")), options)


def kept(options: Options) -> str | None:
    """Bring another driver to a node with a pod that no controller made, and let pods end."""
    alone = gpu_pod("train", "gpu-0")
    alone["metadata"]["ownerReferences"] = []
    return changed(Operator(("gpu-0",), alone), {"on_busy": "drain", **options})


def changed(operator: Operator, options: Options, seconds: float = 0.0) -> str | None:
    """Ask for another driver. The task has no time: in memory most things happen at once, or never."""
    api = operator.api()
    api.deadline.seconds = seconds
    plain = {"pools": [POOL], "name": policy.NAME, "driver": TRIPLE, "settle": 0}
    # No status in memory is older than the object.
    with mock.patch.object(steps, "REACTION", 0):
        return ensured(MODULE, api, {**plain, **options})


def outdated(options: Options) -> str | None:
    """Bring another driver to nodes whose drivers the operator upgrades only if the policy says so."""
    return changed(Careful(("gpu-0",)), options)


def without_exporter(options: Options) -> str | None:
    """Write the ClusterPolicy, then set up the monitoring."""
    live = exporting()
    live["metadata"]["labels"] = dict(MANAGED_BY)
    server = monitored(namespace(), live)
    policy.write(api_on(server), options)
    return ensured("gpu_monitoring", api_on(server), {})


def slow(options: Options) -> str | None:
    """Bring another driver to a node where the operator waits for a pod, which ends after some minutes."""
    operator = Patient(("gpu-0",), gpu_pod("train", "gpu-0"))

    def request(method: str, url: str, **more: t.Any) -> Answer:
        operator.clock.seconds += 5 if operator.is_waiting else 0
        operator.let_end("train", 200)
        return operator.request(method, url, **more)

    operator.server.request = request
    rules = {"autoUpgrade": True, "waitForCompletion": {"podSelector": "app=train"}}
    given = {"on_busy": "drain", "spec": {"driver": {"upgradePolicy": rules}}}
    return changed(operator, {**given, **options}, 30.0)


class Tolerating(Operator):
    """The operator gives all DaemonSets the tolerations of the policy."""

    def work(self) -> None:
        found = effective_tolerations(self.must("ClusterPolicy", policy.NAME))
        for one in self.all("DaemonSet"):
            one["spec"]["template"]["spec"]["tolerations"] = found
            self.server.put(one)
        super().work()


def tainted(options: Options) -> str | None:
    """Bring the stack to a node with the taint of a team."""
    operator = Tolerating(("gpu-0",))
    operator.node("gpu-0")["spec"]["taints"] = [{"key": "team", "value": "a", "effect": "NoSchedule"}]
    return changed(operator, options)


def unlabelled(options: Options) -> str | None:
    """Have NFD label a node with an NVIDIA GPU, a 3D controller of class 03; then look at the stack."""
    server = FakeServer("NodeFeatureDiscovery", "Node", "Deployment")
    live = instance(config="sources: {pci: {deviceClassWhitelist: ['02']}}")
    live["metadata"]["labels"] = dict(MANAGED_BY)
    server.put({"apiVersion": "nfd.openshift.io/v1", **live})
    nfd_labels.ensure(api_on(server, wait_wanted=False), checked("nfd_labels", options))
    (found,) = (one for one in server.objects.values() if one["kind"] == "NodeFeatureDiscovery")
    operator = Operator(("gpu-0",))
    if "03" not in pci_classes(found):
        marks = operator.node("gpu-0")["metadata"]["labels"]
        for key in [key for key in marks if "pci-" in key]:
            del marks[key]
    return changed(operator, {})


def foreseen(server: FakeServer, options: Options, **given: t.Any) -> str | None:
    """Bring the stack to the nodes in check mode."""
    plain = {"pools": [POOL]}
    return ensured(MODULE, api_on(server, check_mode=True), {**plain, **given, **options})


def planned(options: Options, server: FakeServer) -> str | None:
    """Plan the pools of a user, and bring the stack of the plan to the nodes in check mode."""
    given = checked("gpu_plan", {"platform": "aws", **options})
    plan = gpu_plan.ensure(api_on(FakeServer()), given)["plan"]
    return foreseen(server, plan["stack"], pools=plan["groups"])


def of_drivers() -> FakeServer:
    """Return a cluster whose ClusterPolicy leaves drivers to NVIDIADriver objects."""
    return Operator(("gpu-0",), **{"gpu-0": "a"}).server


def switched_off(options: Options) -> str | None:
    """Bring a foreign policy that switches NVIDIADriver objects off under backend nvidiadriver."""
    operator = Operator(("gpu-0",))
    operator.must("ClusterPolicy", policy.NAME)["metadata"]["labels"] = {}
    return foreseen(operator.server, options, backend="nvidiadriver")


def left(options: Options) -> str | None:
    """Bring the stack to a node where the DaemonSet of a driver that is switched off is left."""
    operator = Operator(("gpu-0",), **{"gpu-0": "a"})
    operator.must("ClusterPolicy", policy.NAME)["spec"]["driver"]["useNvidiaDriverCRD"] = False
    return changed(operator, options)


def with_operator(version: str) -> FakeServer:
    """Return a cluster with this release of the GPU operator."""
    server = Operator(("gpu-0",)).server
    kind = known("ClusterServiceVersion")
    server.served[kind.api_version, kind.plural] = kind
    server.put(olm.installed_csv(olm.GPU, version))
    return server


def upgraded(options: Options) -> str | None:
    """Bring pools with different drivers to a cluster whose operator waits for the approval of an upgrade."""
    server = olm.server_with(
        olm.manifest(olm.GPU, a="26.3.2 26.7.0"),
        olm.catalog(olm.ROLES[olm.GPU][1]),
        olm.group(olm.GPU),
        olm.subscription(olm.GPU, "26.3.2"),
        olm.installed_csv(olm.GPU, "26.3.2"),
        olm.plan(olm.GPU, csv_name("26.7.0", olm.GPU)),
    )
    namespace_, source = olm.ROLES[olm.GPU]
    given = {"name": olm.GPU, "namespace": namespace_, "source": source, "driver_change": "allow"}
    assert ensured("olm_operator", api_on(server, wait_wanted=False), {**given, **options}) is None
    (plan,) = (one for one in server.objects.values() if one["kind"] == "InstallPlan")
    version = "26.7.0" if plan["spec"]["approved"] else "26.3.2"
    return planned({"pools": json.loads(APART)}, with_operator(version))


def with_driver(name: str, version: str) -> dict[str, t.Any]:
    return {**existing(1, team=name), "name": name, "driver": {**DRIVER, "version": version}}


APART: t.Final = json.dumps([with_driver("a", "595.91.07"), with_driver("b", "580.173.02")])
ALIKE: t.Final = json.dumps([with_driver("a", "595.91.07"), with_driver("b", "595.91.07")])
SWITCHED: t.Final = json.dumps({"driver": {"useNvidiaDriverCRD": False}})
FORCED: t.Final = json.dumps(
    {"driver": {"upgradePolicy": {"autoUpgrade": True, "podDeletion": {"force": True}}}}
)
CASES: t.Final[Cases] = {
    ("GPU-BUSY", "gpu_on_busy"): Case(MODULE, busy),
    ("GPU-UPG-KEPT", "gpu_operator_spec"): Case(MODULE, kept, FORCED),
    ("GPU-DRV-OUTDATED", "gpu_operator_spec"): Case(
        MODULE, outdated, before=json.dumps({"driver": {"upgradePolicy": {"autoUpgrade": False}}})
    ),
    ("MON-NO-EXPORTER", "gpu_operator_spec"): Case(
        MODULE, without_exporter, before=json.dumps({"dcgmExporter": {"enabled": False}})
    ),
    ("GPU-DRA-RELEASE", "gpu_backend"): Case(
        "gpu_plan",
        lambda options: planned({"pools": [existing(1, team="a")], **options}, Operator().server),
        before="dra",
        value=LEFT_OUT,
        where="enable_gpus",
    ),
    ("GPU-NFD-EMPTY", "node_feature_discovery_pci_classes"): Case(
        "nfd_labels", unlabelled, before='["02"]', value='["02", "03"]'
    ),
    ("GPU-NVD-DISABLED", "gpu_operator_adopt"): Case(MODULE, switched_off),
    ("GPU-NVD-LEFT", "gpu_operator_spec"): Case(MODULE, left, then="GPU-NVD-NOT-READY"),
    ("GPU-NVD-MODE", "gpu_operator_spec"): Case(MODULE, lambda options: foreseen(of_drivers(), options)),
    ("GPU-NVD-MODE", "gpu_pools"): Case(
        "gpu_plan",
        lambda options: planned(options, of_drivers()),
        before=ALIKE,
        value=APART,
        where="enable_gpus",
    ),
    ("GPU-NVD-RELEASE", "gpu_operator_approve"): Case("olm_operator", upgraded),
    ("GPU-NVD-RELEASE", "gpu_pools"): Case(
        "gpu_plan",
        lambda options: planned(options, with_operator("26.3.2")),
        before=APART,
        value=ALIKE,
        where="enable_gpus",
    ),
    ("GPU-TAINT", "gpu_tolerations"): Case(MODULE, tainted),
    ("GPU-UPG-RUNNING", "gpu_operator_node_timeout"): Case(MODULE, slow, before="60"),
}
