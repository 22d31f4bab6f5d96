# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""ClusterServiceVersions: whether the operator is installed, and if not, what OLM says."""

from __future__ import annotations

import typing as t

from .._core.errors import text_of
from .._core.objects import KubeObject, at
from .._core.readiness import Readiness, failed, pending, ready

# OLM repairs these by itself, for example after a restart of the operator's pod.
_PASSING = ("ComponentUnhealthy", "NeedsReinstall", "NeedsCertRotation", "APIServiceResourceIssue")
_FINE = ("Present", "Satisfied", "Created")


def is_copied(csv: KubeObject) -> bool:
    """Return True for a CSV that OLM has copied from another namespace."""
    return at(csv, "status.reason") == "Copied" or "olm.copiedFrom" in (csv["metadata"].get("labels") or {})


def named(csvs: t.Iterable[KubeObject], name: str | None) -> KubeObject | None:
    """Return the CSV of this name that is no copy, or None."""
    return next((csv for csv in csvs if csv["metadata"]["name"] == name and not is_copied(csv)), None)


def phase(csv: KubeObject | None) -> str:
    """Return the CSV's phase, such as Succeeded; empty if OLM has not set it."""
    return str(at(csv, "status.phase") or "")


def version(csv: KubeObject | None) -> str:
    """Return the version of the operator; empty without a CSV."""
    return str(at(csv, "spec.version") or "")


def unmet(csv: KubeObject) -> tuple[str, ...]:
    """Return the requirements that OLM has not found, one line each."""
    lines = []
    for entry in (csv.get("status") or {}).get("requirementStatus") or []:
        if entry.get("status") not in _FINE:
            lines.append(f"{entry.get('kind')} {entry.get('name')}: {entry.get('status')}{_message(entry)}")
        lines += [
            f"  {part.get('kind')}: {part.get('status')}{_message(part)}"
            for part in entry.get("dependents") or []
            if part.get("status") not in _FINE
        ]
    return tuple(lines)


def judge(csv: KubeObject | None, name: str) -> Readiness:
    """Return ready if the CSV has Succeeded, failed if OLM does not repair it, else pending."""
    if csv is None:
        return pending("NoCSV", **text_of("OLM-PENDING", state=f"CSV {name} does not exist yet")._asdict())
    status = csv.get("status") or {}
    state, reason, message = phase(csv), str(status.get("reason") or ""), str(status.get("message") or "")
    namespace = csv["metadata"].get("namespace")
    if state == "Succeeded":
        return ready(reason or "InstallSucceeded", f"CSV {name} succeeded")
    if state == "Failed" and reason not in _PASSING:
        text = text_of("OLM-CSV-FAILED", name=name, namespace=namespace, cause=reason, why=message)
        text = text._replace(remedy=_REMEDIES.get(reason, text.remedy))
        return failed(reason or "CSVFailed", **text._asdict(), details=unmet(csv))
    doing = f"is {state} ({reason}): {message}" if state else "is new, OLM has not processed it yet"
    text = text_of("OLM-CSV-PENDING", name=name, namespace=namespace, state=doing)
    # In every installation dozens of requirements are missing at first, so only one is shown.
    first = tuple(line.strip() for line in unmet(csv)[:1])
    return pending(reason or "Installing", **text._asdict(), details=first)


_REMEDIES = {
    "UnsupportedOperatorGroup": "Set install_mode to one that the operator supports.",
    "TooManyOperatorGroups": "Keep one OperatorGroup in the namespace.",
    "NoOperatorGroup": "The namespace needs one OperatorGroup; run again, this module creates it.",
    "InterOperatorGroupOwnerConflict": (
        "The same operator is installed in another namespace; remove one of the two."
    ),
}


def _message(entry: KubeObject) -> str:
    return f" ({entry['message']})" if entry.get("message") else ""
