"""Clusters in memory on which olm_operator and operator_upgrade meet the failures of OLM."""

from __future__ import annotations

import json
import typing as t

from unit.engine import api_on
from unit.fake_server import FakeServer
from unit.impact.test_consent import LABEL, node, pod
from unit.operators.builders import NEW_DRIVER, OLD_DRIVER, csv, csv_name, offer
from unit.remedies.case import Options, ensured

Object = dict[str, t.Any]
OURS: t.Final = {"app.kubernetes.io/managed-by": "accelerators.openshift"}
GPU, NFD = "gpu-operator-certified", "nfd"
# Package -> namespace and catalogue of the role.
ROLES: t.Final = {
    GPU: ("nvidia-gpu-operator", "certified-operators"),
    NFD: ("openshift-nfd", "redhat-operators"),
}
MARKETPLACE: t.Final = "openshift-marketplace"
OLM: t.Final = "operators.coreos.com/v1alpha1"
FOREIGN: t.Final = "mesh.v1.0.0"
_KINDS: t.Final = (
    "Subscription",
    "OperatorGroup",
    "InstallPlan",
    "ClusterServiceVersion",
    "PackageManifest",
    "CatalogSource",
    "ClusterVersion",
    "ClusterPolicy",
    "CustomResourceDefinition",
    "Namespace",
    "Node",
    "Pod",
)


def manifest(package: str, source: str = "", **channels: str) -> Object:
    """Return the package; without channels it has a (1.0.0, 1.1.0) and b (1.2.0)."""
    having = channels or {"a": "1.0.0 1.1.0", "b": "1.2.0"}
    found = offer(package, True, (), **having)
    found["metadata"]["namespace"] = MARKETPLACE
    found["status"] |= {
        "catalogSource": source or ROLES[package][1],
        "catalogSourceNamespace": MARKETPLACE,
    }
    return {"apiVersion": "packages.operators.coreos.com/v1", "kind": "PackageManifest", **found}


def catalog(name: str) -> Object:
    return {
        "apiVersion": OLM,
        "kind": "CatalogSource",
        "metadata": {"name": name, "namespace": MARKETPLACE},
        "status": {"connectionState": {"lastObservedState": "READY"}},
    }


def group(package: str, name: str = "one", namespace: str = "") -> Object:
    namespace = namespace or ROLES[package][0]
    return {
        "apiVersion": "operators.coreos.com/v1",
        "kind": "OperatorGroup",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"targetNamespaces": [namespace]},
    }


def subscription(package: str, installed: str = "1.0.0", namespace: str = "", **spec: t.Any) -> Object:
    """Return our Subscription to channel a, with a CSV that is installed if `installed` names its version."""
    status = {"installPlanRef": {"name": "plan"}, "state": "AtLatestKnown"}
    status |= {"installedCSV": csv_name(installed, package)} if installed else {}
    labels = spec.pop("labels", OURS)
    return {
        "apiVersion": OLM,
        "kind": "Subscription",
        "metadata": {"name": package, "namespace": namespace or ROLES[package][0], "labels": labels},
        "spec": {
            "name": package,
            "channel": "a",
            "source": ROLES[package][1],
            "sourceNamespace": MARKETPLACE,
            **spec,
        },
        "status": status,
    }


def installed_csv(package: str, version: str = "1.0.0") -> Object:
    found = csv(version, package, DRIVER_IMAGE=OLD_DRIVER)
    found["metadata"]["namespace"] = ROLES[package][0]
    return {"apiVersion": OLM, "kind": "ClusterServiceVersion", **found}


def plan(package: str, *csvs: str) -> Object:
    """Return an InstallPlan that waits for its approval; the first CSV has another driver."""
    shown = json.dumps(csv(csvs[0].partition(".v")[2], package, DRIVER_IMAGE=NEW_DRIVER))
    step = {"resource": {"kind": "ClusterServiceVersion", "name": csvs[0], "manifest": shown}}
    return {
        "apiVersion": OLM,
        "kind": "InstallPlan",
        "metadata": {"name": "plan", "namespace": ROLES[package][0]},
        "spec": {"clusterServiceVersionNames": list(csvs), "approved": False},
        "status": {"phase": "RequiresApproval", "plan": [step]},
    }


def policy(**labels: str) -> Object:
    """Return a ClusterPolicy that leaves the driver to the operator."""
    metadata = {"name": "gpu-cluster-policy", "labels": labels}
    spec = {"driver": {"enabled": True, "upgradePolicy": {"autoUpgrade": True}}}
    return {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": metadata, "spec": spec}


def version(release: str) -> Object:
    status = {"history": [{"state": "Completed", "version": release}]}
    metadata = {"name": "version"}
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterVersion",
        "metadata": metadata,
        "status": status,
    }


BUSY: t.Final = (policy(**OURS), node("gpu-0", **LABEL), pod("train", "gpu-0"))


def server_with(*objects: Object) -> FakeServer:
    server = FakeServer(*_KINDS)
    for one in objects:
        server.put(one)
    return server


def operator(package: str, objects: t.Iterable[Object], options: Options, **more: t.Any) -> str | None:
    """Run olm_operator in check mode, which makes every decision and waits for nothing."""
    namespace, source = ROLES[package]
    given = {"name": package, "namespace": namespace, "source": source, **more, **options}
    return ensured("olm_operator", api_on(server_with(*objects), check_mode=True), given)


def upgrade(objects: t.Iterable[Object], options: Options, **more: t.Any) -> str | None:
    """Run operator_upgrade in check mode."""
    return ensured("operator_upgrade", api_on(server_with(*objects), check_mode=True), {**more, **options})
