# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The Job by which OLM unpacks a bundle: which image it pulls, and what keeps it from that."""

from __future__ import annotations

import typing as t

Object = dict[str, t.Any]

# How OLM calls the init container whose image is the bundle, and the one that writes the ConfigMap.
_PULL, _EXTRACT = "pull", "extract"
_USUAL: t.Final = ("PodInitializing", "ContainerCreating")


class Stuck(t.NamedTuple):
    """A Job that did not come to its end. said: by the Job, and by its pod as long as that is there."""

    job: str
    image: str
    said: str


def stuck(jobs: t.Iterable[Object], pods: t.Sequence[Object]) -> list[Stuck]:
    """By what the Jobs are made of, since not every release of OLM labels them."""
    found = [
        (one["metadata"]["name"], image(one), _condition(one, "Failed"))
        for one in jobs
        if image(one) and not _condition(one, "Complete")
    ]
    return [
        Stuck(name, pulled, "; ".join([*([end] if end else []), *_waiting(pods, name)]) or "has not ended")
        for name, pulled, end in found
    ]


def image(job: Object) -> str:
    """The bundle's image; empty when the Job unpacks none."""
    pod = job["spec"]["template"]["spec"]
    if not any(one["name"] == _EXTRACT for one in pod["containers"]):
        return ""
    return next((str(one["image"]) for one in pod.get("initContainers") or [] if one["name"] == _PULL), "")


def _condition(job: Object, kind: str) -> str:
    conditions = (job.get("status") or {}).get("conditions") or []
    return next(
        (
            f"{one.get('reason') or kind}: {one.get('message') or kind}"
            for one in conditions
            if one["type"] == kind and one["status"] == "True"
        ),
        "",
    )


def _waiting(pods: t.Sequence[Object], job: str) -> list[str]:
    lines = []
    for pod in (
        one
        for one in pods
        if any(owner["name"] == job for owner in one["metadata"].get("ownerReferences") or [])
    ):
        status = pod.get("status") or {}
        for one in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
            waiting = (one.get("state") or {}).get("waiting") or {}
            if waiting.get("reason") and waiting["reason"] not in _USUAL:
                lines.append(f"{waiting['reason']}: {waiting.get('message') or one['name']}")
    return lines
