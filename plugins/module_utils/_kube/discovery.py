# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Kinds outside the table, asked of the server: one request for the first group, one for all groups from the second on, however many kinds there are.

The first group is asked for by itself: most tasks have one, its answer is small, and a missing CRD costs this one request. For the second the aggregated
document of all groups is read, once a task. What is not in it is asked of its own group before it is called absent: a CRD may be newer than the
document, and an extension server that is down is left out of it. A server that only knows the older documents costs a request for each group. The core group
(`/api/v1`) has one version and no CRDs, and is always asked by itself.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind

Data = dict[str, t.Any]
Found = t.Iterator[Kind]
ALL_GROUPS: t.Final = "/apis"
ACCEPT: t.Final = ",".join(
    (
        *(
            f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
            for version in ("v2", "v2beta1")
        ),
        "application/json",
    )
)


@dataclass
class Discovery:
    """What one task has learnt. groups: those asked for by themselves, as `group/version`. is_aggregated: whether all groups have been asked for."""

    kinds: dict[tuple[str, str], Kind] = field(default_factory=dict)
    groups: set[str] = field(default_factory=set)
    is_aggregated: bool = False

    def wants_all(self, wanted: Kind) -> bool:
        """Whether it is time to ask for all groups."""
        return (
            bool(wanted.group) and not self.is_aggregated and bool(self.groups - {wanted.api_version, "v1"})
        )

    def learn(self, found: Found) -> None:
        self.kinds.update(((kind.api_version, kind.kind), kind) for kind in found)


def in_group(api_version: str, body: Data) -> Found:
    """Kinds of an APIResourceList."""
    for entry in body.get("resources", ()):
        if "/" not in entry["name"]:
            yield Kind(api_version, entry["kind"], entry["name"], bool(entry["namespaced"]))


def in_all_groups(body: Data) -> Found:
    """Kinds of an APIGroupDiscoveryList; none of the older APIGroupList, which only names the groups."""
    for group in body.get("items", ()):
        for version in group.get("versions", ()):
            api_version = f"{group['metadata']['name']}/{version['version']}"
            for entry in version.get("resources", ()):
                if kind := (entry.get("responseKind") or {}).get("kind"):
                    yield Kind(api_version, kind, entry["resource"], entry["scope"] == "Namespaced")
