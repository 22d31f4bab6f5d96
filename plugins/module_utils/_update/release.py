# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases of OpenShift: which one the cluster offers, and what speaks against an update to it."""

from __future__ import annotations

import re
import typing as t

from .._core import conditions
from .._core.errors import InputError
from .._core.objects import KubeObject
from .check import BLOCKING, OK, UNKNOWN, WARNING, Check

Release = tuple[int, int]
_FORM: t.Final = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?")
_SHOWN: t.Final = 5


class Target(t.NamedTuple):
    """The release to update to.

    kernel, rhcos: empty if the user does not know them. images: driver images in the user's registry; None if
    the user does not say. operator: the release of the GPU operator, None if it is not known.
    """

    version: str
    release: Release
    kernel: str
    rhcos: str
    images: frozenset[str] | None
    operator: Release | None = None


def parse(version: str, path: str = "version") -> tuple[int, int, int, str]:
    """Return major, minor, patch and the suffix (such as `rc.1`); raise InputError for any other text."""
    found = _FORM.fullmatch(version)
    if not found:
        message = f"{path} is {version!r}, which is no release of OpenShift."
        raise InputError("INPUT-VALUE", message, "Write it like 4.22.9.")
    return int(found[1]), int(found[2]), int(found[3]), found[4] or ""


def _order(version: str) -> tuple[int, int, int, bool, tuple[tuple[int, str], ...]]:
    """Return a key to sort by: a release candidate comes before its release, and rc.2 before rc.10."""
    major, minor, patch, more = parse(version)
    parts = tuple((int(one), "") if one.isdigit() else (-1, one) for one in more.split("."))
    return major, minor, patch, not more, parts


def is_before(version: str, other: str) -> bool:
    """Return True if the first release is older; False if one of both texts is no release."""
    return all(map(_FORM.fullmatch, (version, other))) and _order(version) < _order(other)


def release(version: str) -> Release:
    """Return major and minor."""
    return parse(version)[:2]


def current(cluster: KubeObject) -> str:
    """Return the newest version that the cluster was completely updated to, or an empty text."""
    history = (cluster.get("status") or {}).get("history") or []
    return next((str(one["version"]) for one in history if one.get("state") == "Completed"), "")


def checks(cluster: KubeObject, operators: t.Collection[KubeObject], target: str) -> list[Check]:
    """Return the checks of the ClusterVersion and the ClusterOperators for this version."""
    return [
        _offered(cluster, target),
        _at_rest(cluster),
        _upgradeable(cluster, operators, target),
        _healthy(operators),
    ]


def _offered(cluster: KubeObject, target: str) -> Check:
    now, name, code = current(cluster), "release", "UPDATE-RELEASE"
    if target == now:
        return Check(name, OK, f"the cluster runs {target} already")
    if now and _order(target) < _order(now):
        what = f"{target} is older than {now}, and OpenShift does not go back"
        return Check(name, BLOCKING, what, "Choose a newer release.", code)
    status = cluster.get("status") or {}
    for one in status.get("availableUpdates") or []:
        if one.get("version") == target:
            evidence = tuple(str(one[key]) for key in ("image", "url") if one.get(key))
            return Check(name, OK, f"{target} is recommended from {now}", evidence=evidence)
    for one in status.get("conditionalUpdates") or []:
        if (one.get("release") or {}).get("version") == target:
            return _conditional(one, now, target)
    if not conditions.is_true(cluster, "RetrievedUpdates"):
        why = conditions.find(cluster, "RetrievedUpdates").get("message") or "there is no update service"
        what = f"the cluster does not know whether {target} can follow {now}: {why}"
        remedy = "Check the path at https://access.redhat.com/labs/ocpupgradegraph/update_path."
        return Check(name, UNKNOWN, what, remedy, code)
    return _not_offered(cluster, now, target)


def _not_offered(cluster: KubeObject, now: str, target: str) -> Check:
    """Return the check for a release that is not in the cluster's channel."""
    channel = str((cluster.get("spec") or {}).get("channel") or "")
    updates = (cluster.get("status") or {}).get("availableUpdates") or []
    newest = sorted((str(one.get("version")) for one in updates), key=_order, reverse=True)[:_SHOWN]
    offered, wanted = ", ".join(newest) or "nothing", write(release(target))
    remedy = f"`oc adm upgrade channel {channel.partition('-')[0] or 'stable'}-{wanted}`"
    if channel.endswith(wanted):
        remedy = f"Choose one of {offered}."
    is_far = now and release(target)[1] > release(now)[1] + 1
    far = ", and a release in between may have to come first" if is_far else ""
    what = f"channel {channel or '(none)'} does not lead from {now} to {target}{far}; it offers {offered}"
    return Check("release", BLOCKING, what, remedy, "UPDATE-RELEASE")


def _conditional(update: KubeObject, now: str, target: str) -> Check:
    found: KubeObject = next(
        (one for one in update.get("conditions") or [] if one.get("type") == "Recommended"), {}
    )
    risks = tuple(
        f"{one.get('name')}: {one.get('message')} {one.get('url') or ''}".strip()
        for one in update.get("risks") or []
    )
    if found.get("status") == "True":
        what = f"{target} is recommended from {now}: its risks do not apply here"
        return Check("release", OK, what, evidence=risks)
    doubt = "is not recommended" if found.get("status") == "False" else "may not be recommended"
    what = f"{target} {doubt} from {now}: {found.get('message') or '; '.join(risks)}"
    command = f"`oc adm upgrade --to={target} --allow-not-recommended`"
    remedy = f"Wait for a later release, or accept the risk: {command}."
    return Check("release", WARNING, what, remedy, "UPDATE-RELEASE", risks)


def _at_rest(cluster: KubeObject) -> Check:
    name, code = "cluster version", "UPDATE-CLUSTER"
    going, failing = conditions.find(cluster, "Progressing"), conditions.find(cluster, "Failing")
    newest: KubeObject = next(iter((cluster.get("status") or {}).get("history") or []), {})
    if going.get("status") == "True" or newest.get("state") == "Partial":
        why = going.get("message") or "it is not complete"
        what = f"an update to {newest.get('version')} is under way: {why}"
        return Check(name, BLOCKING, what, "Wait until `oc adm upgrade` says that it is complete.", code)
    if failing.get("status") == "True":
        return Check(name, WARNING, f"Failing: {failing.get('message')}", "Run `oc adm upgrade`.", code)
    return Check(name, OK, f"no update is under way, {current(cluster)} is complete")


def _upgradeable(cluster: KubeObject, operators: t.Iterable[KubeObject], target: str) -> Check:
    """Return the check for Upgradeable=False, which stops only updates to another minor release."""
    lines = tuple(
        f"{one['metadata']['name']}: {found.get('message')}"
        for one in operators
        if (found := conditions.find(one, "Upgradeable")).get("status") == "False"
    )
    own, name = conditions.find(cluster, "Upgradeable"), "upgradeable"
    if own.get("status") != "False" and not lines:
        return Check(name, OK, "no operator holds back an update")
    what = str(own.get("message") or "; ".join(lines))
    now = current(cluster)
    if now and release(now) == release(target):
        return Check(name, OK, f"only updates to another minor release are held back: {what}", evidence=lines)
    remedy = "Do what the operator asks for; `oc adm upgrade` shows it again."
    return Check(name, BLOCKING, f"Upgradeable=False: {what}", remedy, "UPDATE-CLUSTER", lines)


def _healthy(operators: t.Iterable[KubeObject]) -> Check:
    bad = [
        one
        for one in operators
        if conditions.is_true(one, "Degraded") or conditions.find(one, "Available").get("status") == "False"
    ]
    if not bad:
        return Check("cluster operators", OK, "all are available, none is degraded")
    lines = tuple(
        f"{one['metadata']['name']}: {conditions.find(one, 'Degraded').get('message') or 'not available'}"
        for one in bad
    )
    what = f"{len(bad)} degraded or not available: {'; '.join(lines)}"
    remedy = "Run `oc get clusteroperators`."
    return Check("cluster operators", WARNING, what, remedy, "UPDATE-CLUSTER", lines)


def write(found: Release) -> str:
    """Return major and minor as text, such as `4.22`."""
    return ".".join(map(str, found))
