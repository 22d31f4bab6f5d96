# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""special_resource's function without Ansible, for tests that call the module many times on a cluster."""

from __future__ import annotations

import typing as t

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from cluster import Cluster
from integration.troubles.other_run import LEASE

from ansible_collections.accelerators.openshift.plugins.module_utils._frame import module
from ansible_collections.accelerators.openshift.plugins.modules import special_resource

Data = dict[str, t.Any]


def judge(cluster: Cluster, **options: t.Any) -> Data:
    """Return the module's result, which may be a failure."""
    checked = ArgumentSpecValidator(dict(special_resource.SPEC.options)).validate(
        {"kubeconfig": str(cluster.kubeconfig), **options}
    )
    assert not checked.errors.messages, checked.errors.messages
    found = module.execute(
        "special_resource",
        special_resource.ensure,
        checked.validated_parameters,
        check_mode=False,
        diff=False,
    )
    # A run holds its lease until its process ends. This process goes on: the next playbook would be refused.
    cluster.client.delete(*LEASE)
    return found


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
