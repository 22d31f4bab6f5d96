# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Fields of a machine set that the API server dropped, and conflicts about boot images."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from .._platforms.registry import CHOSEN, IMAGES
from .machine_set import name_of, provider_of
from .mirror import MachineError

_VALUE: t.Final = ".spec.template.spec.providerSpec.value."


def check(answer: KubeObject, sent: KubeObject, patch: t.Mapping[str, t.Any]) -> None:
    """Raise MachineError if the answer lacks a field that was sent, since its machines would be different.

    patch: the user's provider_spec_patch.
    """
    lost = dropped(provider_of(sent), provider_of(answer))
    if not lost:
        return
    heads = sorted({path.partition(".")[0].partition("[")[0] for path in lost})
    options = [f"provider_spec_patch.{head}" if head in patch else CHOSEN.get(head, head) for head in heads]
    raise MachineError(
        "MACH-UNKNOWN-FIELD",
        f"The Machine API of this cluster does not know {', '.join(lost)}: the machine set {name_of(sent)} "
        "would make machines without it.",
        f"Remove {' and '.join(options)}, or update OpenShift to a release that knows it.",
        evidence=[f"sent, and not in the answer: {path}" for path in lost],
    )


def dropped(sent: t.Any, answer: t.Any, path: str = "") -> list[str]:
    """Return the paths of fields that were sent and are not in the answer; empty values may be missing."""
    found: list[str] = []
    if isinstance(sent, dict) and isinstance(answer, dict):
        for key, value in sent.items():
            where = f"{path}.{key}" if path else key
            if key in answer:
                found += dropped(value, answer[key], where)
            elif value or (isinstance(value, dict) and key in CHOSEN):
                found.append(where)
    elif isinstance(sent, list) and isinstance(answer, list) and len(sent) == len(answer):
        for index, (one, other) in enumerate(zip(sent, answer, strict=True)):
            found += dropped(one, other, f"{path}[{index}]")
    return found


def is_about_images(conflicts: t.Sequence[str]) -> bool:
    """Return whether all conflicts are about fields that hold a boot image."""
    fields = [line.partition(": ")[0] for line in conflicts]
    return bool(fields) and all(
        field.startswith(_VALUE) and field.removeprefix(_VALUE).partition(".")[0] in IMAGES
        for field in fields
    )
