# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators before an update of OpenShift: what the CSV says, and what the maker published up to a date."""

from __future__ import annotations

import json
import re
import typing as t

from .._core.objects import KubeObject
from .._olm import csv as olm_csv
from .._olm.support import AS_OF, span
from .check import BLOCKING, OK, UNKNOWN, WARNING, Check
from .release import Release, write

_VERSION: t.Final = re.compile(r"(\d+)\.(\d+)")


def highest(csv: KubeObject) -> Release | None:
    """Return the CSV's olm.maxOpenShiftVersion, beyond which OLM holds back minor updates, or None."""
    text = str((csv["metadata"].get("annotations") or {}).get("olm.properties") or "[]")
    try:
        properties = json.loads(text)
    except ValueError:
        return None
    for one in properties if isinstance(properties, list) else []:
        if not isinstance(one, dict) or one.get("type") != "olm.maxOpenShiftVersion":
            continue
        if found := _VERSION.match(str(one.get("value", ""))):
            return int(found[1]), int(found[2])
    return None


def checks(csvs: t.Iterable[KubeObject], now: Release, target: Release) -> list[Check]:
    """Return a check for each CSV, sorted by name; copies of CSVs say nothing."""
    return [
        _check(csv, now, target)
        for csv in sorted(csvs, key=lambda one: str(one["metadata"]["name"]))
        if not olm_csv.is_copied(csv)
    ]


def _check(csv: KubeObject, now: Release, target: Release) -> Check:
    full, most, code = str(csv["metadata"]["name"]), highest(csv), "UPDATE-OPERATOR"
    name, wanted = f"operator {full}", write(target)
    if most and target > most:
        what = (
            f"is made for OpenShift up to {write(most)} (olm.maxOpenShiftVersion), "
            f"and OLM holds back the update to {wanted}"
        )
        remedy = "Update the operator first; its next channel is in `oc get packagemanifest`."
        return Check(name, BLOCKING, what, remedy, code)
    if olm_csv.phase(csv) != "Succeeded":
        said = (csv.get("status") or {}).get("message") or "OLM gives no reason"
        where = f"`oc get csv -n {csv['metadata'].get('namespace')} {full} -o yaml`"
        what = f"is {olm_csv.phase(csv) or 'new'}: {said}"
        return Check(name, WARNING, what, f"Repair it before the update: {where}.", code)
    known = span(full.partition(".v")[0], olm_csv.version(csv))
    if known and not known[0] <= target <= known[1]:
        first, last = map(write, known)
        what = f"is supported on OpenShift {first} to {last} (as of {AS_OF}), not on {wanted}"
        remedy = "Update the operator first, or check whether its maker supports that release by now."
        return Check(name, BLOCKING if target < known[0] else WARNING, what, remedy, code)
    if known:
        return Check(name, OK, f"is supported on OpenShift {wanted} (as of {AS_OF})")
    if now == target:
        return Check(name, OK, f"stays as it is: {wanted} is the minor release that the cluster runs")
    what = (
        "states no last release of OpenShift; the cluster cannot see whether the catalogue of "
        f"{wanted} has it"
    )
    return Check(name, UNKNOWN, what, "Check the maker's support page.", code)
