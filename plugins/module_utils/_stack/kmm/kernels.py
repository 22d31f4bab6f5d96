# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel mappings of a KMM Module: which image a kernel gets."""

from __future__ import annotations

import re
import typing as t

from ..._core.errors import InputError
from ..._core.objects import KubeObject, at, name as name_of

PREFIX: t.Final = "kmm.node.kubernetes.io"
EXAMPLE: t.Final = "[{regexp: '^.+$', container_image: 'registry.example.com/card:${KERNEL_FULL_VERSION}'}]"
# A kernel mapping, as the options or the API have it.
Mapping = t.Mapping[str, t.Any]
# The log of KMM, which is the only witness of many of its decisions.
OPERATOR_LOG: t.Final = "Run `oc logs -n openshift-kmm deployment/kmm-operator-controller`."
# Look-around and back-references: Python knows them, Go's regular expressions do not.
_NOT_GO: t.Final = re.compile(r"\(\?(?:[=!]|<[=!])|\\[1-9]|\(\?P=")


class Fit(t.NamedTuple):
    """A node, its kernel, and the indexes of the mappings that fit it; KMM uses the first."""

    node: str
    kernel: str
    mappings: tuple[int, ...]


def kernel_of(node: KubeObject) -> str:
    """Return the node's kernel without the trailing plus, as KMM compares it."""
    return str(at(node, "status.nodeInfo.kernelVersion") or "").removesuffix("+")


def check(mappings: t.Sequence[Mapping], path: str) -> None:
    """Raise InputError if a mapping lacks literal or regexp, has both, or has a regexp that Go rejects."""
    for index, mapping in enumerate(mappings):
        here = f"{path}[{index}]"
        if bool(mapping.get("literal")) == bool(mapping.get("regexp")):
            remedy = "literal is one kernel, regexp fits many: '^5\\.14\\.0-.*\\.el9_6\\.x86_64$'."
            raise InputError("INPUT-VALUE", f"{here} needs either literal or regexp.", remedy)
        if pattern := mapping.get("regexp"):
            try:
                re.compile(pattern)
            except re.error as exc:
                message = f"{here}.regexp {pattern!r} is no regular expression: {exc}."
                raise InputError("INPUT-VALUE", message, "Correct it; KMM reads Go's syntax.") from exc
            if found := _NOT_GO.search(pattern):
                message = f"{here}.regexp {pattern!r} has {found[0]!r}"
                message += ", which Go's regular expressions do not know."
                raise InputError("INPUT-VALUE", message, "Write it without look-around and back-references.")


def fits(mapping: Mapping, kernel: str) -> bool:
    if mapping.get("literal"):
        return bool(mapping["literal"] == kernel)
    return bool(mapping.get("regexp") and re.search(mapping["regexp"], kernel))


def survey(nodes: t.Iterable[KubeObject], mappings: t.Sequence[Mapping]) -> list[Fit]:
    """Return the mappings that fit each node, sorted by the name of the node."""
    kernels = [(name_of(node), kernel_of(node)) for node in nodes]
    return [
        Fit(name, kernel, tuple(at for at, one in enumerate(mappings) if fits(one, kernel)))
        for name, kernel in sorted(kernels)
    ]


def container(module: KubeObject) -> dict[str, t.Any]:
    """Return the Module's container with the kernel module, or an empty dict."""
    return at(module, "spec.moduleLoader.container") or {}


def mappings(module: KubeObject) -> list[dict[str, t.Any]]:
    """Return the Module's kernel mappings, as the API has them."""
    return container(module).get("kernelMappings") or []


def image_for(module: KubeObject, kernel: str) -> str:
    """Return the image for this kernel.

    Empty if no mapping fits, or if the image has a variable that only KMM knows.
    """
    images = [one.get("containerImage") for one in mappings(module) if fits(one, kernel)]
    image = str(images[0] if images else "").replace("${KERNEL_FULL_VERSION}", kernel)
    return "" if "$" in image else image
