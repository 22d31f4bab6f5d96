# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Find the tool that manages an object and would revert our changes, by labels and field managers."""

from __future__ import annotations

import typing as t

from .ownership import MANAGED_BY, MANAGER

# Start of the key of a label or annotation -> the tool, which reverts changes to the object.
_MARKS: t.Final = {
    "argocd.argoproj.io/": "Argo CD",
    "apps.open-cluster-management.io/": "Red Hat Advanced Cluster Management",
    "policy.open-cluster-management.io/": "Red Hat Advanced Cluster Management",
    "kustomize.toolkit.fluxcd.io/": "Flux",
    "helm.toolkit.fluxcd.io/": "Flux",
    "meta.helm.sh/release-name": "Helm",
    "olm.operatorframework.io/owner-name": "OLM v1",
}
_OWNERS: t.Final = {
    "ClusterExtension": "OLM v1",
    "ClusterExtensionRevision": "OLM v1",
    "AppliedManifestWork": "Red Hat Advanced Cluster Management",
    "ConfigurationPolicy": "Red Hat Advanced Cluster Management",
}
_FIELD_MANAGERS: t.Final = {
    "argocd": "Argo CD",
    "kustomize-controller": "Flux",
    "helm": "Helm",
    "config-policy-controller": "Red Hat Advanced Cluster Management",
}


def other_manager(obj: t.Mapping[str, t.Any]) -> str:
    """Return the tool, with its instance if known (`Argo CD (openshift-gitops)`), or ""."""
    metadata = obj.get("metadata") or {}
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    for key, value in sorted({**labels, **annotations}.items()):
        for mark, tool in _MARKS.items():
            if key.startswith(mark):
                return _named(tool, value.partition(":")[0])
    for owner in metadata.get("ownerReferences") or []:
        if owner["kind"] in _OWNERS:
            return _named(_OWNERS[owner["kind"]], owner["name"])
    for entry in metadata.get("managedFields") or []:
        tool = next(
            (
                tool
                for name, tool in _FIELD_MANAGERS.items()
                if str(entry.get("manager", "")).startswith(name)
            ),
            "",
        )
        if tool:
            return tool
    (label,) = MANAGED_BY
    by = labels.get(label, "")
    return "" if by in ("", MANAGER) else str(by)


def _named(tool: str, name: str) -> str:
    return f"{tool} ({name})" if name else tool
