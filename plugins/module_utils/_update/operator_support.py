# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Which releases of OpenShift an operator is made for: what its CSV says, and what its maker had published by a date."""

from __future__ import annotations

import json
import re
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._olm import csv as olm_csv
from ansible_collections.accelerators.openshift.plugins.module_utils._update.check import (
    BLOCKING,
    OK,
    UNKNOWN,
    WARNING,
    Check,
)

Data = dict[str, t.Any]
Release = tuple[int, int]
# As the makers' bundles and support pages said it on that day; whatever came out later is not in here.
AS_OF: t.Final = "2026-08-31"
# Package -> release of the operator -> first and last release of OpenShift.
SUPPORT: t.Final[dict[str, dict[Release, tuple[Release, Release]]]] = {
    "gpu-operator-certified": {
        (25, 10): ((4, 14), (4, 20)),
        (26, 3): ((4, 14), (4, 22)),
        (26, 7): ((4, 18), (4, 22)),
    },
    "nvidia-network-operator": {(26, 7): ((4, 17), (4, 20))},
}
_VERSION: t.Final = re.compile(r"(\d+)\.(\d+)")


def highest(csv: Data) -> Release | None:
    """The property olm.maxOpenShiftVersion; OLM itself holds back minor updates beyond it."""
    text = str((csv["metadata"].get("annotations") or {}).get("olm.properties") or "[]")
    try:
        properties = json.loads(text)
    except ValueError:
        return None
    for one in properties if isinstance(properties, list) else []:
        found = (
            _VERSION.match(str(one.get("value", "")))
            if isinstance(one, dict) and one.get("type") == "olm.maxOpenShiftVersion"
            else None
        )
        if found:
            return int(found[1]), int(found[2])
    return None


def checks(csvs: t.Iterable[Data], now: Release, target: Release) -> list[Check]:
    return [
        _check(csv, now, target)
        for csv in sorted(csvs, key=lambda one: str(one["metadata"]["name"]))
        if not olm_csv.is_copied(csv)
    ]


def _check(csv: Data, now: Release, target: Release) -> Check:
    full, most = str(csv["metadata"]["name"]), highest(csv)
    package, name, wanted = full.partition(".v")[0], f"operator {full}", _write(target)
    where = f"`oc get csv -n {csv['metadata'].get('namespace')} {full} -o yaml`"
    if most and target > most:
        what = f"is made for OpenShift up to {_write(most)} (olm.maxOpenShiftVersion), and OLM holds back the update to {wanted}"
        return Check(
            name,
            BLOCKING,
            what,
            "Update the operator first; its next channel is in `oc get packagemanifest`.",
            "UPDATE-OPERATOR",
        )
    if olm_csv.phase(csv) != "Succeeded":
        what = f"is {olm_csv.phase(csv) or 'new'}: {(csv.get('status') or {}).get('message') or 'OLM says no more'}"
        return Check(name, WARNING, what, f"Mend it before the update: {where}.", "UPDATE-OPERATOR")
    version = _VERSION.match(olm_csv.version(csv))
    span = SUPPORT.get(package, {}).get((int(version[1]), int(version[2]))) if version else None
    if span and not span[0] <= target <= span[1]:
        what = f"is supported on OpenShift {_write(span[0])} to {_write(span[1])} (as of {AS_OF}), not on {wanted}"
        remedy = "Update the operator first, or look whether its maker has added that release since."
        return Check(name, BLOCKING if target < span[0] else WARNING, what, remedy, "UPDATE-OPERATOR")
    if span:
        return Check(name, OK, f"is supported on OpenShift {wanted} (as of {AS_OF})")
    if now == target:
        return Check(name, OK, f"stays as it is: {wanted} is the minor release that the cluster runs")
    what = f"names no last release of OpenShift; whether the catalogue of {wanted} has it cannot be seen from here"
    return Check(name, UNKNOWN, what, "Look it up on the maker's support page.", "UPDATE-OPERATOR")


def _write(release: Release) -> str:
    return ".".join(map(str, release))
