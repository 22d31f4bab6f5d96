# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""A package that something else than a Subscription brings: OLM v1, OpenShift itself, or Helm where there is no OLM."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    KindNotServedError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import (
    cluster_operator,
    extension,
    helm_values,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._olm.driver_change import (
    PACKAGE as GPU_OPERATOR,
)

Object = dict[str, t.Any]

__all__ = ("GPU_OPERATOR", "of_the_cluster", "refuse_second_owner", "without_olm")


def of_the_cluster(api: Api, package: str) -> Object:
    """An operator that OpenShift brings along: looked at, never installed."""
    name = cluster_operator.behind(package) or package
    live = cluster_operator.check(package, name, api.get(known("ClusterOperator"), name))
    api.warn(cluster_operator.told(package, name, live))
    return cluster_operator.summarize(package, name, live)


def refuse_second_owner(api: Api, package: str) -> None:
    """A ClusterExtension of the package would fight with a Subscription over the same CRDs."""
    try:
        extensions = api.list(known("ClusterExtension"))
    except KindNotServedError:
        return
    extension.refuse(extensions, package)


def without_olm(api: Api, package: str, spec: Object) -> AcceleratorError:
    """Why nothing can be installed here, and what can be done instead. spec: the ClusterPolicy that is wanted."""
    try:
        version = api.get(known("ClusterVersion"), "version")
    except KindNotServedError:
        version = None
    if version is not None:
        message = f"This OpenShift cluster has no Operator Lifecycle Manager, which package {package} needs."
        remedy = "Enable the capability OperatorLifecycleManager: ClusterVersion version, spec.capabilities.additionalEnabledCapabilities."
        return AcceleratorError("OLM-ABSENT", message, remedy)
    message = (
        f"This cluster is not OpenShift and has no Operator Lifecycle Manager, which package {package} needs."
    )
    if package != GPU_OPERATOR:
        return AcceleratorError(
            "OLM-ABSENT",
            message,
            "Install the operator in its own way (its Helm chart or manifests).",
        )
    text = helm_values.text(spec)
    remedy = f"Install it with Helm; helm_values holds the values that match what was asked for: {helm_values.COMMAND}"
    return AcceleratorError("OLM-ABSENT", message, remedy, text.splitlines(), facts={"helm_values": text})
