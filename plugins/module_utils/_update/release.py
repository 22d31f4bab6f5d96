# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Releases of OpenShift: which one a cluster may be updated to, by its own ClusterVersion, and what it says against it."""

from __future__ import annotations

import re
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._update.check import (
    BLOCKING,
    OK,
    UNKNOWN,
    WARNING,
    Check,
)

Data = dict[str, t.Any]
Release = tuple[int, int]
_FORM: t.Final = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?")


def parse(version: str, path: str = "version") -> tuple[int, int, int, str]:
    found = _FORM.fullmatch(version)
    if not found:
        raise InputError(
            "INPUT-VALUE",
            f"{path} is {version!r}, which is no release of OpenShift.",
            "Write it like 4.22.9.",
        )
    return int(found[1]), int(found[2]), int(found[3]), found[4] or ""


def _order(version: str) -> tuple[int, int, int, bool, str]:
    """A release candidate comes before its release."""
    major, minor, patch, more = parse(version)
    return major, minor, patch, not more, more


def release(version: str) -> Release:
    return parse(version)[:2]


def current(cluster: Data) -> str:
    """The newest release that the cluster has been brought to."""
    history = (cluster.get("status") or {}).get("history") or []
    return next((str(one["version"]) for one in history if one.get("state") == "Completed"), "")


def condition(obj: Data, kind: str) -> Data:
    found: Data = next(
        (one for one in (obj.get("status") or {}).get("conditions") or [] if one.get("type") == kind), {}
    )
    return found


def checks(cluster: Data, operators: t.Iterable[Data], target: str) -> list[Check]:
    return [
        _offered(cluster, target),
        _at_rest(cluster),
        _upgradeable(cluster, operators, target),
        _healthy(operators),
    ]


def _offered(cluster: Data, target: str) -> Check:
    now, name = current(cluster), "release"
    if target == now:
        return Check(name, OK, f"the cluster runs {target} already")
    if now and _order(target) < _order(now):
        return Check(
            name,
            BLOCKING,
            f"{target} is older than {now}, and OpenShift does not go back",
            "Choose a newer release.",
            "UPDATE-RELEASE",
        )
    status = cluster.get("status") or {}
    update = next((one for one in status.get("availableUpdates") or [] if one.get("version") == target), None)
    if update:
        return Check(
            name,
            OK,
            f"{target} is recommended from {now}",
            evidence=tuple(str(update[key]) for key in ("image", "url") if update.get(key)),
        )
    for one in status.get("conditionalUpdates") or []:
        if (one.get("release") or {}).get("version") == target:
            return _conditional(one, now, target)
    channel, known = (
        str((cluster.get("spec") or {}).get("channel") or ""),
        condition(cluster, "RetrievedUpdates"),
    )
    if known.get("status") != "True":
        why = known.get("message") or "no update service was asked"
        what = f"whether {target} can follow {now} is not known here: {why}"
        return Check(
            name,
            UNKNOWN,
            what,
            "Look at the update graph of Red Hat (Update Path), or run an update service of your own.",
            "UPDATE-RELEASE",
        )
    offered = (
        ", ".join(
            sorted(
                (str(one.get("version")) for one in status.get("availableUpdates") or []),
                key=_order,
                reverse=True,
            )[:5]
        )
        or "nothing"
    )
    wanted = ".".join(map(str, release(target)))
    remedy = (
        f"`oc adm upgrade channel {channel.partition('-')[0] or 'stable'}-{wanted}`"
        if not channel.endswith(wanted)
        else f"Choose one of {offered}."
    )
    far = (
        ", and a release in between may have to come first"
        if now and release(target)[1] > release(now)[1] + 1
        else ""
    )
    what = f"channel {channel or '(none)'} does not lead from {now} to {target}{far}; it offers {offered}"
    return Check(name, BLOCKING, what, remedy, "UPDATE-RELEASE")


def _conditional(update: Data, now: str, target: str) -> Check:
    told: Data = next((one for one in update.get("conditions") or [] if one.get("type") == "Recommended"), {})
    risks = tuple(
        f"{one.get('name')}: {one.get('message')} {one.get('url') or ''}".strip()
        for one in update.get("risks") or []
    )
    if told.get("status") == "True":
        return Check(
            "release", OK, f"{target} is recommended from {now}: its risks do not apply here", evidence=risks
        )
    doubt = "is not recommended" if told.get("status") == "False" else "may not be recommended"
    what = f"{target} {doubt} from {now}: {told.get('message') or '; '.join(risks)}"
    remedy = f"Wait for a later release, or accept the risk: `oc adm upgrade --to={target} --allow-not-recommended`."
    return Check("release", WARNING, what, remedy, "UPDATE-RELEASE", risks)


def _at_rest(cluster: Data) -> Check:
    going, failing = condition(cluster, "Progressing"), condition(cluster, "Failing")
    newest: Data = next(iter((cluster.get("status") or {}).get("history") or []), {})
    if going.get("status") == "True" or newest.get("state") == "Partial":
        what = f"an update to {newest.get('version')} is under way: {going.get('message') or 'it is not complete'}"
        return Check(
            "cluster version",
            BLOCKING,
            what,
            "Wait until `oc adm upgrade` says that it is complete.",
            "UPDATE-CLUSTER",
        )
    if failing.get("status") == "True":
        return Check(
            "cluster version",
            WARNING,
            f"Failing: {failing.get('message')}",
            "Look at `oc adm upgrade`.",
            "UPDATE-CLUSTER",
        )
    return Check("cluster version", OK, f"no update is under way, {current(cluster)} is complete")


def _upgradeable(cluster: Data, operators: t.Iterable[Data], target: str) -> Check:
    """An operator that says Upgradeable=False stops updates to another minor release, and lets patches through."""
    refusing = [one for one in operators if condition(one, "Upgradeable").get("status") == "False"]
    lines = tuple(
        f"{one['metadata']['name']}: {condition(one, 'Upgradeable').get('message')}" for one in refusing
    )
    said = condition(cluster, "Upgradeable")
    if said.get("status") != "False" and not refusing:
        return Check("upgradeable", OK, "no operator holds back an update")
    what = str(said.get("message") or "; ".join(lines))
    now = current(cluster)
    if now and release(now) == release(target):
        return Check(
            "upgradeable", OK, f"held back are only updates to another minor release: {what}", evidence=lines
        )
    return Check(
        "upgradeable",
        BLOCKING,
        f"Upgradeable=False: {what}",
        "Do what the operator asks for; `oc adm upgrade` shows it again.",
        "UPDATE-CLUSTER",
        lines,
    )


def _healthy(operators: t.Iterable[Data]) -> Check:
    bad = [
        one
        for one in operators
        if condition(one, "Degraded").get("status") == "True"
        or condition(one, "Available").get("status") == "False"
    ]
    if not bad:
        return Check("cluster operators", OK, "all are available, none is degraded")
    lines = tuple(
        f"{one['metadata']['name']}: {condition(one, 'Degraded').get('message') or 'not available'}"
        for one in bad
    )
    what = f"{len(bad)} degraded or not available: {'; '.join(lines)}"
    return Check(
        "cluster operators", WARNING, what, "Look at `oc get clusteroperators`.", "UPDATE-CLUSTER", lines
    )
