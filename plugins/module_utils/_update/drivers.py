# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers and another release: the images that it needs, and whether each driver fits the new kernel."""

from __future__ import annotations

import re
import typing as t

from .._core.objects import KubeObject, number_of
from .._nodes.system import KERNEL, as_label, releases
from .._stack.drivers import toolkit
from .._stack.drivers.image import MAJOR_ONLY, MISSING, THERE, Answer, best, mirror_of, taken
from .._stack.drivers.kernel import Match
from .._stack.kmm import kernels
from .check import BLOCKING, OK, UNKNOWN, WARNING, Check
from .release import Release, Target

# From this release of OpenShift on, os-release and the tags of driver images name RHEL instead of RHCOS.
_RHEL_NAMED: t.Final = (4, 19)

_TAG: t.Final = re.compile(
    r"(?P<head>.+)-(?P<system>rhcos\d+\.\d+|rhel\d+(?:\.\d+)?)(?P<architecture>-(?:amd64|arm64))?"
)

# What is known of an image, by its name.
Answers = t.Mapping[str, Answer]
# Names that an image may have; one of them must exist.
Names = tuple[str, ...]
NIC_DRIVER: t.Final = "nvidia.com/ofed-driver"
_CODE: t.Final = "UPDATE-DRIVER"
_SET_RHCOS: t.Final = (
    "Set gpu_update_rhcos (module option rhcos) as well: the image's tag ends with the release of RHEL in it."
)
_FROM_RELEASE: t.Final = (
    "Set gpu_update_kernel and gpu_update_rhcos (module options kernel and rhcos): `podman run --rm "
    "$(oc adm release info {version} --image-for=driver-toolkit) cat "
    "/etc/driver-toolkit-release.json`, and `oc adm release info {version}` names machine-os."
)


def driver_images(matches: t.Iterable[Match], target: Target) -> list[Names]:
    """Return the GPU driver images that these nodes will need, derived from the images of today.

    Leaves out each image whose next name does not follow from its name of today.
    """
    found = {
        for_release(toolkit.driver_image(one.daemonset), one.system.labelled, target, target.operator)
        for one in matches
        if one.daemonset
    }
    return sorted(found - {()})


def nic_driver_images(
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
        names = for_release(image, now, target)
        if now and f"-{now}-" in image and not forced:
            names += for_release(image.replace(f"-{now}-", "-"), now, target)
        found.add(names)
    return sorted(found - {()})


def module_image(module: KubeObject, target: Target) -> Names:
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
        message = f"the update needs {', '.join(images)}; {unknown[0].verdict}{words}"
        remedy = (
            f"Run `skopeo inspect docker://{images[0]}`, or set gpu_update_driver_images (module option "
            "driver_images)."
        )
        return Check(name, UNKNOWN, message, remedy, code, images)
    evidence = tuple(f"{one.image}{f' is {one.digest}' if one.digest else ''}" for _names, one in found)
    return Check(name, OK, f"{', '.join(one.image for _names, one in found)} is there", evidence=evidence)


def kernel_of(target: Target) -> str:
    """Return the words for the target's kernel, or its version if the kernel is not known."""
    return f"kernel {as_label(target.kernel)}" if target.kernel else target.version


def from_release(target: Target) -> str:
    """Return the remedy that finds the kernel and the RHCOS of the target's release."""
    return _FROM_RELEASE.format(version=target.version)


def checks(
    matches: t.Sequence[Match],
    streams: t.Collection[KubeObject],
    target: Target,
    known: Answers,
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
            found += _tags(nodes, target, known)
        elif source == toolkit.BY_IMAGE:
            found.append(_precompiled(nodes, target, known))
        elif source == toolkit.BY_PACKAGES:
            found.append(_packages(nodes))
        elif source == toolkit.BY_HOST:
            count = number_of(len(nodes), "node")
            what = f"on {count} is part of the host, and the cluster builds none for a new kernel"
            remedy = "Ask the team that builds the nodes' image for a driver for the new kernel."
            found.append(Check("driver (host)", UNKNOWN, what, remedy, _CODE))
    return [*found, _today(matches)]


def _tags(nodes: t.Sequence[Match], target: Target, known: Answers) -> list[Check]:
    """Return the check of the images that the nodes will pull by tag."""
    today = {toolkit.driver_image(one.daemonset) for one in nodes if one.daemonset}
    if not (needs := driver_images(nodes, target)):
        renamed = sorted(image for image in today if "-rhcos" in image and target.release >= _RHEL_NAMED)
        what = f"{', '.join(renamed)} has another tag on {target.version}: it ends with the release of RHEL"
        return [Check("driver image", UNKNOWN, what, _SET_RHCOS, _CODE)] if renamed else []
    for told in (best(names, known) for names in needs):
        if told.verdict == MISSING and told.image not in today:
            facts = {"image": told.image, "words": told.words, "other": ", ".join(sorted(today))}
            facts |= {"user": f"OpenShift {target.version}", "mirror": mirror_of(told)}
            return [Check.of("MIRROR-OS-TAG", "driver image", BLOCKING, **facts)]
    return [judged("driver image", needs, known, _CODE, f"the RHCOS of {target.version}")]


def _packages(nodes: t.Sequence[Match]) -> Check:
    what = (
        f"on {number_of(len(nodes), 'node')} is built with packages of the new kernel, "
        "which need entitlements or a mirror"
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
            "Run `oc get imagestream driver-toolkit -n openshift -o yaml`, and "
            "`oc get clusteroperator openshift-samples`."
        )
        return Check(name, BLOCKING, what, remedy, _CODE)
    wanted = f"tag {target.rhcos}" if target.rhcos else "the tag of the release's RHCOS"
    what = (
        f"{wanted} comes with the release itself, before the first node restarts; "
        f"{number_of(len(nodes), 'node')} can build for the new kernel then"
    )
    remedy = (
        "With a mirror registry, check that it has the image: "
        f"`oc adm release info {target.version} --image-for=driver-toolkit`."
    )
    return Check(name, UNKNOWN, what, remedy, _CODE, tuple(sorted(images)))


def _precompiled(nodes: t.Sequence[Match], target: Target, known: Answers) -> Check:
    name = "driver (precompiled)"
    if not target.kernel:
        what = (
            f"on {number_of(len(nodes), 'node')} the driver needs an image for the kernel of "
            f"{target.version}, which the cluster does not know before the update"
        )
        return Check(name, UNKNOWN, what, from_release(target), _CODE)
    if not suffixes_of_release(target.release, target.rhcos, "", target.operator):
        what = f"the tag for kernel {target.kernel} is not known without the version of RHCOS"
        return Check(name, UNKNOWN, what, _SET_RHCOS, _CODE)
    needs = driver_images(nodes, target)
    if not needs:
        what = "no driver DaemonSet shows which image the nodes use today"
        return Check(name, UNKNOWN, what, "Repair the stack first, with special_resource.", _CODE)
    return judged(name, needs, known, _CODE, f"kernel {target.kernel}")


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


def for_release(image: str, now: str, target: Target, operator: Release | None = None) -> Names:
    """Return the image names that the target would use instead of image.

    now: value of the kernel label today. operator: as in `suffixes_of_release`. The result is empty if image
    has a digest, its tag has no operating system, or the kernel or operating system of the target is unknown.
    """
    path, _colon, tag = image.rpartition(":")
    found = _TAG.fullmatch(tag)
    if not path or "@" in path or not found:
        return ()
    head = found["head"]
    if now and head.endswith(f"-{now}"):
        if not target.kernel:
            return ()
        head = head.removesuffix(now) + as_label(target.kernel)
    return tuple(
        f"{path}:{head}-{suffix}{found['architecture'] or ''}"
        for suffix in suffixes_of_release(target.release, target.rhcos, found["system"], operator)
    )


def suffixes_of_release(release: Release, rhcos: str, now: str, operator: Release | None = None) -> list[str]:
    """Return the suffixes for a release that no node runs yet; none if RHEL's version is unknown.

    operator: release of the GPU operator, which decides whether the minor version is left out. If it is not
    known, now, the suffix of the current tag, shows that.
    """
    if release < _RHEL_NAMED:
        return [f"rhcos{release[0]}.{release[1]}"]
    if operator is None and now.startswith("rhel"):
        operator = (0, 0) if "." in now else MAJOR_ONLY
    version = releases(rhcos)[0]
    if not version:
        # Each release from 4.19 on and before OpenShift 5 has RHEL 9.
        return ["rhel9"] if release[0] == 4 and operator and operator >= MAJOR_ONLY else []
    return list(taken((f"rhel{version}", f"rhel{version.partition('.')[0]}"), operator))
