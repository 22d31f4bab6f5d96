# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that a node's kernel, labels, Driver Toolkit, DaemonSet and driver image belong together."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from ..._core.objects import Snapshot, name, named
from ..._core.readiness import Readiness, about_node, at_node
from ..._nodes import node as node_facts
from ..._nodes.labels import has_nvidia_pci, labels
from ..._nodes.system import KERNEL, OSTREE, System, as_label, contradictions, system
from .. import operands
from ..pods import IMAGE_REASONS, trouble
from . import toolkit

Data = dict[str, t.Any]
# Every update shows these codes for a moment; only one that lasts is an error.
PASSING: t.Final = (
    "GPU-DTK-DAEMONSET",
    "GPU-DTK-STREAM",
    "GPU-DRV-NO-DTK",
    "GPU-DRV-PRECOMPILED",
    "GPU-NFD-KERNEL",
    "GPU-NFD-OSTREE",
    "GPU-NODE-DEGRADED",
)
# The steps, in order, that a node with a new kernel goes through.
LINKS: t.Final = ("node", "labels", "toolkit", "daemonset", "image", "driver", "device plugin")


class Misfit(t.NamedTuple):
    """The first of the five facts that does not fit; link: the step in LINKS that it stops."""

    link: str
    message: str
    code: str
    remedy: str


@dataclass(frozen=True)
class Match:
    """The kernel, labels, Driver Toolkit, DaemonSet and driver image of one node.

    source: where its driver comes from. daemonset: the driver DaemonSet that selects the node, if any.
    """

    node: Data
    system: System
    source: str
    toolkit: str
    daemonset: Data | None
    misfit: Misfit | None
    link: str
    driver_ready: bool

    def to_dict(self) -> Data:
        """Return the facts as the module's result shows them."""
        found, wrong = self.system, self.misfit
        return {
            "running": found.kernel,
            "labelled": found.labelled,
            "os": {key: getattr(found, key) for key in ("image", "ostree", "rhel", "openshift")},
            "toolkit": self.toolkit,
            "daemonset": name(self.daemonset) if self.daemonset else "",
            "image": toolkit.driver_image(self.daemonset) if self.daemonset else "",
            "source": self.source,
            "fits": wrong is None,
            "misfit": dict(zip(("fact", *Misfit._fields[1:]), wrong, strict=True)) if wrong else {},
            "waits_at": self.link,
        }


def match(node: Data, policy: Data, snapshot: Snapshot) -> Match:
    """Return the facts of the node, and the first that does not fit."""
    here = operands.on_node(node, snapshot, {})
    driver = next((one for one in here if one.component == "driver"), None)
    daemonset = (named(snapshot["daemonsets"], driver.daemonset) if driver else None) or None
    source, found = toolkit.source(policy.get("spec") or {}, daemonset), system(node)
    images = toolkit.images(snapshot.get("streams", ()))
    pod = (named(snapshot["pods"], driver.pod) if driver else None) or None
    looks: tuple[t.Callable[[], Misfit | None], ...] = (
        lambda: _kernel(node, found),
        lambda: _release(node, found) if source == toolkit.BY_TOOLKIT else None,
        lambda: _tag(node, found, images) if source == toolkit.BY_TOOLKIT else None,
        lambda: _no_daemonset(node, found, source, snapshot["daemonsets"]) if daemonset is None else None,
        lambda: _daemonset(found, daemonset, images) if source == toolkit.BY_TOOLKIT and daemonset else None,
        lambda: _image(node, found, daemonset, pod) if source == toolkit.BY_IMAGE and daemonset else None,
    )
    misfit = None if source == toolkit.BY_HOST else next((wrong for look in looks if (wrong := look())), None)
    is_ready = source == toolkit.BY_HOST or bool(driver and driver.ready)
    plugin = next((one for one in here if one.component == "device-plugin"), None)
    link = misfit.link if misfit else "driver"
    if is_ready:
        link = "device plugin" if plugin and not plugin.ready else ""
    if node_facts.update(node).under_way or not node_facts.is_ready(node):
        link = "node"
    return Match(node, found, source, images.get(found.ostree, ""), daemonset, misfit, link, is_ready)


def judge(node: Data, policy: Data, snapshot: Snapshot) -> Readiness | None:
    """Return the node's misfit, or None; a driver that is ready fits the kernel, whatever else differs."""
    found = match(node, policy, snapshot)
    if found.misfit is None or found.driver_ready:
        return None
    wrong = found.misfit
    return at_node(name(node), "Kernel", wrong.message, wrong.code, wrong.remedy)


def _kernel(node: Data, found: System) -> Misfit | None:
    what = ""
    if not found.labelled and has_nvidia_pci(labels(node)):
        what = f"no label {KERNEL}"
    elif found.labelled and found.kernel and found.labelled != as_label(found.kernel):
        what = (
            f"label kernel-version.full={found.labelled} is of another kernel than the running {found.kernel}"
        )
    elif wrong := contradictions(found):
        what = f"label {', '.join(wrong)} contradicts its osImage, which is RHCOS {found.image}"
    return (
        Misfit("labels", *about_node("GPU-NFD-KERNEL", node=name(node), wrong_label=what)) if what else None
    )


def _release(node: Data, found: System) -> Misfit | None:
    if found.ostree or not found.coreos:
        return None
    return Misfit("labels", *about_node("GPU-NFD-OSTREE", node=name(node)))


def _tag(node: Data, found: System, images: t.Mapping[str, str]) -> Misfit | None:
    if not found.ostree or found.ostree in images:
        return None
    there = f"it has {', '.join(sorted(images))}" if images else "it has no tag"
    text = about_node("GPU-DTK-STREAM", node=name(node), tag=found.ostree, tags=there)
    return Misfit("toolkit", *text)


def _no_daemonset(node: Data, found: System, source: str, every: t.Sequence[Data]) -> Misfit | None:
    """Return a misfit if other nodes have a driver DaemonSet, and none selects this one."""
    others = [one for one in every if operands.is_operand(one) and operands.component(one) == "driver"]
    # On the first start no DaemonSet exists yet; a node that the operator does not know gets none.
    if not others or not source or labels(node).get(operands.DEPLOY + "driver") != "true":
        return None
    wanted = (
        f"kernel {found.kernel}" if source == toolkit.BY_IMAGE else f"RHCOS {found.ostree or found.image}"
    )
    names = ", ".join(sorted(map(name, others)))
    what = f"the operator has no driver DaemonSet for {wanted}, only {names}"
    return Misfit("daemonset", what, "GPU-DTK-DAEMONSET", operands.OPERATOR_LOG)


def _daemonset(found: System, live: Data, images: t.Mapping[str, str]) -> Misfit | None:
    object_name, marks = name(live), labels(live)
    if not found.ostree:
        return None
    if marks.get(toolkit.USED) != "true":
        what = (
            f"DaemonSet {object_name} builds the driver without the Driver Toolkit, which needs RHEL "
            "entitlements"
        )
        remedy = (
            "Run `oc get imagestream driver-toolkit -n openshift -o yaml`, and repair its tags; "
            "entitlements are not needed."
        )
        return Misfit("daemonset", what, "GPU-DRV-NO-DTK", remedy)
    selected = operands.selector(live).get(OSTREE)
    version = marks.get(toolkit.VERSION) or selected
    if version and (version != found.ostree or (selected and selected != version)):
        what = f"DaemonSet {object_name} is of RHCOS {version}, and the node runs {found.ostree}"
    elif marks.get(toolkit.WITHOUT_IMAGE) == "true" and images.get(found.ostree):
        what = f"DaemonSet {object_name} was made before the ImageStream had tag {found.ostree}"
    else:
        return None
    return Misfit("daemonset", what, "GPU-DTK-DAEMONSET", operands.OPERATOR_LOG)


def _image(node: Data, found: System, daemonset: Data, pod: Data | None) -> Misfit | None:
    image, wrong = toolkit.driver_image(daemonset), trouble(pod) if pod else None
    if found.kernel and as_label(found.kernel) not in image:
        what = f"driver image {image} was not made for the running kernel {found.kernel}"
    elif wrong and wrong.reason in IMAGE_REASONS:
        said = f": {wrong.message}" if wrong.message else ""
        what = f"no precompiled driver for kernel {found.kernel}: {image} is in {wrong.reason}{said}"
    else:
        return None
    text = about_node("GPU-DRV-PRECOMPILED", node=name(node), wrong_image=what, image=image)
    return Misfit("image", *text)
