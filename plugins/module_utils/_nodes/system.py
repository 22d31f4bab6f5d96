# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operating system of a node: its kernel and releases, and the verdict about its update."""

from __future__ import annotations

import re
import typing as t

from .._catalogue.well_known import FEATURE
from .._core.errors import text_of
from .._core.readiness import Readiness, about_node, at_node, pending
from .labels import labels
from .node import is_cordoned, update

KERNEL: t.Final = f"{FEATURE}kernel-version.full"
RELEASE: t.Final = f"{FEATURE}system-os_release."
OSTREE: t.Final = f"{RELEASE}OSTREE_VERSION"
_NAMESPACE: t.Final = "openshift-machine-config-operator"


class System(t.NamedTuple):
    """Kernel and operating system of one node; an empty text stands for an unknown value.

    kernel, image: the running kernel and the version in osImage, by the kubelet. The others are labels.
    """

    kernel: str
    image: str
    coreos: bool
    labelled: str
    ostree: str
    rhel: str
    openshift: str


def system(node: dict[str, t.Any]) -> System:
    info, marks = (node.get("status") or {}).get("nodeInfo") or {}, labels(node)
    os_image = str(info.get("osImage") or "")
    version = next((word for word in os_image.split() if word[:1].isdigit()), "")
    labelled = [
        marks.get(f"{RELEASE}{key}", "") for key in ("OSTREE_VERSION", "RHEL_VERSION", "OPENSHIFT_VERSION")
    ]
    return System(
        str(info.get("kernelVersion") or ""),
        version,
        "CoreOS" in os_image,
        marks.get(KERNEL, ""),
        *labelled,
    )


def as_label(kernel: str) -> str:
    """Return the kernel version as a label's value has it: with `_` for characters such as `+`."""
    return re.sub(r"[^-A-Za-z0-9_.]", "_", kernel).strip("-_.")


def releases(image: str) -> tuple[str, str]:
    """Return the releases of RHEL and OpenShift in a version of RHCOS; empty texts if it names none.

    9.8.20260801-0 names only RHEL 9.8; 415.92.202402130021-0 names RHEL 9.2 and OpenShift 4.15.
    """
    head, _dot, rest = image.partition(".")
    second = rest.partition(".")[0]
    if not head.isdigit() or not second.isdigit():
        return "", ""
    if len(head) >= 3:
        return f"{second[0]}.{second[1:]}", f"{head[0]}.{head[1:]}"
    return f"{head}.{second}", ""


def contradictions(found: System) -> list[str]:
    """Return the labels, as KEY=VALUE, that contradict the running operating system."""
    if not found.coreos or not found.image:
        return []
    rhel, openshift = releases(found.image)
    wanted = (
        ("OSTREE_VERSION", found.ostree, found.image),
        ("RHEL_VERSION", found.rhel, rhel),
        ("OPENSHIFT_VERSION", found.openshift, openshift),
    )
    return [f"{key}={labelled}" for key, labelled, real in wanted if labelled and real and labelled != real]


def image_suffixes(marks: t.Mapping[str, str]) -> list[str]:
    """Return the suffixes that the tag of a driver image can have on a node with these labels.

    These are rhcos4.18, or rhel9.6 and rhel9: GPU operators from 26.7 on leave out RHEL's minor version.
    """
    name, version = (marks.get(RELEASE + key, "") for key in ("ID", "VERSION_ID"))
    if not name or not version:
        return []
    return (
        [f"{name}{version}", f"{name}{version.partition('.')[0]}"] if name == "rhel" else [f"{name}{version}"]
    )


def judge_update(node: dict[str, t.Any]) -> Readiness | None:
    """Return pending while the node is being updated, because the update drains it, else None."""
    found, name = update(node), str(node["metadata"]["name"])
    if not found.under_way:
        return None
    if found.is_stuck:
        why = (found.reason or "it gives no reason").removesuffix(".")
        text = about_node("GPU-NODE-DEGRADED", node=name, state=found.state, why=why)
        return at_node(name, "Degraded", *text)
    cordoned = ", cordoned" if is_cordoned(node) else ""
    update_text = text_of("GPU-NODE-UPDATING", node=name, also=cordoned, kernel=system(node).kernel)
    line = update_text.message.removeprefix(f"Node {name} ").removesuffix(".")
    return pending(f"Updating:{name}", **update_text._asdict(), details=(f"{name}: {line}",))
