# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The use report: hours by pod become hours by owner, and a pod has the owner that people know."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.querier import Series
from ansible_collections.accelerators.openshift.plugins.module_utils._use import report

DAY: t.Final = 1_700_000_000.0
A100: t.Final = "NVIDIA A100-SXM4-80GB"


def series(value: float, pod: str = "", space: str = "lab", day: float = DAY, **labels: str) -> Series:
    held = {"exported_namespace": space, "exported_pod": pod} if pod else {}
    exporter = {"namespace": "nvidia-gpu-operator", "pod": "nvidia-dcgm-exporter-x7k2p"}
    return Series({**exporter, **held, "modelName": A100, **labels}, [(day, value)])


def owner(of: str, kind: str, name: str, label: str = "pod", space: str = "lab") -> Series:
    return Series({"namespace": space, label: of, "owner_kind": kind, "owner_name": name}, [(DAY, 1.0)])


class TestCells:
    def test_hours_use_and_idleness_of_a_pod_are_together(self) -> None:
        (cell,) = report.cells([series(10, "train")], [series(8, "train")], [series(1, "train")])
        assert cell == report.Cell(("lab", "train"), A100, DAY, report.Hours(10, 8, 1))

    def test_the_exporter_holds_no_gpu(self) -> None:
        (cell,) = report.cells([series(24)], [], [])
        assert (cell.pod, report.holders([cell])) == (("", ""), set())

    def test_with_honoured_labels_the_pod_is_in_the_plain_ones(self) -> None:
        (cell,) = report.cells([series(5, namespace="lab", pod="train")], [], [])
        assert cell.pod == ("lab", "train")

    def test_two_exporters_of_one_day_are_one(self) -> None:
        one, other = series(10, "train"), series(4, "train", instance="10.1.2.3:9400")
        (cell,) = report.cells([one, other], [], [])
        assert cell.hours.there == 14

    def test_a_slice_is_a_device_of_its_own(self) -> None:
        (cell,) = report.cells([series(5, "train", GPU_I_PROFILE="1g.10gb")], [], [])
        assert cell.device == f"{A100} 1g.10gb"

    def test_a_device_without_a_model_is_a_gpu(self) -> None:
        (cell,) = report.cells([series(5, "train", modelName="")], [], [])
        assert cell.device == "GPU"


class TestOwners:
    @pytest.mark.parametrize(
        ("pods", "replica_sets", "jobs", "expected"),
        [
            ([owner("p", "StatefulSet", "db")], [], [], ("StatefulSet", "db")),
            (
                [owner("p", "ReplicaSet", "chat-7f")],
                [owner("chat-7f", "Deployment", "chat", "replicaset")],
                [],
                ("Deployment", "chat"),
            ),
            ([owner("p", "ReplicaSet", "chat-7f")], [], [], ("ReplicaSet", "chat-7f")),
            (
                [owner("p", "Job", "nightly-1")],
                [],
                [owner("nightly-1", "CronJob", "nightly", "job_name")],
                ("CronJob", "nightly"),
            ),
            (
                [owner("p", "Job", "train")],
                [],
                [owner("train", "<none>", "<none>", "job_name")],
                ("Job", "train"),
            ),
            ([owner("p", "", "")], [], [], ("Pod", "p")),
            ([owner("p", "<none>", "<none>")], [], [], ("Pod", "p")),
        ],
    )
    def test_it_is_the_highest_controller(
        self, pods: list[Series], replica_sets: list[Series], jobs: list[Series], expected: report.Owner
    ) -> None:
        assert report.owners(pods, replica_sets, jobs) == {("lab", "p"): expected}

    def test_owners_of_other_namespaces_do_not_count(self) -> None:
        above = [owner("chat-7f", "Deployment", "chat", "replicaset", space="other")]
        assert report.owners([owner("p", "ReplicaSet", "chat-7f")], above, []) == {
            ("lab", "p"): ("ReplicaSet", "chat-7f")
        }


class TestReport:
    CELLS: t.ClassVar = report.cells(
        [
            series(24),
            *(series(20, "train-0"), series(10, "train-1"), series(2, "notes-0", "web")),
            series(12, "train-0", day=DAY + 86400),
        ],
        [series(18, "train-0"), series(9, "train-1"), series(12, "train-0", day=DAY + 86400)],
        [series(2, "train-0"), series(2, "notes-0", "web"), series(20)],
    )
    OWNED: t.ClassVar = {("lab", "train-0"): ("Job", "train"), ("lab", "train-1"): ("Job", "train")}

    def test_the_total_says_what_was_held_idle_and_free(self) -> None:
        total = report.report(self.CELLS, self.OWNED, 48, 2)["total"]
        assert total == {
            "gpu_hours": 68.0,
            "held_hours": 44.0,
            "free_hours": 24.0,
            "idle_hours": 4.0,
            "held": 65,
            "free": 35,
            "idle": 9,
            "use": 89,
            "days": 2,
            "hours_with_metrics": 48,
        }

    def test_owners_come_with_the_most_hours_first(self) -> None:
        first, last = report.report(self.CELLS, self.OWNED, 48, 2)["owners"]
        assert first == {
            "namespace": "lab",
            "kind": "Job",
            "name": "train",
            "pods": 2,
            "hours": 42.0,
            "idle_hours": 2.0,
            "use": 93,
            "idle": 5,
        }
        assert (last["kind"], last["name"], last["idle"]) == ("Pod", "notes-0", 100)

    def test_namespaces_and_devices_add_up(self) -> None:
        found = report.report(self.CELLS, self.OWNED, 48, 2)
        assert [(one["namespace"], one["hours"]) for one in found["namespaces"]] == [
            ("lab", 42.0),
            ("web", 2.0),
        ]
        assert [(one["device"], one["pods"], one["hours"]) for one in found["devices"]] == [(A100, 3, 68.0)]

    def test_each_day_has_its_end(self) -> None:
        days = report.report(self.CELLS, self.OWNED, 48, 2)["by_day"]
        assert [(one["until"], one["gpu_hours"]) for one in days] == [
            ("2023-11-14T22:13:20Z", 56.0),
            ("2023-11-15T22:13:20Z", 12.0),
        ]

    def test_the_table_has_a_line_for_each_owner(self) -> None:
        assert report.table(report.report(self.CELLS, self.OWNED, 48, 2)) == [
            "68.0 GPU hours in 2 days: "
            "65 % held by pods (89 % of that in use, 9 % idle), 35 % held by no pod",
            "NAMESPACE  OWNER        PODS  GPU HOURS   USE   IDLE  IDLE HOURS",
            "lab        Job/train       2       42.0  93 %    5 %         2.0",
            "web        Pod/notes-0     1        2.0   0 %  100 %         2.0",
        ]

    def test_without_pods_the_table_is_one_line(self) -> None:
        assert report.table(report.report(report.cells([series(24)], [], []), {}, 24, 1)) == [
            "24.0 GPU hours in 1 days: 0 % held by pods (0 % of that in use, 0 % idle), 100 % held by no pod"
        ]
