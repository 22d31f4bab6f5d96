# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Driver images: their names, and whether they exist.

OpenShift's API server looks images up: it asks the registries as the cluster would. A tag ends with the
operating system; a precompiled driver's has the kernel before that.
"""

from __future__ import annotations

import re
import typing as t

from ..._core.errors import NotReadyError
from ..._core.objects import at, name
from ..._nodes.labels import has_nvidia_pci, labels
from ..._nodes.system import KERNEL, image_suffixes
from ..._nodes.taints import matches

Data = dict[str, t.Any]
# From this release on the GPU operator leaves RHEL's minor version out of the tags of drivers.
MAJOR_ONLY: t.Final = (26, 7)
_IDENTITY: t.Final = ("usePrecompiled", "repository", "image", "version", "nodeSelector")


class Need(t.NamedTuple):
    """The precompiled driver that a node needs.

    images: one of them must exist; the release of the operator decides which one it pulls.
    """

    node: str
    kernel: str
    images: tuple[str, ...]


class Change(t.NamedTuple):
    """A driver section before and after a change.

    without: node selectors of other drivers; this driver does not run on the nodes that they select.
    """

    before: Data
    after: Data
    without: tuple[t.Mapping[str, str], ...] = ()

    @property
    def is_new(self) -> bool:
        """Return whether nodes will have to pull other precompiled drivers."""
        return bool(self.after.get("usePrecompiled")) and any(
            self.before.get(key) != self.after.get(key) for key in _IDENTITY
        )

    def is_for(self, node: Data) -> bool:
        """Return whether the changed driver runs on this node."""
        marks = labels(node)
        return matches(self.after.get("nodeSelector") or {}, marks) and not any(
            matches(one, marks) for one in self.without
        )


def tagged(driver: Data) -> str:
    """Return the image of a driver by tag, without the operating system at the tag's end; else ""."""
    repository, image, version = (str(driver.get(key) or "") for key in ("repository", "image", "version"))
    is_plain = version and not version.startswith("sha256:") and not driver.get("usePrecompiled")
    return f"{repository}/{image}:{version}" if repository and image and is_plain else ""


def precompiled(driver: Data, nodes: t.Iterable[Data]) -> list[Need]:
    """Return what each GPU node needs now; an empty list if the driver's image is incomplete or a digest.

    driver: a driver section that uses precompiled drivers.
    """
    repository, image, version = (str(driver.get(key) or "") for key in ("repository", "image", "version"))
    if not (repository and image and version) or version.startswith("sha256:"):
        return []
    found = []
    for node in nodes:
        marks = labels(node)
        kernel = marks.get(KERNEL, "")
        images = tuple(
            f"{repository}/{image}:{version}-{kernel}-{suffix}" for suffix in image_suffixes(marks)
        )
        if has_nvidia_pci(marks) and kernel and images:
            found.append(Need(name(node), kernel, images))
    return sorted(found)


def judge(needs: t.Sequence[Need], known: t.Mapping[str, Answer], ours: t.Collection[str]) -> list[str]:
    """Raise NotReadyError if the image of a node in ours is missing; return warnings about missing images
    of other nodes, and about unknown ones.
    """
    told = [(need, best(need.images, known)) for need in needs]
    missing = [(need, one) for need, one in told if one.verdict == MISSING]
    refused = [(need, one) for need, one in missing if need.node in ours]
    if refused:
        need, others = refused[0][0], ", ".join(other.node for other, _one in refused[1:4])
        more = f"; also missing for {others}{', …' if refused[4:] else ''}" if others else ""
        wrong = f"there is no precompiled driver for kernel {need.kernel}: "
        wrong += f"{' or '.join(need.images)} is not in the registry{more}"
        evidence = [f"{one.node}: kernel {one.kernel}, {got.image}: {got.words}" for one, got in refused]
        raise NotReadyError(
            "GPU-DRV-PRECOMPILED", node=need.node, wrong_image=wrong, image=need.images[0], evidence=evidence
        )
    warnings = [
        f"Node {need.node} is in none of the pools, and has no precompiled driver for its kernel "
        f"{need.kernel}: {one.image}"
        for need, one in missing
    ]
    unknown = [one for _need, one in told if one.verdict not in (THERE, MISSING)]
    if unknown:
        images = ", ".join(sorted({one.image for one in unknown}))
        warnings.append(
            f"It is not known whether these precompiled drivers exist ({unknown[0].verdict}: "
            f"{unknown[0].words}): {images}"
        )
    return warnings


# Why nobody is asked on a cluster without the API.
NO_API: t.Final = "this cluster has no API that looks images up"
LOOKUP_VERSION: t.Final = "image.openshift.io/v1"
LOOKUP_KIND: t.Final = "ImageStreamImport"
# No image stream needs this name, and the request creates none.
LOOKUP_NAME: t.Final = "accelerators-image-lookup"
# What is known of an image. REFUSED: the registry or the cluster denies access, so the image may exist.
THERE, MISSING, REFUSED = "there", "missing", "not allowed"
UNREACHABLE, NOT_ASKED = "unreachable", "not asked"
_LEAD: t.Final = "Internal error occurred: "
# With mirrors the message has one text for each registry; the image is missing only if all of them say so.
_NOT_FOUND: t.Final = re.compile(
    r'dockerimage\S* "[^"]+" not found'
    r'|(?:\[[\da-f:]+\])?[^\s,\[\]"]+: (?:name|manifest) unknown(?:: [^,\[\]]*)?'
)
_DENIED: t.Final = re.compile(
    r": (?:denied|unauthorized): |you may not have access|incorrect username or password"
)
_BY_REASON: t.Final = {"NotFound": MISSING, "Unauthorized": REFUSED, "Forbidden": REFUSED}


class Answer(t.NamedTuple):
    """Whether an image exists. words: the server's message; empty if the image exists.

    archs: its architectures, none if the server does not say.
    """

    image: str
    verdict: str
    digest: str = ""
    words: str = ""
    archs: tuple[str, ...] = ()


def lookup_question(images: t.Sequence[str], namespace: str) -> Data:
    """Return the ImageStreamImport that asks for the images and imports nothing.

    PreserveOriginal accepts an image that lacks the manifest of an architecture.
    """
    policy = {"importMode": "PreserveOriginal"}
    wanted = [{"from": {"kind": "DockerImage", "name": image}, "importPolicy": policy} for image in images]
    return {
        "apiVersion": LOOKUP_VERSION,
        "kind": LOOKUP_KIND,
        "metadata": {"name": LOOKUP_NAME, "namespace": namespace},
        "spec": {"import": False, "images": wanted},
        "status": {},
    }


def lookup_answers(images: t.Sequence[str], told: Data) -> dict[str, Answer]:
    """Return image -> answer. told: the server's reply, which lists images in the order of the question."""
    entries = at(told, "status.images") or []
    return {
        image: _lookup_answer(image, entries[number] if number < len(entries) else {})
        for number, image in enumerate(images)
    }


def not_asked(images: t.Iterable[str], words: str) -> dict[str, Answer]:
    """Return image -> answer NOT_ASKED, with the reason in words."""
    return {image: Answer(image, NOT_ASKED, words=words) for image in images}


def taken(forms: t.Sequence[str], operator: tuple[int, int] | None) -> tuple[str, ...]:
    """Return the form that this release of the GPU operator takes; all if the release is not known.

    forms: images or ends of tags, with the minor version of RHEL and without it.
    """
    if operator is None:
        return tuple(forms)
    return tuple(forms[-1:] if operator >= MAJOR_ONLY else forms[:1])


def best(images: t.Sequence[str], known: t.Mapping[str, Answer]) -> Answer:
    """Return the answer for a group of which one image is enough: THERE if one exists, MISSING if all are
    missing, else the first unknown one.
    """
    told = [known.get(image) or Answer(image, NOT_ASKED, words="nobody asked") for image in images]
    there = next((one for one in told if one.verdict == THERE), None)
    return there or next((one for one in told if one.verdict != MISSING), told[0])


def _lookup_answer(image: str, entry: Data) -> Answer:
    status = entry.get("status") or {}
    if not status.get("status"):
        return Answer(image, NOT_ASKED, words="the server said nothing about it")
    if status["status"] == "Success":
        return Answer(image, THERE, str(at(entry, "image.metadata.name") or ""), archs=_archs(entry))
    reason, words = str(status.get("reason") or ""), str(status.get("message") or status.get("reason") or "")
    words = words.removeprefix(_LEAD)
    return Answer(image, _BY_REASON.get(reason) or by_words(image, words), words=words)


def _archs(entry: Data) -> tuple[str, ...]:
    """Return the architectures of an index's manifests, or of the one image."""
    manifests = at(entry, "image.dockerImageManifests") or []
    found = {one.get("architecture") for one in manifests}
    return tuple(sorted(filter(None, found or {at(entry, "image.dockerImageMetadata.Architecture")})))


def by_words(image: str, words: str) -> str:
    """Return the verdict for a message of one or more registries that has no reason field.

    The server asks the source last. If no route leads there, the answers of the mirrors count.
    """
    left, mirrors = _NOT_FOUND.subn("", words)
    if mirrors and not left.partition(f'{image}: Get "')[0].strip("[], "):
        return MISSING
    return REFUSED if _DENIED.search(words) else UNREACHABLE


def destination(place: str, path: str) -> str:
    """Return where oc-mirror puts an image so that it is at this place: it appends the path of the source."""
    return place.removesuffix(f"/{path}") if place.endswith(f"/{path}") else place.partition("/")[0]


def mirror_of(answer: Answer) -> str:
    """Return the `destination` in the mirror that the server's words name for a tag, or else REGISTRY."""
    place, _colon, tag = answer.image.rpartition(":")
    name = rf"{re.escape(place.rpartition('/')[2])}):{re.escape(tag)}(?![\w.-])"
    asked = [one for one in re.findall(rf'([^\s"\[,]+/{name}', answer.words) if one != place]
    return destination(asked[0], place.partition("/")[2]) if asked else "REGISTRY"
