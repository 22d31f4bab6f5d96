# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages that no Subscription installs: parts of OpenShift, packages of OLM v1, clusters without OLM."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError
from .._core.objects import KubeObject, at
from .._kube.client import Api
from .._kube.kinds import known

# Name of a package that users ask for -> name of its ClusterOperator.
_PACKAGES: t.Final = {
    "node-tuning": "node-tuning",
    "node-tuning-operator": "node-tuning",
    "cluster-node-tuning-operator": "node-tuning",
    "performance-addon-operator": "node-tuning",
}
_CAPABILITIES: t.Final = {"node-tuning": "NodeTuning"}


def cluster_operator_of(package: str) -> str | None:
    """Return the name of the package's ClusterOperator; None if a catalogue offers the package."""
    return _PACKAGES.get(package)


def warning(package: str, name: str, live: KubeObject) -> str:
    """Return the warning that the operator is part of OpenShift, with its version."""
    where = f"ClusterOperator {name}, version {version(live)}"
    return f"{package} is part of OpenShift ({where}): there is nothing to install."


def check(package: str, name: str, live: KubeObject | None) -> KubeObject:
    """Return the ClusterOperator. Raise OLM-CLUSTER-OPERATOR if it is missing or does not work."""
    states = {condition["type"]: condition for condition in at(live, "status.conditions") or []}
    bad = [
        condition
        for kind, good in (("Available", "True"), ("Degraded", "False"))
        if (condition := states.get(kind)) and condition.get("status") != good
    ]
    if live is not None and not bad and "Available" in states:
        return live
    lines = [_line(condition) for condition in bad] or ["it has no condition Available yet"]
    raise AcceleratorError(
        "OLM-CLUSTER-OPERATOR",
        package=package,
        name=name,
        capability=_CAPABILITIES[name],
        state=f"does not work: {'; '.join(lines)}" if live else "does not exist in this cluster",
        evidence=lines if live else [],
    )


def version(live: KubeObject) -> str:
    """Return the version of the operator that the ClusterOperator reports; empty if it reports none."""
    versions = (live.get("status") or {}).get("versions") or []
    return next((str(entry.get("version")) for entry in versions if entry.get("name") == "operator"), "")


def summarize(package: str, name: str, live: KubeObject) -> KubeObject:
    """Return the facts of the ClusterOperator under the same keys as those of an operator of OLM."""
    empty = dict.fromkeys(
        ("namespace", "subscription", "channel", "catalog", "csv", "install_plan", "upgrade_available")
    )
    return {
        **empty,
        "package": package,
        "cluster_operator": name,
        "version": version(live) or None,
        "phase": "Available",
        "state": "PartOfOpenShift",
    }


def of_the_cluster(api: Api, package: str) -> KubeObject:
    """Return the facts of an operator that is part of OpenShift; it is never installed.

    Raise OLM-CLUSTER-OPERATOR if it is missing or does not work.
    """
    name = cluster_operator_of(package) or package
    live = check(package, name, api.get(known("ClusterOperator"), name))
    api.warn(warning(package, name, live))
    return summarize(package, name, live)


def refuse_second_owner(api: Api, package: str) -> None:
    """Raise OLM-V1 if OLM v1 installs the package: it and a Subscription would revert each other's CRDs."""
    check_extensions(api.list_if_served(known("ClusterExtension")), package)


def check_extensions(extensions: t.Iterable[KubeObject], package: str) -> None:
    """Raise OLM-V1 if one of the ClusterExtensions, OLM v1's objects, installs the package."""
    found = next((extension for extension in extensions if _package(extension) == package), None)
    if found is None:
        return
    name, spec = found["metadata"]["name"], found.get("spec") or {}
    bundle = ((found.get("status") or {}).get("install") or {}).get("bundle") or {}
    raise AcceleratorError(
        "OLM-V1",
        package=package,
        extension=name,
        namespace=spec.get("namespace"),
        bundle=bundle.get("name") or "nothing yet",
        evidence=[_line(condition) for condition in (found.get("status") or {}).get("conditions") or []],
    )


def _package(extension: KubeObject) -> str:
    catalog = ((extension.get("spec") or {}).get("source") or {}).get("catalog") or {}
    return str(catalog.get("packageName") or "")


def _line(condition: KubeObject) -> str:
    kind, status = condition.get("type"), condition.get("status")
    return f"{kind}={status} ({condition.get('reason')}): {condition.get('message')}"
