# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What special_resource says of a cluster."""

from __future__ import annotations

import typing as t

from cluster import Cluster
from integration.playbook import Data, call


def judge(cluster: Cluster, **options: t.Any) -> Data:
    """Return the result of special_resource, which may be a failure."""
    return call(cluster.kubeconfig, "special_resource", **options).result


def before_the_operator(cluster: Cluster, package: str, **options: t.Any) -> None:
    """Assert that the stages name the missing Subscription while the CRD does not exist."""
    found = judge(cluster, **options)
    assert found["code"] == "API-KIND-NOT-SERVED", found
    stages = {
        one["name"]: (one["verdict"], one["consequence_of"]) for one in found["special_resource"]["stages"]
    }
    assert stages == {
        "catalogue": ("pending", ""),
        **dict.fromkeys(("install plan", "csv", "crd"), ("waiting", "catalogue")),
    }
    assert f"no Subscription for {package} in the operator's namespace" in found["evidence"][0]
    assert found["evidence"][-1] == "install plan, csv, crd wait for catalogue"
