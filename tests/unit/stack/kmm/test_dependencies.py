# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dependencies of a KMM Module: what must exist, and what we create."""

from __future__ import annotations

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import dependencies


def test_what_has_to_be_there_and_what_is_made() -> None:
    options = {
        "image_repo_secret": "pull",
        "service_account": "loader",
        "device_plugin": {"service_account": "default"},
        "build": {"dockerfile": "FROM x"},
        "kernel_mappings": [
            {
                "build": {"dockerfile_config_map": "cm", "secrets": ["s"]},
                "sign": {"key_secret": "k", "cert_secret": "c"},
            }
        ],
    }
    assert [(one.kind, one.name, one.path) for one in dependencies.needs(options)] == [
        ("Secret", "pull", "kmm.image_repo_secret"),
        ("Secret", "s", "kmm.kernel_mappings[0].build.secrets"),
        ("ConfigMap", "cm", "kmm.kernel_mappings[0].build.dockerfile_config_map"),
        ("Secret", "k", "kmm.kernel_mappings[0].sign.key_secret"),
        ("Secret", "c", "kmm.kernel_mappings[0].sign.cert_secret"),
        ("ServiceAccount", "loader", "kmm.service_account"),
    ]
    made = dependencies.own(options | {"create_service_accounts": True}, "card", "openshift-kmm")
    assert [(one["kind"], one["metadata"]["name"]) for one in made] == [
        ("ConfigMap", "card-dockerfile"),
        ("ServiceAccount", "loader"),
        ("RoleBinding", "loader-privileged"),
    ]
