# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases: which one the cluster offers, and what speaks against an update."""

from __future__ import annotations

import typing as t

import pytest
from unit.update.builders import named

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._update import release

RISK = {"name": "SlowBoot", "message": "Nodes boot slowly.", "url": "https://example.com/1"}


def cluster(**status: t.Any) -> KubeObject:
    known = {"type": "RetrievedUpdates", "status": "True"}
    base = {
        "history": [{"state": "Completed", "version": "4.22.5"}],
        "conditions": [known],
        "availableUpdates": [{"version": "4.22.9", "image": "i"}],
    }
    return {"spec": {"channel": "stable-4.22"}, "status": base | status}


def conditional(status: str) -> KubeObject:
    told = {"type": "Recommended", "status": status, "message": "It boots slowly here."}
    return {"release": {"version": "4.22.11"}, "risks": [RISK], "conditions": [told]}


def operator(name: str, **conditions: str) -> KubeObject:
    listed = [
        {"type": kind, "status": status, "message": f"{kind} says so"} for kind, status in conditions.items()
    ]
    return {"metadata": {"name": name}, "status": {"conditions": listed}}


UNASKED = {
    "type": "RetrievedUpdates",
    "status": "False",
    "message": "Unable to retrieve available updates: no route",
}


RELEASES = [
    (cluster(), "4.22.9", "ok", "4.22.9 is recommended from 4.22.5"),
    (cluster(), "4.22.5", "ok", "runs 4.22.5 already"),
    (cluster(), "4.21.9", "blocking", "older than 4.22.5"),
    (cluster(), "4.22.5-rc.1", "blocking", "older than 4.22.5"),
    (
        cluster(),
        "4.22.10",
        "blocking",
        "channel stable-4.22 does not lead from 4.22.5 to 4.22.10; it offers 4.22.9",
    ),
    (cluster(availableUpdates=None), "5.0.1", "blocking", "it offers nothing"),
    (cluster(), "4.24.0", "blocking", "a release in between may have to come first"),
    (cluster(conditionalUpdates=[conditional("True")]), "4.22.11", "ok", "its risks do not apply here"),
    (
        cluster(conditionalUpdates=[conditional("False")]),
        "4.22.11",
        "warning",
        "is not recommended from 4.22.5: It boots slowly here.",
    ),
    (cluster(conditionalUpdates=[conditional("Unknown")]), "4.22.11", "warning", "may not be recommended"),
    (cluster(availableUpdates=None, conditions=[UNASKED]), "4.22.9", "unknown", "no route"),
]


@pytest.mark.parametrize(
    ("live", "target", "verdict", "text"), RELEASES, ids=[f"{one[1]}-{one[2]}" for one in RELEASES]
)
def test_whether_the_release_is_offered(live: KubeObject, target: str, verdict: str, text: str) -> None:
    check = named(release.checks(live, [], target), "release")
    assert (check.verdict, text in check.message, bool(check.remedy)) == (verdict, True, verdict != "ok")


def test_risks_are_quoted() -> None:
    check = named(
        release.checks(cluster(conditionalUpdates=[conditional("False")]), [], "4.22.11"), "release"
    )
    assert check.evidence == ("SlowBoot: Nodes boot slowly. https://example.com/1",)
    assert "--allow-not-recommended" in check.remedy


@pytest.mark.parametrize("version", ["4.22", "latest", "v4.22.9", ""])
def test_what_is_no_release(version: str) -> None:
    with pytest.raises(InputError, match="no release of OpenShift"):
        release.release(version)


def test_an_update_that_is_under_way() -> None:
    live = cluster(
        history=[{"state": "Partial", "version": "4.22.9"}, {"state": "Completed", "version": "4.22.5"}]
    )
    check = named(release.checks(live, [], "4.22.9"), "cluster version")
    assert (check.verdict, check.code) == ("blocking", "UPDATE-CLUSTER")


@pytest.mark.parametrize(("target", "verdict"), [("4.22.9", "ok"), ("4.23.1", "blocking")])
def test_who_is_not_upgradeable_holds_back_minor_updates_alone(target: str, verdict: str) -> None:
    found = release.checks(cluster(), [operator("operator-lifecycle-manager", Upgradeable="False")], target)
    assert (
        named(found, "upgradeable").verdict,
        "Upgradeable says so" in named(found, "upgradeable").message,
    ) == (verdict, True)


def test_a_degraded_operator() -> None:
    check = named(
        release.checks(cluster(), [operator("machine-config", Degraded="True")], "4.22.9"),
        "cluster operators",
    )
    assert (check.verdict, check.evidence) == ("warning", ("machine-config: Degraded says so",))


def test_the_tenth_candidate_is_newer_than_the_second() -> None:
    now = cluster(
        history=[{"state": "Completed", "version": "4.23.0-rc.2"}],
        availableUpdates=[{"version": "4.23.0-rc.10"}],
    )
    assert release.checks(now, [], "4.23.0-rc.10")[0].verdict == "ok"
