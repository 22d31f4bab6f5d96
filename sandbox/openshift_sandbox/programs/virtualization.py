# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster with OpenShift Virtualization: its CRDs, and where the API server converts HyperConverged.

The converter is part of the process `machine-webhook`.
"""

from __future__ import annotations

import base64
import typing as t

from openshift_sandbox.catalogue import crds
from openshift_sandbox.programs import admission
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.scenario import Scenario

PACKAGE: t.Final = "kubevirt-hyperconverged"
HYPERCONVERGEDS: t.Final = "hyperconvergeds.hco.kubevirt.io"
CONVERT: t.Final = "/convert-hyperconverged"

Object = dict[str, t.Any]


def wanted(scenario: Scenario) -> bool:
    """Return whether the cluster has OpenShift Virtualization from the start."""
    return bool(scenario.cluster.get("virtualization"))


def manifests(sandbox: Sandbox) -> list[Object]:
    """Return all CRDs of OpenShift Virtualization, with the versions of HyperConverged of the scenario."""
    served = sandbox.scenario.cluster["virtualization"].get("served", ["v1beta1", "v1"])
    found = [*crds.operator_crds(PACKAGE), *crds.kubevirt_crds()]
    return [
        converted(sandbox, one, served) if one["metadata"]["name"] == HYPERCONVERGEDS else one
        for one in found
    ]


def converted(sandbox: Sandbox, crd: Object, served: t.Collection[str]) -> Object:
    """Return the CRD of HyperConverged with these versions, and the address of its converter."""
    versions = [one for one in crd["spec"]["versions"] if one["name"] in served]
    return crd | {"spec": crd["spec"] | {"conversion": conversion(sandbox), "versions": versions}}


def conversion(sandbox: Sandbox) -> Object:
    """Return where the API server has objects converted."""
    authority = base64.b64encode((sandbox.run / "pki" / "ca.crt").read_bytes()).decode()
    address = f"https://127.0.0.1:{sandbox.port(admission.NAME)}{CONVERT}"
    return {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {"url": address, "caBundle": authority},
            "conversionReviewVersions": ["v1"],
        },
    }
