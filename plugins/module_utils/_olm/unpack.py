# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bundles: the Jobs by which OLM unpacks them, why such a Job is stuck, and the CSV in its ConfigMap."""

from __future__ import annotations

import base64
import binascii
import contextlib
import gzip
import typing as t

from .._core import conditions
from .._core.errors import AcceleratorError, text_of
from .._core.objects import KubeObject
from .._core.ownership import owned
from .._kube.client import Api
from .._kube.kinds import known
from .progress import ASKED_AGAIN

try:
    import yaml
except ImportError:  # Ansible itself always has it; the import test of ansible-test has not
    yaml = None  # type: ignore[assignment]


_GZIP: t.Final = b"\x1f\x8b"
# OLM's names of the init container whose image is the bundle, and of the container that writes the ConfigMap.
_PULL, _EXTRACT = "pull", "extract"
_USUAL: t.Final = ("PodInitializing", "ContainerCreating")


def explained(api: Api, trouble: AcceleratorError, namespace: str) -> AcceleratorError:
    """Return the failure with the bundle's image, the Job and what they say.

    namespace: the one of the catalogue, where OLM unpacks bundles.
    """
    try:
        found = stuck_jobs(api.list(known("Job"), namespace), api.list(known("Pod"), namespace))
    except AcceleratorError as exc:
        trouble.evidence.append(f"Jobs in namespace {namespace} cannot be read: {exc.message}")
        return trouble
    return with_jobs(trouble, found, namespace)


def with_jobs(trouble: AcceleratorError, found: t.Sequence[StuckJob], namespace: str) -> AcceleratorError:
    """Return the failure with what these Jobs say. namespace: theirs."""
    if not found:
        trouble.evidence.append(f"No unpack Job in namespace {namespace} is at work or failed.")
        return trouble
    lines = [f"Bundle image {stuck.image}: {stuck.why} (Job {stuck.job})" for stuck in found]
    text = text_of(
        "OLM-UNPACK",
        subscription="",
        why="",
        images=", ".join(dict.fromkeys(stuck.image for stuck in found)),
        command=f"run `oc delete job {' '.join(stuck.job for stuck in found)} -n {namespace}`",
    )
    message, evidence = f"{trouble.message.rstrip('.')}. {'. '.join(lines)}.", [*trouble.evidence, *lines]
    return type(trouble)(trouble.code, message, text.remedy, evidence, trouble.facts)


def begin_again(api: Api, subscription: KubeObject, namespace: str) -> bool:
    """Make OLM unpack the bundle again if nobody else can, and return True if it will.

    After the failed Job was deleted OLM looks again only after minutes, unless the Subscription changes.
    """
    metadata = subscription["metadata"]
    try:
        if not owned(subscription) or stuck_jobs(api.list(known("Job"), namespace), []):
            return False
    except AcceleratorError:
        return False
    note = {"metadata": {"annotations": {ASKED_AGAIN: f"unpacking, {metadata['resourceVersion']}"}}}
    api.merge_patch(known("Subscription"), metadata["name"], metadata["namespace"], note)
    return True


def csv(config_map: KubeObject | None, name: str) -> KubeObject | None:
    """Return the CSV of that name from the ConfigMap of a bundle.

    None if it is not there or cannot be read.
    """
    found = objects(config_map, "ClusterServiceVersion", name)
    return next((obj for obj in found if obj["metadata"]["name"] == name), None)


def objects(config_map: KubeObject | None, kind: str, text: str = "") -> list[KubeObject]:
    """Return the objects of a kind from the ConfigMap of a bundle. text: only of files that contain it."""
    found: list[KubeObject] = []
    for content in _files(config_map or {}):
        if kind in content and text in content:
            with contextlib.suppress(yaml.YAMLError):
                parts = [part for part in yaml.safe_load_all(content) if isinstance(part, dict)]
                found += [obj for obj in parts if obj.get("kind") == kind]
    return found


def _files(config_map: KubeObject) -> t.Iterator[str]:
    yield from (config_map.get("data") or {}).values()
    for packed in (config_map.get("binaryData") or {}).values():
        try:
            content = base64.b64decode(packed)
            # OLM's annotation olm.contentEncoding: gzip+base64 means base64 inside the API's own base64.
            content = content if content.startswith(_GZIP) else base64.b64decode(content)
            yield gzip.decompress(content).decode()
        except (binascii.Error, OSError, EOFError, ValueError):
            continue


class StuckJob(t.NamedTuple):
    """A Job that has not unpacked its bundle. why: by the Job, and by its pod while that exists."""

    job: str
    image: str
    why: str


def stuck_jobs(jobs: t.Iterable[KubeObject], pods: t.Sequence[KubeObject]) -> list[StuckJob]:
    """Return the Jobs that unpack a bundle and are not complete.

    Their containers tell them from other Jobs, because not every release of OLM labels them.
    """
    found = [
        (job["metadata"]["name"], _image(job), _failure(job))
        for job in jobs
        if not conditions.is_true(job, "Complete")
    ]
    return [
        StuckJob(name, image, "; ".join([*([end] if end else []), *_waiting(pods, name)]) or "has not ended")
        for name, image, end in found
        if image
    ]


def _image(job: KubeObject) -> str:
    """Return the image of the bundle that the Job unpacks; empty if it unpacks none."""
    pod = job["spec"]["template"]["spec"]
    if not any(part["name"] == _EXTRACT for part in pod["containers"]):
        return ""
    return next((str(part["image"]) for part in pod.get("initContainers") or [] if part["name"] == _PULL), "")


def _failure(job: KubeObject) -> str:
    """Return reason and message of the Job's condition Failed; empty if the Job has not failed."""
    if not conditions.is_true(job, "Failed"):
        return ""
    found = conditions.find(job, "Failed")
    return f"{found.get('reason') or 'Failed'}: {found.get('message') or 'Failed'}"


def _waiting(pods: t.Sequence[KubeObject], job: str) -> list[str]:
    """Return why the containers of the Job's pods do not start, one line for each."""
    lines = []
    for pod in pods:
        if not any(owner["name"] == job for owner in pod["metadata"].get("ownerReferences") or []):
            continue
        status = pod.get("status") or {}
        for part in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
            waiting = (part.get("state") or {}).get("waiting") or {}
            if waiting.get("reason") and waiting["reason"] not in _USUAL:
                lines.append(f"{waiting['reason']}: {waiting.get('message') or part['name']}")
    return lines
