# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""KMM's check of all Modules against a kernel to come: the object, and its verdict in both versions of the API."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    failed,
    pending,
    ready,
)

Data = dict[str, t.Any]
# What v1beta1 says by the same words in other clothes.
# KMM before 2.4, whichever version of the API it serves: one word for "not yet" and "no".
_REQUEUED: t.Final = "Requeued"
_WAITING: t.Final = "Waiting for "


def kind_of(asked: Data) -> str:
    """Red Hat's KMM has a kind of its own that also takes the Driver Toolkit's image."""
    return "PreflightValidationOCP" if asked.get("dtk_image") else "PreflightValidation"


def name_of(asked: Data) -> str:
    return "accelerators-" + re.sub(r"[^a-z0-9.-]+", "-", str(asked["kernel_version"]).lower()).strip("-.")


def build(asked: Data, api_version: str) -> Data:
    spec = {
        "kernelVersion": asked["kernel_version"],
        "dtkImage": asked.get("dtk_image"),
        "pushBuiltImage": asked.get("push_built_image"),
    }
    spec = {key: value for key, value in spec.items() if value is not None}
    return {
        "apiVersion": api_version,
        "kind": kind_of(asked),
        "metadata": {"name": name_of(asked)},
        "spec": spec,
    }


def modules(live: Data) -> list[Data]:
    """A list in v1beta2. In v1beta1 a map by name, which from KMM 2.1 on has every Module by namespace/name, too."""
    status = live.get("status") or {}
    if isinstance(status.get("modules"), list):
        entries = status["modules"]
    else:
        by_key = status.get("crStatuses") or {}
        placed = {key.partition("/")[2] for key in by_key if "/" in key}
        entries = [
            {"namespace": key.rpartition("/")[0], "name": key.rpartition("/")[2], **one}
            for key, one in sorted(by_key.items())
            if key not in placed
        ]
    return [
        {
            "name": one["name"],
            "namespace": one.get("namespace") or "",
            "status": _status(one),
            "stage": one.get("verificationStage", ""),
            "reason": one.get("statusReason", ""),
        }
        for one in entries
    ]


def _status(one: Data) -> str:
    """Before 2.4 what failed is queued again; a build or a signing that is under way is, too, and says so."""
    said = str(one.get("verificationStatus", ""))
    if said == "False":
        given_up = one.get("verificationStage") == _REQUEUED and not str(
            one.get("statusReason", "")
        ).startswith(_WAITING)
        return "Failure" if given_up else "InProgress"
    return "Success" if said == "True" else said


def failures(live: Data) -> list[Data]:
    return [one for one in modules(live) if one["status"] == "Failure"]


class Judge:
    """Every Module that there is has to be verified; the name of one limits it to that."""

    def __init__(self, name: str, namespace: str) -> None:
        self._only = (namespace, name) if name else None
        self.seen: t.Mapping[str, t.Sequence[Data]] = {}

    def __call__(self, snapshot: t.Mapping[str, t.Sequence[Data]]) -> Readiness:
        self.seen = snapshot
        if not snapshot["preflights"]:
            return pending(
                "Missing",
                "The PreflightValidation is not there.",
                code="GPU-KMM-PENDING",
                remedy="See who deletes it.",
            )
        live = snapshot["preflights"][0]
        said = {(one["namespace"], one["name"]): one for one in modules(live)}
        places = [(one["metadata"]["namespace"], one["metadata"]["name"]) for one in snapshot["modules"]]
        entries = {
            place: said.get(place) or said.get(("", place[1]))
            for place in places
            if self._only in (None, place)
        }
        bad = [
            f"{place[0]}/{place[1]}: {one['reason']}"
            for place, one in entries.items()
            if one and one["status"] == "Failure"
        ]
        open_ones = [
            f"{place[0]}/{place[1]}: {(one or {}).get('reason') or 'not looked at yet'}"
            for place, one in entries.items()
            if not one or one["status"] == "InProgress"
        ]
        kernel = live["spec"]["kernelVersion"]
        if self._only and not entries:
            message = f"There is no Module {'/'.join(self._only)} to be verified."
            return failed(
                "Missing", message, code="GPU-KMM-PREFLIGHT", remedy="Leave name out to verify every Module."
            )
        if open_ones:
            message = f"{len(open_ones)} of {len(entries)} Modules are being verified for kernel {kernel}."
            return pending(
                "Verifying",
                message,
                code="GPU-KMM-PENDING",
                remedy="Look at KMM's log.",
                details=tuple(open_ones),
            )
        if bad:
            message = (
                f"{len(bad)} of {len(entries)} Modules would not load on kernel {kernel}: {'; '.join(bad)}."
            )
            return failed(
                "Failure",
                message,
                code="GPU-KMM-PREFLIGHT",
                remedy="Add a mapping and an image for that kernel before the update.",
                details=tuple(bad),
            )
        return ready("Verified", f"Every Module has what kernel {kernel} needs.")
