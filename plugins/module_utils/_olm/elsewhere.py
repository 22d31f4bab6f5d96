# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Packages that no Subscription installs, but OLM v1 or OpenShift itself."""

from __future__ import annotations

import typing as t

from .._core.errors import AcceleratorError, KindNotServedError
from .._core.objects import KubeObject
from .._kube.client import Api
from .._kube.kinds import known
from . import cluster_operator


def of_the_cluster(api: Api, package: str) -> KubeObject:
    """Return the facts of an operator that is part of OpenShift; it is never installed.

    Raise OLM-CLUSTER-OPERATOR if it is missing or does not work.
    """
    name = cluster_operator.cluster_operator_of(package) or package
    live = cluster_operator.check(package, name, api.get(known("ClusterOperator"), name))
    api.warn(cluster_operator.remark(package, name, live))
    return cluster_operator.summarize(package, name, live)


def refuse_second_owner(api: Api, package: str) -> None:
    """Raise OLM-V1 if OLM v1 installs the package: it and a Subscription would revert each other's CRDs."""
    try:
        extensions = api.list(known("ClusterExtension"))
    except KindNotServedError:
        return
    check_extensions(extensions, package)


def check_extensions(extensions: t.Iterable[KubeObject], package: str) -> None:
    """Raise OLM-V1 if one of the ClusterExtensions, OLM v1's objects, installs the package."""
    found = next((one for one in extensions if _package(one) == package), None)
    if found is None:
        return
    name, spec = found["metadata"]["name"], found.get("spec") or {}
    bundle = ((found.get("status") or {}).get("install") or {}).get("bundle") or {}
    message = (
        f"Package {package} belongs to OLM v1: ClusterExtension {name} installs it "
        f"in namespace {spec.get('namespace')} (installed: {bundle.get('name') or 'nothing yet'})."
    )
    remedy = (
        "Manage it there, or delete it first, operands before it: "
        f"oc delete clusterextension {name}. Its CRDs go with it."
    )
    lines = [_line(one) for one in (found.get("status") or {}).get("conditions") or []]
    raise AcceleratorError("OLM-V1", message, remedy, lines)


def _package(extension: KubeObject) -> str:
    catalog = ((extension.get("spec") or {}).get("source") or {}).get("catalog") or {}
    return str(catalog.get("packageName") or "")


def _line(condition: KubeObject) -> str:
    kind, status = condition.get("type"), condition.get("status")
    return f"{kind}={status} ({condition.get('reason')}): {condition.get('message')}"
