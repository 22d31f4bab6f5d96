# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Images that another release of OpenShift needs: their names, and what is known of them."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._nodes.system import KERNEL, as_label
from .._stack.drivers import toolkit
from .._stack.drivers.image import MISSING, THERE, Answer, best, for_release
from .._stack.drivers.kernel import Match
from .._stack.kmm import kernels
from .check import BLOCKING, OK, UNKNOWN, Check
from .release import Target

# What is known of an image, by its name.
Answers = t.Mapping[str, Answer]
# Names that an image may have; one of them must exist.
Names = tuple[str, ...]
NIC_DRIVER: t.Final = "nvidia.com/ofed-driver"


def of_drivers(matches: t.Iterable[Match], target: Target) -> list[Names]:
    """Return the GPU driver images that these nodes will need, derived from the images of today.

    Leaves out each image whose next name does not follow from its name of today.
    """
    found = {
        _next(toolkit.driver_image(one.daemonset), one.system.labelled, target)
        for one in matches
        if one.daemonset
    }
    return sorted(found - {()})


def of_nic_drivers(
    daemon_sets: t.Iterable[KubeObject], policies: t.Sequence[KubeObject], target: Target
) -> list[Names]:
    """Return the driver images that the network adapters will need.

    An image with sources can replace a precompiled one, unless the policy sets forcePrecompiled.
    """
    forced = any(
        ((one.get("spec") or {}).get("ofedDriver") or {}).get("forcePrecompiled") for one in policies
    )
    found = set()
    for one in daemon_sets:
        spec = one["spec"]["template"]["spec"]
        image = str(spec["containers"][0].get("image") or "")
        now = (spec.get("nodeSelector") or {}).get(KERNEL, "")
        names = _next(image, now, target)
        if now and f"-{now}-" in image and not forced:
            names += _next(image.replace(f"-{now}-", "-"), now, target)
        found.add(names)
    return sorted(found - {()})


def _next(image: str, now: str, target: Target) -> Names:
    return for_release(image, now, target.kernel, target.release, target.rhcos)


def of_module(module: KubeObject, target: Target) -> Names:
    """Return the image of a Module for the target's kernel; empty if the kernel or the image is not known."""
    image = kernels.image_for(module, target.kernel) if target.kernel else ""
    return (image,) if image else ()


def given(needs: t.Iterable[Names], images: t.Collection[str]) -> Answers:
    """Return what the user says about these images. images: full names or tags that the registry has."""
    known = {}
    for image in (one for names in needs for one in names):
        is_there = image in images or image.rpartition(":")[2] in images
        verdict = THERE if is_there else MISSING
        known[image] = Answer(image, verdict, words="" if is_there else "driver_images does not have it")
    return known


def judged(name: str, needs: t.Sequence[Names], known: Answers, code: str, what: str) -> Check:
    """Return the check of these images: blocking if one is missing. what: what needs the images."""
    found = [(names, best(names, known)) for names in needs]
    missing = [(names, one) for names, one in found if one.verdict == MISSING]
    if missing:
        images = tuple(" or ".join(names) for names, _one in missing)
        words = f" ({missing[0][1].words})" if missing[0][1].words else ""
        message = f"no image for {what}: {', '.join(images)}{words}"
        remedy = "Build and push it before the update, or mirror it."
        return Check(name, BLOCKING, message, remedy, code, images)
    unknown = [one for _names, one in found if one.verdict != THERE]
    if unknown:
        images = tuple(one.image for one in unknown)
        words = f": {unknown[0].words}" if unknown[0].words else ""
        message = f"needed are {', '.join(images)}; {unknown[0].verdict}{words}"
        remedy = f"`skopeo inspect docker://{images[0]}`, or give driver_images."
        return Check(name, UNKNOWN, message, remedy, code, images)
    evidence = tuple(f"{one.image}{f' is {one.digest}' if one.digest else ''}" for _names, one in found)
    return Check(name, OK, f"{', '.join(one.image for _names, one in found)} is there", evidence=evidence)


def kernel_of(target: Target) -> str:
    """Return the words for the target's kernel, or its version if the kernel is not known."""
    return f"kernel {as_label(target.kernel)}" if target.kernel else target.version
