# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""A package that something else than a Subscription installs: OLM v1, or OpenShift itself."""

from __future__ import annotations

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import KindNotServedError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import (
    cluster_operator,
    extension,
)


def of_the_cluster(api: Api, package: str) -> KubeObject:
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
