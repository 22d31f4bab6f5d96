# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of gpu_pull_secret: each pull secret, who uses it, and whether the new content can pull."""

from __future__ import annotations

import typing as t

from .._core.objects import number_of
from .._stack.drivers.image import THERE, Answer
from .judge import CREATE, KEEP, REPLACE, Rotation

Answers = t.Mapping[str, Answer]
_WORDS: t.Final = {CREATE: "is created", REPLACE: "is replaced in place", KEEP: "has this content already"}


def build(plan: t.Sequence[Rotation], answers: t.Mapping[str, Answers]) -> dict[str, t.Any]:
    """Return the keys of the module's result."""
    rows = [(rotation, answers.get(rotation.used.object_name, {})) for rotation in plan]
    return {
        "pull_secrets": [_entry(rotation, found) for rotation, found in rows],
        "table": [line for rotation, found in rows for line in lines(rotation, found)],
    }


def lines(rotation: Rotation, answers: Answers) -> list[str]:
    """Return what happens to one pull secret, a line for each fact."""
    used = rotation.used
    images = [f"  {answer.image}: {_said(answer)}" for answer in answers.values()]
    waiting = [f"  waits for its image, and tries again by itself: {', '.join(used.waiting)}"]
    return [
        f"{used.object_name} {_WORDS[rotation.action]}: {', '.join(sorted(rotation.after))}",
        *(f"  named by {field}" for field in used.fields),
        f"  used by {number_of(len(used.pods), 'pod')}, which all go on",
        *(waiting if used.waiting else []),
        *images,
    ]


def _entry(rotation: Rotation, answers: Answers) -> dict[str, t.Any]:
    used = rotation.used
    return {
        "namespace": used.namespace,
        "name": used.name,
        "action": rotation.action,
        "registries": sorted(rotation.after),
        "dropped": rotation.dropped if rotation.action == REPLACE else [],
        "fields": list(used.fields),
        "pods": list(used.pods),
        "waiting": list(used.waiting),
        "images": list(used.images),
        "verified": sorted(answer.image for answer in answers.values() if answer.verdict == THERE),
        "unverified": [
            {"image": answer.image, "why": answer.words}
            for answer in answers.values()
            if answer.verdict != THERE
        ],
    }


def _said(answer: Answer) -> str:
    if answer.verdict == THERE:
        return "the new pull secret can pull it"
    return f"{answer.verdict}: {answer.words}"
