# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the GPU operator says ready."""

from __future__ import annotations

import datetime

import pytest
from unit.sandbox.gpu_operator.builders import NAMESPACE, Object, daemon_set

from openshift_sandbox.stand_ins.gpu_operator import readiness


def status(wanted: int, available: int, updated: int | None = None, **more: int) -> Object:
    counts = {
        "desiredNumberScheduled": wanted,
        "numberAvailable": available,
        "updatedNumberScheduled": wanted if updated is None else updated,
    }
    return {"observedGeneration": 1, "numberUnavailable": wanted - available} | counts | more


class TestReadiness:
    @pytest.mark.parametrize(
        ("found", "ready"),
        [
            (status(0, 0), True),
            (status(2, 2), True),
            (status(2, 1), False),
            (status(2, 2, updated=1), False),
            (status(2, 2, observedGeneration=0), False),
            ({}, False),
        ],
    )
    def test_of_a_rolling_daemon_set(self, found: Object, ready: bool) -> None:
        live = daemon_set()
        live["metadata"]["generation"] = 1
        assert readiness.daemon_set_ready(live | {"status": found}) is ready

    @pytest.mark.parametrize(("revision", "ready"), [("new", True), ("newer", False)])
    def test_of_a_driver_whose_pods_are_of_a_revision(self, revision: str, ready: bool) -> None:
        pod = {
            "metadata": {"labels": {"controller-revision-hash": "new"}},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }
        live = daemon_set("nvidia-driver-daemonset") | {"status": status(1, 1)}
        assert readiness.daemon_set_ready(live, [pod], revision) is ready

    def test_message_names_the_states_in_order(self) -> None:
        verdict = readiness.operands_not_ready(["state-driver", "state-dcgm"])
        assert verdict["Error"] == (
            "True",
            "OperandNotReady",
            "ClusterPolicy is not ready; states not ready: [state-driver state-dcgm]",
        )
        assert verdict["Ready"] == ("False", "Error", "")

    def test_a_transition_keeps_its_time_while_the_status_stays(self) -> None:
        first = readiness.status(
            readiness.operands_not_ready(["a"]),
            {},
            NAMESPACE,
            datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
        )
        later = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
        second = readiness.status(readiness.operands_not_ready(["b"]), first, NAMESPACE, later)
        third = readiness.status(readiness.ready(readiness.RECONCILED), second, NAMESPACE, later)
        times = [
            [one["lastTransitionTime"][:10] for one in found["conditions"]]
            for found in (first, second, third)
        ]
        assert times == [["2026-01-01"] * 2, ["2026-01-01"] * 2, ["2026-01-02"] * 2]

    def test_newest_revision(self) -> None:
        live = {"metadata": {"name": "ds", "uid": "u"}}
        revisions = [
            {"metadata": {"name": f"ds-{name}", "ownerReferences": [{"uid": uid}]}, "revision": number}
            for name, uid, number in (("a", "u", 1), ("b", "u", 2), ("c", "x", 3))
        ]
        assert readiness.latest_revision(revisions, live) == "b"
        assert readiness.latest_revision([], live) is None
