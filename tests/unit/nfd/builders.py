"""Instances, nodes and parameters for the tests of nfd_labels."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._nfd.params import NfdLabelsParams

PCI = "feature.node.kubernetes.io/pci-10de.present"
MISSPELT = "AllInstanceComponentsAreDeployedSuccessfuly"


def params(**given: t.Any) -> NfdLabelsParams:
    plain: dict[str, t.Any] = {
        "state": "present",
        "wait": True,
        "wait_timeout": 1800,
        "lock_timeout": 0,
        "name": "nfd-instance",
        "namespace": "openshift-nfd",
        "adopt": "report",
        "pci_classes": ["02", "03", "12"],
        "label_fields": ["vendor"],
        "worker_tolerations": None,
        "rules": [],
        "features": [],
        "expect": [],
        "compare": None,
        "stale_features": "ignore",
        "prune": True,
        "settle": 1.0,
        "grace": 60.0,
    }
    return NfdLabelsParams(**(plain | given))


def instance(name: str = "nfd-instance", config: str | None = None, **conditions: str) -> dict[str, t.Any]:
    found = [
        {"type": kind, "status": value, "reason": MISSPELT, "message": "m"}
        for kind, value in conditions.items()
    ]
    spec = {} if config is None else {"workerConfig": {"configData": config}}
    metadata = {"name": name, "namespace": "openshift-nfd", "uid": f"uid-{name}"}
    return {
        "kind": "NodeFeatureDiscovery",
        "metadata": metadata,
        "spec": spec,
        "status": {"conditions": found},
    }


def node(
    name: str = "gpu-0", taints: list[dict[str, str]] | None = None, **labels: t.Any
) -> dict[str, t.Any]:
    return {
        "metadata": {
            "name": name,
            "labels": {"pool": "a"} | {key.replace("__", "/"): value for key, value in labels.items()},
        },
        "spec": {"taints": taints or []},
    }


def expect(**labels: t.Any) -> dict[str, t.Any]:
    return {
        "nodes": None,
        "node_selector": {"pool": "a"},
        "min_nodes": 1,
        "labels": {key.replace("__", "/"): value for key, value in labels.items()},
    }


GPU = {"metadata": {"name": "gpu-0", "labels": {"pool": "a", PCI: "true"}}, "spec": {}}
