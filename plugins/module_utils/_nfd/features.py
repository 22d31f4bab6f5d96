# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""NodeFeatures that somebody beside nfd-worker publishes for a node, and NodeFeatures that nobody keeps any more."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import FEATURE
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.names import (
    key_fault,
    name_fault,
    value_fault,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._nfd.rules import Given, full
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.labels import (
    labels,
    text,
)

API_VERSION: t.Final = "nfd.k8s-sigs.io/v1alpha1"
# Tells nfd-master whose features these are.
NODE_NAME: t.Final = "nfd.node.kubernetes.io/node-name"
# Ties the NodeFeatures of all nodes to the one entry that they come from.
ENTRY: t.Final = "accelerators.openshift/node-feature"
_KERNEL: t.Final = f"{FEATURE}kernel-version.full"


class Stale(t.NamedTuple):
    """What speaks of a node that is no longer so. name: the NodeFeature, where it is one."""

    node: str
    message: str
    name: str = ""
    namespace: str = ""

    def to_dict(self) -> dict[str, str]:
        return self._asdict()


def check(features: t.Sequence[KubeObject]) -> None:
    names = [entry["name"] for entry in features]
    for index, entry in enumerate(features):
        path = f"features[{index}]"
        if fault := name_fault(entry["name"]):
            raise _wrong(f"{path}.name", f"is {entry['name']!r}, which {fault}", "Choose another name.")
        if names.count(entry["name"]) > 1:
            raise _wrong(
                f"{path}.name", f"{entry['name']!r} is there twice", "Give every entry a name of its own."
            )
        for key, value in (entry.get("labels") or {}).items():
            if fault := key_fault(str(key)):
                raise _wrong(
                    f"{path}.labels[{key}]", f"is no legal key: it {fault}", "Write NAME or DOMAIN/NAME."
                )
            if fault := value_fault(text(value) or ""):
                raise _wrong(f"{path}.labels[{key}]", f"is {value!r}, which {fault}", "Change the value.")
        for kind in ("attributes", "flags", "instances"):
            for name in entry.get(kind) or {}:
                if "." not in str(name):
                    raise _wrong(
                        f"{path}.{kind}",
                        f"has feature {name!r}",
                        "Write DOMAIN.FEATURE, for example example.device.",
                    )


def check_present(features: t.Sequence[KubeObject]) -> None:
    """What a NodeFeature needs to be made; one that is to go needs its name alone."""
    for index, entry in enumerate(features):
        if not entry.get("nodes") and not entry.get("node_selector"):
            raise _wrong(f"features[{index}]", "names no node", "Give it nodes or node_selector.")
        if not any(entry.get(kind) for kind in ("labels", "attributes", "flags", "instances")):
            raise _wrong(
                f"features[{index}]", "publishes nothing", "Give it labels, attributes, flags or instances."
            )


def build(entry: KubeObject, node: str, namespace: str, api_version: str = API_VERSION) -> KubeObject:
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
    return Given(frozenset(full(key) for key in (feature.get("spec") or {}).get("labels") or {}))


def node_of(feature: KubeObject) -> str:
    return labels(feature).get(NODE_NAME, "")


def is_by_worker(feature: KubeObject) -> bool:
    """nfd-worker names its own after the node."""
    return bool(node_of(feature) == feature["metadata"]["name"])


def orphans(features: t.Iterable[KubeObject], nodes: t.Container[str]) -> list[Stale]:
    """NodeFeatures of nodes that are gone, which nfd-gc should have taken away."""
    return [
        Stale(
            node_of(one),
            f"node {node_of(one)} is gone",
            one["metadata"]["name"],
            one["metadata"]["namespace"],
        )
        for one in features
        if node_of(one) and node_of(one) not in nodes
    ]


def outdated(node: KubeObject) -> Stale | None:
    """A node whose worker has not published since its kernel changed."""
    said, running = (
        labels(node).get(_KERNEL),
        ((node.get("status") or {}).get("nodeInfo") or {}).get("kernelVersion"),
    )
    if not said or not running or said == running:
        return None
    name = str(node["metadata"]["name"])
    return Stale(
        name,
        f"node {name} is labelled with kernel {said} and runs {running}: its nfd-worker has not published since",
    )


def cause(node: KubeObject, label: str, features: t.Sequence[KubeObject]) -> str:
    """Why a label is not on a node, from the NodeFeatures of that node."""
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
            "nfd-master had set it and somebody took it away"
            if label in noted
            else "nfd-master has not set it"
        )
    classes = _hidden_classes(label, own)
    if classes:
        return f"the device is there with PCI class {', '.join(classes)}, which deviceClassWhitelist does not let through"
    return "its nfd-worker does not see it"


def _hidden_classes(label: str, features: t.Iterable[KubeObject]) -> list[str]:
    """Classes of the devices that `pci-<vendor>.present` speaks of."""
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
