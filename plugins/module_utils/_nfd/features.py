# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""NodeFeatures: those of this collection, and stale ones of deleted nodes."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import FEATURE
from .._core.errors import InputError
from .._core.objects import KubeObject
from .._core.syntax import key_fault, name_fault, value_fault
from .._nodes.labels import labels, text
from .params import FeatureEntry
from .rules import Given, full

API_VERSION: t.Final = "nfd.k8s-sigs.io/v1alpha1"
# Label by which nfd-master finds the node of a NodeFeature.
NODE_NAME: t.Final = "nfd.node.kubernetes.io/node-name"
# Label with the name of the entry of `features` that a NodeFeature comes from.
ENTRY: t.Final = "accelerators.openshift/node-feature"
_KINDS: t.Final[tuple[t.Literal["attributes", "flags", "instances"], ...]] = (
    "attributes",
    "flags",
    "instances",
)
_KERNEL: t.Final = f"{FEATURE}kernel-version.full"


class Stale(t.NamedTuple):
    """Outdated information about a node. name, namespace: of the NodeFeature, empty for labels."""

    node: str
    message: str
    name: str = ""
    namespace: str = ""

    def as_result(self) -> dict[str, str]:
        return self._asdict()


def check(features: t.Sequence[FeatureEntry]) -> None:
    """Raise NFD-FEATURE for a name, key or value that the API or nfd-master would refuse."""
    names = [entry["name"] for entry in features]
    for index, entry in enumerate(features):
        path = f"features[{index}]"
        if fault := name_fault(entry["name"]):
            raise _wrong(f"{path}.name", f"is {entry['name']!r}, which {fault}", "Choose another name.")
        if names.count(entry["name"]) > 1:
            raise _wrong(
                f"{path}.name", f"{entry['name']!r} appears twice", "Give every entry a different name."
            )
        for key, value in (entry.get("labels") or {}).items():
            if fault := key_fault(str(key)):
                raise _wrong(
                    f"{path}.labels[{key}]", f"is no legal key: it {fault}", "Write NAME or DOMAIN/NAME."
                )
            if fault := value_fault(text(value) or ""):
                raise _wrong(f"{path}.labels[{key}]", f"is {value!r}, which {fault}", "Change the value.")
        _check_kinds(entry, path)


def _check_kinds(entry: FeatureEntry, path: str) -> None:
    remedy = "Write DOMAIN.FEATURE, for example example.device."
    for kind in _KINDS:
        for name in entry.get(kind) or {}:
            if "." not in str(name):
                raise _wrong(f"{path}.{kind}", f"has feature {name!r}", remedy)


def check_present(features: t.Sequence[FeatureEntry]) -> None:
    """Raise NFD-FEATURE if an entry has no node or no features; a deletion needs only its name."""
    for index, entry in enumerate(features):
        if not entry.get("nodes") and not entry.get("node_selector"):
            raise _wrong(f"features[{index}]", "selects no node", "Give it nodes or node_selector.")
        if not (entry.get("labels") or any(entry.get(kind) for kind in _KINDS)):
            raise _wrong(
                f"features[{index}]", "publishes nothing", "Give it labels, attributes, flags or instances."
            )


def build(entry: FeatureEntry, node: str, namespace: str, api_version: str = API_VERSION) -> KubeObject:
    """Return the NodeFeature of an entry for one node."""
    attributes = {
        name: {"elements": _texts(values)} for name, values in (entry.get("attributes") or {}).items()
    }
    flags: KubeObject = {
        name: {"elements": {str(flag): {} for flag in values}}
        for name, values in (entry.get("flags") or {}).items()
    }
    instances = {
        name: {"elements": [{"attributes": _texts(one)} for one in values]}
        for name, values in (entry.get("instances") or {}).items()
    }
    return {
        "apiVersion": api_version,
        "kind": "NodeFeature",
        "metadata": {
            "name": f"{entry['name']}-{node}",
            "namespace": namespace,
            "labels": {NODE_NAME: node, ENTRY: entry["name"]},
        },
        "spec": {
            "features": {"attributes": attributes, "flags": flags, "instances": instances},
            "labels": {full(key): value for key, value in _texts(entry.get("labels") or {}).items()},
        },
    }


def given(feature: KubeObject) -> Given:
    """Return the labels that nodes get by this NodeFeature."""
    return Given(frozenset(full(key) for key in (feature.get("spec") or {}).get("labels") or {}))


def node_of(feature: KubeObject) -> str:
    """Return the name of the NodeFeature's node, or an empty text."""
    return labels(feature).get(NODE_NAME, "")


def is_by_worker(feature: KubeObject) -> bool:
    """Return True if nfd-worker published the NodeFeature: it has the name of its node then."""
    return bool(node_of(feature) == feature["metadata"]["name"])


def orphans(features: t.Iterable[KubeObject], nodes: t.Container[str]) -> list[Stale]:
    """Return the NodeFeatures of deleted nodes, which nfd-gc should have deleted. nodes: existing names."""
    return [
        Stale(
            node_of(one),
            f"node {node_of(one)} does not exist",
            one["metadata"]["name"],
            one["metadata"]["namespace"],
        )
        for one in features
        if node_of(one) and node_of(one) not in nodes
    ]


def outdated(node: KubeObject) -> Stale | None:
    """Return an entry if the node's labels name another kernel than the running one, else None."""
    said, running = (
        labels(node).get(_KERNEL),
        ((node.get("status") or {}).get("nodeInfo") or {}).get("kernelVersion"),
    )
    if not said or not running or said == running:
        return None
    name = str(node["metadata"]["name"])
    return Stale(
        name,
        f"node {name} is labelled with kernel {said} and runs {running}: "
        "its nfd-worker has not published since",
    )


def cause(node: KubeObject, label: str, features: t.Sequence[KubeObject]) -> str:
    """Return why a label is not on a node, as far as the node's NodeFeatures tell."""
    own = [one for one in features if node_of(one) == node["metadata"]["name"]]
    noted = {
        full(one)
        for one in (
            (node["metadata"].get("annotations") or {}).get("nfd.node.kubernetes.io/feature-labels") or ""
        ).split(",")
    }
    if not any(is_by_worker(one) for one in own):
        return "no nfd-worker has published anything for this node"
    publisher = next(
        (one for one in own if label in {full(key) for key in (one["spec"].get("labels") or {})}), None
    )
    if publisher:
        name = f"NodeFeature {publisher['metadata']['namespace']}/{publisher['metadata']['name']}"
        return f"{name} has it, " + (
            "nfd-master had set it and another client removed it"
            if label in noted
            else "nfd-master has not set it"
        )
    classes = _hidden_classes(label, own)
    if classes:
        found = ", ".join(classes)
        return f"the device is there with PCI class {found}, which deviceClassWhitelist does not let through"
    return "its nfd-worker does not see it"


def _hidden_classes(label: str, features: t.Iterable[KubeObject]) -> list[str]:
    """Return the PCI classes of the vendor in the label `pci-<vendor>.present`."""
    name = label.removeprefix(f"{FEATURE}pci-").partition(".")[0]
    if not label.startswith(f"{FEATURE}pci-"):
        return []
    found = [
        one
        for feature in features
        for one in ((feature["spec"].get("features") or {}).get("instances") or {})
        .get("pci.device", {})
        .get("elements", [])
    ]
    return sorted(
        {one["attributes"]["class"] for one in found if one["attributes"].get("vendor") in name.split("_")}
    )


def _texts(values: t.Mapping[t.Any, t.Any]) -> dict[str, str]:
    return {str(key): text(value) or "" for key, value in values.items()}


def _wrong(path: str, problem: str, remedy: str) -> InputError:
    return InputError("NFD-FEATURE", f"{path} {problem}.", remedy)
