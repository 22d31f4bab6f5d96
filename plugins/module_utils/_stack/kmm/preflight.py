# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""PreflightValidation of KMM, which verifies Modules for a future kernel, in both versions of the API."""

from __future__ import annotations

import re
import typing as t

from ..._core.errors import text_of
from ..._core.objects import KubeObject, Snapshot, name
from ..._core.readiness import Readiness, failed, pending, ready
from ..clusterpolicy.options import camel

# The value of kmm.preflight.
Options = dict[str, t.Any]
# KMM before 2.4 says Requeued for "not yet" and for "no".
_REQUEUED: t.Final = "Requeued"
_WAITING: t.Final = "Waiting for "


def kind_of(asked: Options) -> str:
    """Return the kind to create: Red Hat's own kind also takes the image of the Driver Toolkit."""
    return "PreflightValidationOCP" if asked.get("dtk_image") else "PreflightValidation"


def name_of(asked: Options) -> str:
    """Return the object's name, made from the kernel's."""
    return "accelerators-" + re.sub(r"[^a-z0-9.-]+", "-", str(asked["kernel_version"]).lower()).strip("-.")


def build(asked: Options, api_version: str) -> KubeObject:
    """Return the PreflightValidation to apply. asked: kmm.preflight."""
    names = ("kernel_version", "dtk_image", "push_built_image")
    spec = {camel(key): asked[key] for key in names if asked.get(key) is not None}
    return {
        "apiVersion": api_version,
        "kind": kind_of(asked),
        "metadata": {"name": name_of(asked)},
        "spec": spec,
    }


def modules(live: KubeObject) -> list[dict[str, str]]:
    """Return name, namespace, status, stage and reason of each Module.

    v1beta2 has a list. v1beta1 has a map by name, which since KMM 2.1 has each Module by namespace/name too.
    """
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


def _status(one: dict[str, t.Any]) -> str:
    """Return Success, Failure or InProgress.

    Before 2.4 KMM queues again what failed, and also a build or a signing under way, which its reason says.
    """
    said = str(one.get("verificationStatus", ""))
    if said == "False":
        is_waiting = str(one.get("statusReason", "")).startswith(_WAITING)
        is_over = one.get("verificationStage") == _REQUEUED and not is_waiting
        return "Failure" if is_over else "InProgress"
    return "Success" if said == "True" else said


def failures(live: KubeObject) -> list[dict[str, str]]:
    """Return the Modules whose verification failed."""
    return [one for one in modules(live) if one["status"] == "Failure"]


def summarize(asked: Options, snapshot: Snapshot) -> dict[str, t.Any]:
    """Return the kernel and what KMM says of each Module. asked: kmm.preflight."""
    found = [one for live in snapshot.get("preflights", ()) for one in modules(live)]
    return {"kernel_version": asked["kernel_version"], "modules": found}


class Judge:
    """Judge whether every Module is verified, or only the one with this name. seen: the last snapshot."""

    def __init__(self, object_name: str, namespace: str) -> None:
        self._only = (namespace, object_name) if object_name else None
        self.seen: Snapshot = {}

    def __call__(self, snapshot: Snapshot) -> Readiness:
        self.seen = snapshot
        if not snapshot["preflights"]:
            return pending("Missing", **text_of("GPU-DELETED", object="The PreflightValidation")._asdict())
        live = snapshot["preflights"][0]
        entries = self._entries(live, snapshot["modules"])
        if self._only and not entries:
            return failed("Missing", **text_of("GPU-KMM-NONE", module="/".join(self._only))._asdict())
        return _verdict(entries, live["spec"]["kernelVersion"])

    def _entries(self, live: KubeObject, wanted: t.Iterable[KubeObject]) -> dict[str, dict[str, str] | None]:
        """Return what KMM says of each Module, by namespace/name; None if it says nothing yet."""
        said = {(one["namespace"], one["name"]): one for one in modules(live)}
        places = [(one["metadata"]["namespace"], name(one)) for one in wanted]
        asked = [place for place in places if self._only in (None, place)]
        return {"/".join(place): said.get(place) or said.get(("", place[1])) for place in asked}


def _verdict(entries: t.Mapping[str, dict[str, str] | None], kernel: str) -> Readiness:
    told = [(place, one or {}) for place, one in entries.items()]
    bad = [f"{place}: {one['reason']}" for place, one in told if one.get("status") == "Failure"]
    open_ones = [
        f"{place}: {one.get('reason') or 'not verified yet'}"
        for place, one in told
        if not one or one["status"] == "InProgress"
    ]
    if open_ones:
        said = f"{len(open_ones)} of {len(entries)} Modules are being verified for kernel {kernel}"
        text = text_of("GPU-KMM-PENDING", object="the PreflightValidation", progress=said)
        return pending("Verifying", **text._asdict(), details=tuple(open_ones))
    if bad:
        text = text_of(
            "GPU-KMM-PREFLIGHT", number=len(bad), all=len(entries), kernel=kernel, reasons="; ".join(bad)
        )
        return failed("Failure", **text._asdict(), details=tuple(bad))
    return ready("Verified", f"Every Module has what kernel {kernel} needs.")
