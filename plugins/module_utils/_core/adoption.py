# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Foreign objects: find who manages an object that we did not create, and which fields differ."""

from __future__ import annotations

import typing as t

from .errors import AcceleratorError
from .objects import KubeObject
from .ownership import MANAGED_BY, MANAGER

OPTION: t.Final[dict[str, t.Any]] = {
    "adopt": {"type": "str", "choices": ["report", "take"], "default": "report"}
}


# Kind -> the role that makes it.
_ROLES: t.Final = {
    "ClusterPolicy": "gpu_operator",
    "Kueue": "gpu_policy",
    "NicClusterPolicy": "nvidia_network_operator",
    "NodeFeatureDiscovery": "node_feature_discovery",
    "NVIDIADriver": "gpu_operator",
    **dict.fromkeys(
        (
            *("MacvlanNetwork", "IPoIBNetwork", "HostDeviceNetwork", "IPPool", "CIDRPool"),
            *("SriovNetwork", "SriovIBNetwork", "SriovNetworkNodePolicy", "SriovNetworkPoolConfig"),
            *("SriovOperatorConfig", "NetworkAttachmentDefinition"),
        ),
        "gpu_network",
    ),
}


class Foreign(t.NamedTuple):
    """An object that we did not create. manager: the tool or client that manages it.

    differs: one map for each differing field: field (such as C(spec.driver.version)), live, wanted.
    """

    object_name: str
    manager: str
    differs: list[dict[str, t.Any]]

    @property
    def warning(self) -> str:
        """Return one sentence for people, or "" if no field differs."""
        if not self.differs:
            return ""
        paths = [entry["field"] for entry in self.differs]
        shown = ", ".join(paths[:4]) + (f" and {len(paths) - 4} more" if len(paths) > 4 else "")
        return (
            f"{self.object_name} was created by {self.manager} and was not changed (adopt: report). "
            f"These fields differ from the task: {shown}."
        )

    def blame(self, error: AcceleratorError, causes: t.Mapping[str, t.Sequence[str]]) -> None:
        """Add the differences to the error as evidence. Set its remedy if a difference can explain its code.

        causes: the start of an error code to the starts of the paths that can cause it.
        """
        starts = tuple(key for code, paths in causes.items() if error.code.startswith(code) for key in paths)
        causing = [entry for entry in self.differs if starts and entry["field"].startswith(starts)]
        error.evidence += [
            f"{entry['field']}: {entry['live']!r} (asked: {entry['wanted']!r})" for entry in self.differs[:10]
        ]
        if causing:
            paths = ", ".join(entry["field"] for entry in causing)
            error.remedy = (
                f"Set {taking(self.object_name)} to let this task change {paths} of {self.object_name}, "
                f"or change it in {self.manager}."
            )


def taking(object_name: str) -> str:
    """Return the setting that lets a task change a foreign object. object_name: its kind and name."""
    role = _ROLES.get(object_name.partition(" ")[0])
    if role:
        return f"{role}_adopt: take (module option adopt)"
    return "adopt: take (in a playbook the role's variable, such as gpu_operator_adopt: take)"


def foreign(live: KubeObject, wanted: t.Mapping[str, t.Any], object_name: str) -> Foreign:
    """Return the foreign object with each field of its spec that differs from the wanted spec."""
    spec = live.get("spec") or {}
    return Foreign(object_name, keeper(live), list(_leaves(difference(wanted, spec), spec, "spec")))


def difference(wanted: t.Mapping[str, t.Any], live: t.Mapping[str, t.Any]) -> dict[str, t.Any]:
    """Return the smallest merge patch that gives the live map every wanted value."""
    changes: dict[str, t.Any] = {}
    for key, value in wanted.items():
        now = live.get(key)
        if isinstance(value, dict):
            inner = difference(value, now if isinstance(now, dict) else {})
            if inner:
                changes[key] = inner
        elif value != now:
            changes[key] = value
    return changes


def _leaves(
    changes: t.Mapping[str, t.Any], live: t.Mapping[str, t.Any], path: str
) -> t.Iterator[dict[str, t.Any]]:
    for key, value in changes.items():
        now, here = live.get(key), f"{path}.{key}"
        if isinstance(value, dict):
            yield from _leaves(value, now if isinstance(now, dict) else {}, here)
        else:
            yield {"field": here, "live": now, "wanted": value}


def keeper(live: KubeObject) -> str:
    """Return the tool that manages the object, or the last client that wrote more than the status."""
    if tool := other_manager(live):
        return tool
    entries = (live.get("metadata") or {}).get("managedFields") or []
    writers = [
        item for item in entries if item.get("manager") not in (None, MANAGER) and not item.get("subresource")
    ]
    last = max(writers, key=lambda entry: str(entry.get("time") or ""), default=None)
    return f"another client (field manager {last['manager']})" if last else "another client"


_ACM: t.Final = "Red Hat Advanced Cluster Management"
# Start of the key of a label or annotation -> the tool, which reverts changes to the object.
_MARKS: t.Final = {
    "argocd.argoproj.io/": "Argo CD",
    "apps.open-cluster-management.io/": _ACM,
    "policy.open-cluster-management.io/": _ACM,
    "kustomize.toolkit.fluxcd.io/": "Flux",
    "helm.toolkit.fluxcd.io/": "Flux",
    "meta.helm.sh/release-name": "Helm",
    "olm.operatorframework.io/owner-name": "OLM v1",
}
_OWNERS: t.Final = {
    "ClusterExtension": "OLM v1",
    "ClusterExtensionRevision": "OLM v1",
    "AppliedManifestWork": _ACM,
    "ConfigurationPolicy": _ACM,
}
_FIELD_MANAGERS: t.Final = {
    "argocd": "Argo CD",
    "kustomize-controller": "Flux",
    "helm": "Helm",
    "config-policy-controller": _ACM,
}


def other_manager(obj: t.Mapping[str, t.Any]) -> str:
    """Return the tool, with its instance if known (`Argo CD (openshift-gitops)`), or ""."""
    metadata = obj.get("metadata") or {}
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    for key, value in sorted({**labels, **annotations}.items(), key=lambda item: (_is_wish(item[0]), item)):
        for mark, tool in _MARKS.items():
            if key.startswith(mark):
                return _named(tool, "" if _is_wish(key) else value.partition(":")[0])
    for owner in metadata.get("ownerReferences") or []:
        if owner["kind"] in _OWNERS:
            return _named(_OWNERS[owner["kind"]], owner["name"])
    for entry in metadata.get("managedFields") or []:
        for start, tool in _FIELD_MANAGERS.items():
            if str(entry.get("manager", "")).startswith(start):
                return tool
    (label,) = MANAGED_BY
    by = labels.get(label, "")
    return "" if by in ("", MANAGER) else str(by)


def _is_wish(key: str) -> bool:
    """Return whether the annotation only asks the tool for something, such as a sync wave."""
    return "/sync-" in key


def _named(tool: str, name: str) -> str:
    return f"{tool} ({name})" if name else tool
