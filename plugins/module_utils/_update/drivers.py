# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""GPU drivers and another release: can each node's driver follow it to the new kernel?"""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._nodes.system import suffixes_of_release
from .._stack.drivers import toolkit
from .._stack.drivers.kernel import Match
from . import images as update_images
from .check import BLOCKING, OK, UNKNOWN, WARNING, Check
from .release import Target

_CODE: t.Final = "UPDATE-DRIVER"
_FROM_RELEASE: t.Final = (
    "Give kernel and rhcos: `podman run --rm $(oc adm release info {version} --image-for=driver-toolkit) "
    "cat /etc/driver-toolkit-release.json`, and `oc adm release info {version}` names machine-os."
)


def from_release(target: Target) -> str:
    """Return the remedy that finds the kernel and the RHCOS of the target's release."""
    return _FROM_RELEASE.format(version=target.version)


def checks(
    matches: t.Sequence[Match],
    streams: t.Collection[KubeObject],
    target: Target,
    known: update_images.Answers,
) -> list[Check]:
    """Return the checks of each driver source in use, and one for nodes whose driver does not fit today.

    known: what is known of the images.
    """
    if not matches:
        return [Check("driver", OK, "no node has a GPU that needs a driver")]
    found = []
    for source in sorted({one.source for one in matches}):
        nodes = [one for one in matches if one.source == source]
        if source == toolkit.BY_TOOLKIT:
            found.append(_toolkit(nodes, streams, target))
            if needs := update_images.of_drivers(nodes, target):
                what = f"the RHCOS of {target.version}"
                found.append(update_images.judged("driver image", needs, known, _CODE, what))
        elif source == toolkit.BY_IMAGE:
            found.append(_precompiled(nodes, target, known))
        elif source == toolkit.BY_PACKAGES:
            found.append(_packages(nodes))
        elif source == toolkit.BY_HOST:
            what = f"on {len(nodes)} nodes is part of the host, and the cluster builds none for a new kernel"
            remedy = "Ask the people who make the nodes' image."
            found.append(Check("driver (host)", UNKNOWN, what, remedy, _CODE))
    return [*found, _today(matches)]


def _packages(nodes: t.Sequence[Match]) -> Check:
    what = (
        f"on {len(nodes)} nodes is built with packages of the new kernel, which need entitlements or a mirror"
    )
    remedy = "Set operator.use_ocp_driver_toolkit: true, which builds it without them."
    return Check("driver (packages)", WARNING, what, remedy, _CODE)


def _toolkit(nodes: t.Sequence[Match], streams: t.Iterable[KubeObject], target: Target) -> Check:
    images, name = toolkit.images(streams), "driver (Driver Toolkit)"
    if target.rhcos in images:
        what = f"ImageStream openshift/driver-toolkit has tag {target.rhcos}"
        return Check(name, OK, what, evidence=(images[target.rhcos],))
    if not images:
        what = "ImageStream openshift/driver-toolkit has no tag, so no driver can be built with it"
        remedy = (
            "Look at `oc get imagestream driver-toolkit -n openshift`, and at the operator openshift-samples."
        )
        return Check(name, BLOCKING, what, remedy, _CODE)
    wanted = f"tag {target.rhcos}" if target.rhcos else "the tag of the release's RHCOS"
    what = (
        f"{wanted} comes with the release itself, before the first node restarts; "
        f"{len(nodes)} nodes build for the new kernel then"
    )
    remedy = (
        "Only then can the cluster pull the image: on a mirror, look for "
        f"`oc adm release info {target.version} --image-for=driver-toolkit`."
    )
    return Check(name, UNKNOWN, what, remedy, _CODE, tuple(sorted(images)))


def _precompiled(nodes: t.Sequence[Match], target: Target, known: update_images.Answers) -> Check:
    name = "driver (precompiled)"
    if not target.kernel:
        what = (
            f"{len(nodes)} nodes need an image for the kernel of {target.version}, "
            "which the cluster does not know before the update"
        )
        return Check(name, UNKNOWN, what, from_release(target), _CODE)
    if not suffixes_of_release(target.release, target.rhcos, ""):
        what = f"the tag for kernel {target.kernel} is not known without the version of RHCOS"
        remedy = "Give rhcos as well: the image's tag ends with the release of RHEL in it."
        return Check(name, UNKNOWN, what, remedy, _CODE)
    needs = update_images.of_drivers(nodes, target)
    if not needs:
        what = "no driver DaemonSet shows which image the nodes use today"
        return Check(name, UNKNOWN, what, "Repair the stack first, with special_resource.", _CODE)
    return update_images.judged(name, needs, known, _CODE, f"kernel {target.kernel}")


def _today(matches: t.Sequence[Match]) -> Check:
    name = "kernels of today"
    wrong = [one for one in matches if one.misfit or not one.driver_ready]
    if not wrong:
        return Check(name, OK, f"driver and kernel fit on all {len(matches)} GPU nodes")
    lines = tuple(
        f"{one.node['metadata']['name']}: {one.misfit.message if one.misfit else 'its driver is not ready'}"
        for one in wrong
    )
    remedies = [one.misfit.remedy for one in wrong if one.misfit]
    remedy = remedies[0] if remedies else "Run special_resource, which says what is wrong."
    what = f"{len(wrong)} of {len(matches)} nodes have no fitting driver today: {'; '.join(lines)}"
    return Check(name, WARNING, what, remedy, _CODE, lines)
