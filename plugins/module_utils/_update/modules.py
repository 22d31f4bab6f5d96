# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules of KMM and another release: does each have an image for the new kernel?"""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._stack.drivers.image import MISSING, THERE, best
from .._stack.kmm import kernels, preflight as kmm_preflight
from . import drivers
from .check import BLOCKING, OK, UNKNOWN, Check
from .release import Target

_CODE: t.Final = "UPDATE-KMM"


def checks(
    live: t.Iterable[KubeObject],
    validations: t.Iterable[KubeObject],
    target: Target,
    known: drivers.Answers,
) -> list[Check]:
    """Return a check for each Module, by its PreflightValidation, its kernel mappings and its image."""
    proofs = [one for one in validations if (one.get("spec") or {}).get("kernelVersion") == target.kernel]
    verified = {
        (one["namespace"], one["name"]): one for proof in proofs for one in kmm_preflight.modules(proof)
    }
    return [_module(one, verified, target, known) for one in live]


def _module(
    live: KubeObject,
    verified: t.Mapping[tuple[str, str], dict[str, str]],
    target: Target,
    known: drivers.Answers,
) -> Check:
    place = (live["metadata"]["namespace"], live["metadata"]["name"])
    name = f"module {place[0]}/{place[1]}"
    if not target.kernel:
        what = "whether a kernel mapping fits is not known without the kernel"
        return Check(name, UNKNOWN, what, drivers.from_release(target), _CODE)
    found = verified.get(place) or verified.get(("", place[1])) or {}
    if found.get("status") == "Success":
        return Check(name, OK, f"its PreflightValidation for {target.kernel} succeeded")
    if found.get("status") == "Failure":
        what = f"its PreflightValidation for {target.kernel} failed: {found['reason']}"
        remedy = "Build or sign the image for that kernel, then validate again."
        return Check(name, BLOCKING, what, remedy, _CODE)
    mappings = kernels.mappings(live)
    fitting = next((one for one in mappings if kernels.fits(one, target.kernel)), None)
    if fitting is None:
        what = f"no kernel mapping fits {target.kernel}"
        return Check(name, BLOCKING, what, "Add a mapping (literal or regexp) to the Module.", _CODE)
    is_built = bool(fitting.get("build") or kernels.container(live).get("build"))
    return _image(name, drivers.module_image(live, target), is_built, target, known)


def _image(name: str, names: drivers.Names, is_built: bool, target: Target, known: drivers.Answers) -> Check:
    """Return the check of a Module's image. is_built: KMM builds it if it is missing."""
    found, fits = best(names, known) if names else None, f"a kernel mapping fits {target.kernel}"
    if found and found.verdict == THERE:
        evidence = (found.digest,) if found.digest else ()
        return Check(name, OK, f"{fits}, and its image {found.image} is there", evidence=evidence)
    if found and found.verdict == MISSING and not is_built:
        what = f"{fits}, and there is no image {found.image} ({found.words})"
        remedy = "Build and push it before the update, or let KMM build it."
        return Check(name, BLOCKING, what, remedy, _CODE, names)
    how = "would be built in the cluster" if is_built else "must be in its registry"
    said = f" ({found.verdict}: {found.words})" if found and not is_built and found.words else ""
    remedy = (
        "Let KMM verify it: special_resource with backend kmm and kmm.preflight for "
        f"{target.kernel}, or create a PreflightValidationOCP."
    )
    return Check(name, UNKNOWN, f"{fits}; its image {how}, which has not been tested{said}", remedy, _CODE)
