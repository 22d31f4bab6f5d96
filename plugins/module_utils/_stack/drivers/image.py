# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Driver images: a tag ends with the operating system; a precompiled driver's has the kernel before that."""

from __future__ import annotations

import re
import typing as t

from ..._core.errors import NotReadyError
from ..._nodes.labels import has_nvidia_pci, labels
from ..._nodes.system import KERNEL, as_label, image_suffixes, suffixes_of_release
from ..._nodes.taints import matches
from .lookup import MISSING, THERE, Answer, best

Data = dict[str, t.Any]
_IDENTITY: t.Final = ("usePrecompiled", "repository", "image", "version", "nodeSelector")
_TAG: t.Final = re.compile(
    r"(?P<head>.+)-(?P<system>rhcos\d+\.\d+|rhel\d+(?:\.\d+)?)(?P<architecture>-(?:amd64|arm64))?"
)


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
            found.append(Need(str(node["metadata"]["name"]), kernel, images))
    return sorted(found)


def for_release(image: str, now: str, kernel: str, release: tuple[int, int], rhcos: str) -> tuple[str, ...]:
    """Return the image names that another OpenShift release would use instead of image.

    now: value of the kernel label today. The result is empty if image has a digest, its tag has no operating
    system, or the kernel or operating system of the release is unknown.
    """
    path, _colon, tag = image.rpartition(":")
    found = _TAG.fullmatch(tag)
    if not path or "@" in path or not found:
        return ()
    head = found["head"]
    if now and head.endswith(f"-{now}"):
        if not kernel:
            return ()
        head = head.removesuffix(now) + as_label(kernel)
    return tuple(
        f"{path}:{head}-{suffix}{found['architecture'] or ''}"
        for suffix in suffixes_of_release(release, rhcos, found["system"])
    )


def judge(needs: t.Sequence[Need], known: t.Mapping[str, Answer], ours: t.Collection[str]) -> list[str]:
    """Raise NotReadyError if the image of a node in ours is missing; return warnings about missing images
    of other nodes, and about unknown ones.
    """
    told = [(need, best(need.images, known)) for need in needs]
    missing = [(need, one) for need, one in told if one.verdict == MISSING]
    refused = [(need, one) for need, one in missing if need.node in ours]
    if refused:
        need = refused[0][0]
        image = " or ".join(need.images)
        others = (
            "; also missing for "
            f"{', '.join(other.node for other, _one in refused[1:4])}{', …' if refused[4:] else ''}"
            if refused[1:]
            else ""
        )
        message = (
            f"Node {need.node}: there is no precompiled driver for kernel {need.kernel}: {image} is "
            f"not in the registry{others}."
        )
        evidence = [f"{need.node}: kernel {need.kernel}, {one.image}: {one.words}" for need, one in refused]
        raise NotReadyError(
            "GPU-DRV-PRECOMPILED",
            message,
            f"Build and push {need.images[0]}, or set driver.use_precompiled to false.",
            evidence,
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
            f"Whether these precompiled drivers are there is not known ({unknown[0].verdict}: "
            f"{unknown[0].words}): {images}"
        )
    return warnings
