# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far OLM is with an operator: catalogue, install plan and CSV."""

from __future__ import annotations

import copy
import typing as t

import pytest
from unit.stack.builders import NINE, TEN, Data, Snapshot, table

from ansible_collections.accelerators.openshift.plugins.module_utils._stack import olm_stages


def subscription(**status: t.Any) -> Data:
    spec = {
        "name": "gpu-operator-certified",
        "source": "certified-operators",
        "sourceNamespace": "openshift-marketplace",
    }
    return {
        "metadata": {"name": "gpu-operator-certified", "namespace": "nvidia-gpu-operator"},
        "spec": spec,
        "status": status,
    }


def condition(kind: str, **more: str) -> Data:
    return {"type": kind, "status": "True", "lastTransitionTime": NINE, **more}


CATALOG: t.Final = {
    "metadata": {"name": "certified-operators"},
    "status": {"connectionState": {"lastObservedState": "READY", "lastConnect": NINE}},
}


DOWN: t.Final = {
    "metadata": {"name": "certified-operators"},
    "status": {"connectionState": {"lastObservedState": "TRANSIENT_FAILURE"}},
}


PLAN: t.Final = {
    "metadata": {"name": "install-a", "namespace": "nvidia-gpu-operator", "creationTimestamp": NINE},
    "spec": {"approved": False, "clusterServiceVersionNames": ["gpu.v1"]},
    "status": {"phase": "RequiresApproval"},
}


PLANNED: t.Final = {"currentCSV": "gpu.v1", "installPlanRef": {"name": "install-a"}}


CSV: t.Final = {
    "metadata": {"name": "gpu.v1", "namespace": "nvidia-gpu-operator"},
    "status": {"phase": "Succeeded", "lastTransitionTime": TEN},
}


FAILED: t.Final = {
    **CSV,
    "status": {
        "phase": "Failed",
        "reason": "InstallCheckFailed",
        "message": "install timeout",
        "lastTransitionTime": TEN,
    },
}


@pytest.mark.parametrize(
    ("live", "plans", "csvs", "catalog", "expected", "words"),
    [
        ([], [], [], None, ["pending", "waiting", "waiting"], "no Subscription for gpu-operator"),
        (
            [],
            [],
            [{**CSV, "metadata": {"name": "gpu-operator-certified.v1"}}],
            None,
            ["ready", "ready", "ready"],
            "no Subscription",
        ),
        (
            [subscription()],
            [],
            [],
            None,
            ["pending", "waiting", "waiting"],
            "CatalogSource certified-operators in namespace openshift-marketplace is not there",
        ),
        ([subscription()], [], [], DOWN, ["pending", "waiting", "waiting"], "is TRANSIENT_FAILURE"),
        (
            [subscription(conditions=[condition("ResolutionFailed", message="constraints not satisfiable")])],
            [],
            [],
            CATALOG,
            ["failed", "waiting", "waiting"],
            "constraints",
        ),
        (
            [subscription(conditions=[condition("BundleUnpackFailed", message="no image")])],
            [],
            [],
            CATALOG,
            ["ready", "failed", "waiting"],
            "no image",
        ),
        (
            [subscription(**PLANNED)],
            [PLAN],
            [],
            CATALOG,
            ["ready", "pending", "waiting"],
            "waits for an approval",
        ),
        (
            [subscription(**PLANNED, conditions=[condition("BundleUnpackFailed", message="no image")])],
            [PLAN],
            [],
            {**CATALOG, "status": {"connectionState": {"lastObservedState": "IDLE"}}},
            ["ready", "pending", "waiting"],
            "is IDLE",
        ),
        (
            [subscription(**PLANNED)],
            [{**PLAN, "status": {"phase": "Complete"}}],
            [FAILED],
            CATALOG,
            ["ready", "ready", "failed"],
            "install timeout",
        ),
        (
            [subscription(**PLANNED, installedCSV="gpu.v1")],
            [PLAN],
            [CSV],
            CATALOG,
            ["ready", "ready", "ready"],
            "would upgrade the operator",
        ),
    ],
    ids=[
        "nothing",
        "without OLM's Subscription",
        "no catalogue",
        "catalogue down",
        "resolution",
        "unpack",
        "unapproved",
        "unpacked after all",
        "csv failed",
        "installed",
    ],
)
def test_how_far_olm_is(
    live: list[Data],
    plans: list[Data],
    csvs: list[Data],
    catalog: Data | None,
    expected: list[str],
    words: str,
) -> None:
    found = olm_stages.judge(
        {"subscriptions": live, "plans": plans, "csvs": csvs, "catalogs": [catalog] if catalog else []},
        "gpu-operator",
    )
    assert [one.verdict for one in found] == expected
    assert words in str([one.evidence for one in found])


def test_a_cluster_whose_olm_cannot_be_read_says_so() -> None:
    found = olm_stages.judge({"unread": [{"message": "API-FORBIDDEN: list subscriptions"}]}, "gpu-operator")
    assert [(one.verdict, one.evidence) for one in found] == [
        ("ready", ("not known: API-FORBIDDEN: list subscriptions",))
    ] * 3


def test_olm_is_a_cause_only_of_what_is_not_there(seen: Snapshot) -> None:
    seen |= {
        "subscriptions": [subscription(**PLANNED)],
        "plans": [copy.deepcopy(PLAN)],
        "csvs": [],
        "catalogs": [CATALOG],
        "policies": [],
    }
    assert table(seen)["allocatable"]["consequence_of"] == "install plan"
