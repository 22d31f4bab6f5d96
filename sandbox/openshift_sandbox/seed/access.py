# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Secrets of the Machine API, and the roles of the identities that a sandbox has."""

from __future__ import annotations

import json
import typing as t

from openshift_sandbox.seed import more_sets
from openshift_sandbox.seed.nodes import MACHINE_NAMESPACE, Object
from openshift_sandbox.seed.platforms.registry import platform as platform_of

# The API groups that the least-privilege identity may read. It may write nothing, and read no Secret.
READABLE: t.Final = (
    *(
        "apps",
        "batch",
        "apiextensions.k8s.io",
        "scheduling.k8s.io",
        "policy",
        "networking.k8s.io",
        "rbac.authorization.k8s.io",
        "node.k8s.io",
    ),
    *(
        "config.openshift.io",
        "machine.openshift.io",
        "machineconfiguration.openshift.io",
        "image.openshift.io",
        "quota.openshift.io",
    ),
    *(
        "operators.coreos.com",
        "packages.operators.coreos.com",
        "nfd.openshift.io",
        "nfd.k8s-sigs.io",
        "nvidia.com",
        "performance.openshift.io",
        "tuned.openshift.io",
    ),
    *("monitoring.coreos.com", "security.openshift.io", "autoscaling.openshift.io", "certificates.k8s.io"),
)


def secrets(cluster: Object) -> list[Object]:
    """Return the Secrets that Machines refer to: credentials of the provider, and user data."""
    names = (
        *(platform_of(cluster).CREDENTIALS, "master-user-data", "worker-user-data"),
        *more_sets.secrets(cluster),
    )
    return [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": MACHINE_NAMESPACE},
            "stringData": {"userData": user_data(cluster, name)},
        }
        for name in names
    ]


def user_data(cluster: Object, secret: str) -> str:
    """Return the Ignition of a role: it names the configuration that a new machine fetches. Or `{}`."""
    role, separator, _rest = secret.partition("-user-data")
    if not separator or role not in {"master", "worker"}:
        return "{}"
    source = f"https://api-int.{cluster['base_domain']}:22623/config/{role}"
    return json.dumps({"ignition": {"config": {"merge": [{"source": source}]}, "version": "3.2.0"}})


def restricted_role() -> list[Object]:
    """Return the roles of the least-privilege identity.

    It reads what a cluster reader reads, and writes nothing.
    """
    name, group = "sandbox-restricted", "rbac.authorization.k8s.io"
    core = [
        "nodes",
        "namespaces",
        "pods",
        "pods/log",
        "events",
        "configmaps",
        "services",
        "serviceaccounts",
        "resourcequotas",
        "limitranges",
    ]
    verbs = ["get", "list", "watch"]
    rules = [
        {"apiGroups": [""], "resources": core, "verbs": verbs},
        {"apiGroups": list(READABLE), "resources": ["*"], "verbs": verbs},
    ]
    subject = {"apiGroup": group, "kind": "User", "name": "restricted"}
    return [
        {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules},
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [subject],
        },
    ]


def administrators() -> Object:
    """Return the binding of the group that kubeadmin belongs to."""
    group = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "cluster-admins"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": group, "kind": "Group", "name": "system:cluster-admins"}],
    }
