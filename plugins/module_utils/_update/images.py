# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Images that another release of OpenShift asks for: which ones, and what is known of them."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.system import KERNEL, as_label
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import lookup, toolkit
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.image import for_release
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import kernels
from ansible_collections.accelerators.openshift.plugins.module_utils._update.check import (
    BLOCKING,
    OK,
    UNKNOWN,
    Check,
)

if t.TYPE_CHECKING:
    from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.kernel import Match
    from ansible_collections.accelerators.openshift.plugins.module_utils._update.drivers import Target

Data = dict[str, t.Any]
Answers = t.Mapping[str, lookup.Answer]
# Names that an image may have; one of them has to be there.
Names = tuple[str, ...]
NIC_DRIVER: t.Final = "nvidia.com/ofed-driver"


def of_drivers(matches: t.Iterable[Match], target: Target) -> list[Names]:
    """Of the GPU drivers of these nodes, by the images of today; none of those whose name does not follow from them."""
    found = {
        for_release(
            toolkit.driver_image(one.daemonset),
            one.system.labelled,
            target.kernel,
            target.release,
            target.rhcos,
        )
        for one in matches
        if one.daemonset
    }
    return sorted(found - {()})


def of_nic_drivers(daemon_sets: t.Iterable[Data], policies: t.Sequence[Data], target: Target) -> list[Names]:
    """Of the network adapters' drivers. One that was compiled beforehand may be built instead, unless the policy forbids it."""
    forced = any(
        ((one.get("spec") or {}).get("ofedDriver") or {}).get("forcePrecompiled") for one in policies
    )
    found = set()
    for one in daemon_sets:
        spec = one["spec"]["template"]["spec"]
        image, now = (
            str(spec["containers"][0].get("image") or ""),
            (spec.get("nodeSelector") or {}).get(KERNEL, ""),
        )
        names = for_release(image, now, target.kernel, target.release, target.rhcos)
        if now and f"-{now}-" in image and not forced:
            names += for_release(
                image.replace(f"-{now}-", "-"), now, target.kernel, target.release, target.rhcos
            )
        found.add(names)
    return sorted(found - {()})


def of_module(module: Data, target: Target) -> Names:
    image = kernels.image_for(module, target.kernel) if target.kernel else ""
    return (image,) if image else ()


def given(needs: t.Iterable[Names], images: t.Collection[str]) -> Answers:
    """What the user says that the registry has, whole or by tag."""
    known = {}
    for image in (one for names in needs for one in names):
        is_there = image in images or image.rpartition(":")[2] in images
        verdict = lookup.THERE if is_there else lookup.MISSING
        known[image] = lookup.Answer(
            image, verdict, words="" if is_there else "driver_images does not have it"
        )
    return known


def judged(name: str, needs: t.Sequence[Names], known: Answers, code: str, what: str) -> Check:
    """what: for whom the images are."""
    told = [(names, lookup.best(names, known)) for names in needs]
    missing = [(names, one) for names, one in told if one.verdict == lookup.MISSING]
    if missing:
        images = tuple(" or ".join(names) for names, _one in missing)
        words = f" ({missing[0][1].words})" if missing[0][1].words else ""
        return Check(
            name,
            BLOCKING,
            f"no image for {what}: {', '.join(images)}{words}",
            "Build and push it before the update, or mirror it.",
            code,
            images,
        )
    unknown = [one for _names, one in told if one.verdict != lookup.THERE]
    if unknown:
        images = tuple(one.image for one in unknown)
        said = (
            f"; {unknown[0].verdict}: {unknown[0].words}" if unknown[0].words else f"; {unknown[0].verdict}"
        )
        return Check(
            name,
            UNKNOWN,
            f"needed are {', '.join(images)}{said}",
            f"`skopeo inspect docker://{images[0]}`, or give driver_images.",
            code,
            images,
        )
    evidence = tuple(f"{one.image}{f' is {one.digest}' if one.digest else ''}" for _names, one in told)
    return Check(name, OK, f"{', '.join(one.image for _names, one in told)} is there", evidence=evidence)


def kernel_of(target: Target) -> str:
    return f"kernel {as_label(target.kernel)}" if target.kernel else target.version
