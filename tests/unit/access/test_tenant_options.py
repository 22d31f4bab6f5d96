# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tenants of access_grant: what is refused, and by which path."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._access import tenant_options
from ansible_collections.accelerators.openshift.plugins.module_utils._access.grant import Subject
from ansible_collections.accelerators.openshift.plugins.module_utils._access.tenants import Tenant
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError

GIVEN: t.Final[dict[str, t.Any]] = {
    "name": "vision",
    "namespaces": ["train"],
    "subjects": [{"kind": "Group", "name": "eyes"}],
}


def test_a_tenant_needs_name_namespaces_and_subjects() -> None:
    eyes = Subject("Group", "eyes", "", ())
    assert tenant_options.read([GIVEN]) == (Tenant("vision", ("train",), (eyes,)),)
    assert tenant_options.read([]) == ()
    assert tenant_options.read(None) is None


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"name": ""}, "gpu_rbac_tenants[0].name"),
        ({"name": "Vision"}, "gpu_rbac_tenants[0].name"),
        ({"name": "v" * 40}, "gpu_rbac_tenants[0].name"),
        ({"namespaces": []}, "gpu_rbac_tenants[0].namespaces"),
        ({"namespaces": "train"}, "gpu_rbac_tenants[0].namespaces"),
        ({"namespaces": ["train", "A_B"]}, "gpu_rbac_tenants[0].namespaces[1]"),
        ({"namespaces": ["openshift-monitoring"]}, "gpu_rbac_tenants[0].namespaces[0]"),
        ({"namespaces": ["kube-system"]}, "gpu_rbac_tenants[0].namespaces[0]"),
        ({"subjects": []}, "gpu_rbac_tenants[0].subjects"),
        ({"subjects": ["eva"]}, "gpu_rbac_tenants[0].subjects[0]"),
        ({"subjects": [{"kind": "Team", "name": "x"}]}, "gpu_rbac_tenants[0].subjects[0].kind"),
        (
            {"subjects": [{"kind": "Group", "name": "system:authenticated"}]},
            "gpu_rbac_tenants[0].subjects[0].name",
        ),
        (
            {"subjects": [{"kind": "User", "name": "x", "playbooks": ["drift"]}]},
            "gpu_rbac_tenants[0].subjects[0].playbooks",
        ),
        ({"queues": [3]}, "gpu_rbac_tenants[0].queues[0]"),
        ({"priority_classes": ["system-node-critical"]}, "gpu_rbac_tenants[0].priority_classes[0]"),
        ({"quota": 3}, "gpu_rbac_tenants[0].quota"),
    ],
)
def test_a_wrong_value_is_refused_by_its_path(change: dict[str, t.Any], path: str) -> None:
    with pytest.raises(InputError) as caught:
        tenant_options.read([{**GIVEN, **change}])
    assert caught.value.message.startswith((f"{path}:", f"{path} "))


def test_two_tenants_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match=r"gpu_rbac_tenants\[1\].name"):
        tenant_options.read([GIVEN, GIVEN])
