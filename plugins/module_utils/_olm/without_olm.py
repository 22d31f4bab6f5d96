# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Clusters without Operator Lifecycle Manager: why no operator can be installed, and what to do."""

from __future__ import annotations

from .._core.errors import AcceleratorError, KindNotServedError
from .._core.objects import KubeObject
from .._kube.client import Api
from .._kube.kinds import known
from . import helm_values


def refusal(api: Api, package: str, spec: KubeObject) -> AcceleratorError:
    """Return the error that says why nothing can be installed, and what to do instead.

    spec: the wanted spec of the ClusterPolicy, for the values of the Helm chart.
    """
    try:
        version = api.get(known("ClusterVersion"), "version")
    except KindNotServedError:
        version = None
    if version is not None:
        message = f"This OpenShift cluster has no Operator Lifecycle Manager, which package {package} needs."
        remedy = (
            "Enable the capability OperatorLifecycleManager: ClusterVersion version, "
            "spec.capabilities.additionalEnabledCapabilities."
        )
        return AcceleratorError("OLM-ABSENT", message, remedy)
    message = (
        f"This cluster is not OpenShift and has no Operator Lifecycle Manager, which package {package} needs."
    )
    if package != helm_values.PACKAGE:
        return AcceleratorError(
            "OLM-ABSENT",
            message,
            "Install the operator in its own way (its Helm chart or manifests).",
        )
    text = helm_values.text(spec)
    remedy = f"Install it with Helm; helm_values has the values for these options: {helm_values.COMMAND}"
    return AcceleratorError("OLM-ABSENT", message, remedy, text.splitlines(), facts={"helm_values": text})
