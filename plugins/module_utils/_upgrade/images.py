# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images that an upgrade needs: one for each operating system of its nodes, or for each kernel."""

from __future__ import annotations

import typing as t

from .._catalogue import driver_branches
from .._core.errors import NotReadyError
from .._core.objects import KubeObject, name
from .._nodes.labels import labels
from .._nodes.system import image_suffixes
from .._olm.support import Release, write
from .._stack.drivers import image
from .options import Triple
from .targets import Target

Answers = t.Mapping[str, image.Answer]
# Of each of these groups one image has to exist: the operator's release decides which one it pulls.
Groups = dict[tuple[str, ...], list[str]]
# Stands for the image of a node whose labels do not name its system.
UNNAMED: t.Final = ()


def needed(targets: t.Iterable[Target], triple: Triple, nodes: t.Mapping[str, KubeObject]) -> Groups:
    """Return each group of images with the names of the nodes that pull one of it.

    nodes: those that get the driver of the triple. UNNAMED has those whose labels do not name their system.
    """
    found: Groups = {}
    for target in targets:
        due = [nodes[one] for one in target.nodes if one in nodes] if target.triple != triple else []
        for node, images in _of_target(target, triple, due):
            found.setdefault(images, []).append(node)
    return found


def others(groups: t.Iterable[tuple[str, ...]], triple: Triple) -> dict[str, str]:
    """Return image -> its branch: the newest driver of each branch, in the form of these images."""
    return {
        one.replace(f":{triple.version}", f":{version}", 1): branch
        for group in groups
        for one in group
        for branch, version in driver_branches.NEWEST.items()
        if version != triple.version and f":{triple.version}" in one
    }


def of_release(groups: Groups, known: Answers, operator: Release | None) -> Groups:
    """Return the groups with the images that this release of the GPU operator takes.

    Raise MIRROR-OS-TAG if such an image is missing, and the image of another release exists.
    """
    found = {image.taken(group, operator): nodes for group, nodes in groups.items()}
    for own, group in zip(found, groups, strict=True):
        is_gone = bool(own and operator) and known[own[0]].verdict == image.MISSING
        if is_gone and (other := image.best(group, known)).verdict == image.THERE:
            user, told = f"GPU operator {write(operator or (0, 0))}", known[own[0]]
            raise NotReadyError(
                "MIRROR-OS-TAG",
                user=user,
                image=own[0],
                words=told.words,
                other=other.image,
                mirror=image.mirror_of(told),
            )
    return found


def missing(groups: Groups, known: Answers) -> list[tuple[str, ...]]:
    """Return the groups of which no image exists."""
    return [group for group in groups if group and image.best(group, known).verdict == image.MISSING]


def unknown(groups: Groups, known: Answers) -> str:
    """Return a sentence about the images that nobody could look up, or ""."""
    if nodes := groups.get(UNNAMED):
        return (
            f"It is not known whether the new driver exists for {', '.join(nodes)}: no label of Node Feature "
            "Discovery names their system."
        )
    found = [image.best(group, known) for group in groups]
    left = [one for one in found if one.verdict not in (image.THERE, image.MISSING)]
    if not left:
        return ""
    names = ", ".join(sorted({one.image for one in left}))
    return f"It is not known whether the new driver exists ({left[0].verdict}: {left[0].words}): {names}"


def refusal(groups: Groups, gone: t.Sequence[tuple[str, ...]], there: t.Mapping[str, str]) -> NotReadyError:
    """Return UPGRADE-IMAGE. gone: the groups without an image. there: what exists instead -> its branch."""
    wanted, nodes = " or ".join(gone[0]), ", ".join(groups[gone[0]])
    found = ", ".join(sorted(there)) or "none of the newest drivers of each branch either"
    branches = sorted(set(there.values()), key=int)
    push = (
        f"Push {gone[0][0]} into the registry, or set gpu_driver_version, gpu_driver_repository and "
        "gpu_driver_image (module options version, repository and image) to a driver that it has."
    )
    return NotReadyError(
        "UPGRADE-IMAGE",
        image=wanted,
        nodes=nodes,
        found=found,
        branches=" or ".join(branches),
        remedy="" if branches else push,
        evidence=[f"{', '.join(groups[group])}: {' or '.join(group)}" for group in gone],
    )


def _of_target(
    target: Target, triple: Triple, nodes: t.Sequence[KubeObject]
) -> t.Iterator[tuple[str, tuple[str, ...]]]:
    if triple.version.startswith("sha256:"):
        yield from ((name(node), (triple.path,)) for node in nodes)
    elif target.section.get("usePrecompiled"):
        needs = image.precompiled(target.section | triple._asdict(), nodes)
        found = {need.node: need.images for need in needs}
        yield from ((name(node), found.get(name(node), UNNAMED)) for node in nodes)
    else:
        for node in nodes:
            yield name(node), tuple(f"{triple.path}-{one}" for one in image_suffixes(labels(node)))
