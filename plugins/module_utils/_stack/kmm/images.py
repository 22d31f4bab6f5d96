# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of a KMM Module: a pod pulls one, else Builds (without OpenShift: pods) build and sign it."""

from __future__ import annotations

import re
import typing as t

from ..._core.objects import KubeObject, Snapshot, name
from ..._nodes.labels import labels
from ..pods import how_to_cure, trouble
from ..signatures import remedy_for
from . import kernels
from .kernels import PREFIX

OWNER: t.Final = f"{PREFIX}/image-owner"
POD_OF_BUILD: t.Final = "openshift.io/build.pod-name"
# The label on OpenShift, then the one elsewhere.
_TYPES: t.Final = ("kmm.openshift.io/build.type", f"{PREFIX}/resource-type")
_KERNEL: t.Final = f"{PREFIX}/target-kernel"
# A pod that checks once whether the image exists, before KMM builds or signs it; it may fail.
_PULL: t.Final = f"{PREFIX}/pull-pod-type"
_ONCE: t.Final = "one-time-pull"
STEPS: t.Final = {"BuildImage": ("build", "GPU-KMM-BUILD"), "SignImage": ("signing", "GPU-KMM-SIGN")}
_ENDED: t.Final = ("Failed", "Error", "Cancelled")


class Trouble(t.NamedTuple):
    """A trouble with an image. step: image, build or signing. what: the API's own words."""

    step: str
    code: str
    what: str
    remedy: str


def label_of(kernel: str) -> str:
    """Return a kernel as KMM writes it in labels."""
    return re.sub(r"[^a-z0-9]", "-", kernel.lower()).strip("-")


def step_of(one: KubeObject) -> tuple[str, str] | None:
    """Return the step of a Build or of a pod that builds, and the step's code; None for any other pod."""
    marks = labels(one)
    return next((STEPS[marks[key]] for key in _TYPES if marks.get(key) in STEPS), None)


def is_for(one: KubeObject, kernel: str) -> bool:
    """Return whether a Build or a pod makes the image for this kernel."""
    return labels(one).get(_KERNEL) in (kernel, label_of(kernel))


def troubles(kernel: str, module: KubeObject, snapshot: Snapshot) -> list[Trouble]:
    """Return the troubles with the image for this kernel, in the order of its steps."""
    image = kernels.image_for(module, kernel)
    pulls = [
        pod
        for pod in snapshot.get("pulls", ())
        if not image or pod["spec"]["containers"][0]["image"] == image
    ]
    pods = [pod for pod in snapshot["pods"] if step_of(pod) and is_for(pod, kernel)]
    builds = [one for one in snapshot.get("builds", ()) if step_of(one) and is_for(one, kernel)]
    found = [*map(_pull, pulls), *map(_build, builds), *map(_pod, pods)]
    return [one for one in found if one is not None]


def _pull(pod: KubeObject) -> Trouble | None:
    found = trouble(pod)
    if found is None or labels(pod).get(_PULL) == _ONCE:
        return None
    remedy = how_to_cure(pod, found)
    what = f"image: pod {name(pod)} is in {found.reason}: {found.message}"
    return Trouble("image", "GPU-IMAGE", what, remedy)


def _build(build: KubeObject) -> Trouble | None:
    metadata, status = build["metadata"], build.get("status") or {}
    step = step_of(build)
    if step is None or status.get("phase") not in _ENDED:
        return None
    said = str(status.get("message") or status.get("reason") or "").rstrip(".")
    what = f"{step[0]}: Build {metadata['name']} is {status['phase']}: {said}"
    command = f"oc logs -n {metadata['namespace']} build/{metadata['name']}"
    return Trouble(*step, what, remedy_for(status.get("logSnippet") or "", command))


def _pod(pod: KubeObject) -> Trouble | None:
    found, step = trouble(pod), step_of(pod)
    if found is None or step is None:
        return None
    what = f"{step[0]}: pod {name(pod)} is in {found.reason}: {found.message}"
    return Trouble(*step, what, how_to_cure(pod, found))


def progress(kernel: str, snapshot: Snapshot) -> str:
    """Return, in brackets, what KMM does now to make the image; empty if it makes none."""
    steps = [
        f"{step} {name(one)} is {(one.get('status') or {}).get('phase', 'New')}"
        for step, one in _making(kernel, snapshot)
    ]
    return f" ({steps[-1]})" if steps else ""


def _making(kernel: str, snapshot: Snapshot) -> list[tuple[str, KubeObject]]:
    """Return the Builds and pods that make the image, each with its step."""
    return [
        (step[0], one)
        for one in (*snapshot.get("builds", ()), *snapshot["pods"])
        if (step := step_of(one)) and is_for(one, kernel)
    ]


def current(kernel: str, snapshot: Snapshot) -> str:
    """Return the step under way, build or signing; empty while KMM only looks for the image."""
    found = _making(kernel, snapshot)
    return found[-1][0] if found else ""


def steps(module: KubeObject, kernel: str) -> list[str]:
    """Return the steps (build, signing) that make the image for this kernel if it is missing."""
    container = kernels.container(module)
    mapping = next((one for one in kernels.mappings(module) if kernels.fits(one, kernel)), {})
    titles = (("build", "build"), ("sign", "signing"))
    return [object_name for key, object_name in titles if mapping.get(key) or container.get(key)]


def pods_of_builds(builds: t.Iterable[KubeObject]) -> list[tuple[str, str]]:
    """Return namespace and name of the pods whose logs tell why a Build failed."""
    ended = [one["metadata"] for one in builds if (one.get("status") or {}).get("phase") in _ENDED]
    return [
        (one["namespace"], (one.get("annotations") or {}).get(POD_OF_BUILD) or f"{one['name']}-build")
        for one in ended
    ]


def are_made(module: KubeObject) -> bool:
    """Return whether KMM may build or sign an image in the cluster."""
    places = (kernels.container(module), *kernels.mappings(module))
    return any(place.get(key) for place in places for key in ("build", "sign"))
