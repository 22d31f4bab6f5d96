# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The use report of a real Prometheus that has a day of history: the hours are right."""

from __future__ import annotations

import subprocess
import time
import typing as t

import pytest
from promql.real import Running, program, running
from unit.use.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._use import queries, steps

pytestmark = pytest.mark.long("few have built Prometheus; the tests in tests/unit check what we ask it")
ACTIVE: t.Final = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
MINUTE, HOUR = 60, 3600
# A little more than the day that the report looks at.
LONG: t.Final = 25 * HOUR
NEAR: t.Final = 0.2


class Past(t.NamedTuple):
    """A series with one value, from and until so many seconds before now."""

    metric: str
    labels: dict[str, str]
    value: float
    since: int = LONG
    until: int = 0


def gpu(number: int, space: str = "", pod: str = "") -> dict[str, str]:
    held = {"exported_namespace": space, "exported_pod": pod} if pod else {}
    return {"Hostname": "gpu-0", "gpu": str(number), "modelName": "NVIDIA L40S", **held}


def owner(label: str, name: str, kind: str, above: str, space: str) -> dict[str, str]:
    found = {"namespace": space, label: name, "owner_kind": kind, "owner_name": above}
    return {**found, "owner_is_controller": "true" if kind else ""}


# One GPU is busy all day, one is held for half a day and idle, one is free; the fourth has no profiling.
HISTORY: t.Final = (
    Past(ACTIVE, gpu(0, "lab", "train-0-x"), 0.5),
    Past(ACTIVE, gpu(1, "web", "notes-0"), 0.0, until=12 * HOUR),
    Past(ACTIVE, gpu(1), 0.0, since=12 * HOUR),
    Past(ACTIVE, gpu(2), 0.0),
    Past("DCGM_FI_DEV_GPU_UTIL", gpu(3, "web", "chat-7f-a"), 80.0),
    Past("kube_pod_owner", owner("pod", "train-0-x", "Job", "train-0", "lab"), 1),
    Past("kube_job_owner", owner("job_name", "train-0", "CronJob", "train", "lab"), 1),
    Past("kube_pod_owner", owner("pod", "notes-0", "", "", "web"), 1),
    Past("kube_pod_owner", owner("pod", "chat-7f-a", "ReplicaSet", "chat-7f", "web"), 1),
    Past("kube_replicaset_owner", owner("replicaset", "chat-7f", "Deployment", "chat", "web"), 1),
)


def text(now: int) -> str:
    """Return the history in the format of OpenMetrics, with a value each minute."""
    lines = []
    for metric in dict.fromkeys(one.metric for one in HISTORY):
        lines.append(f"# TYPE {metric} gauge")
        for one in HISTORY:
            if one.metric == metric:
                labels = ",".join(f'{name}="{value}"' for name, value in one.labels.items())
                moments = range(now - one.since, now - one.until, MINUTE)
                lines += [f"{metric}{{{labels}}} {one.value} {moment}" for moment in moments]
    return "\n".join([*lines, "# EOF", ""])


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Running]:
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "history").write_text(text(int(time.time())))
    (folder / "prometheus.yml").write_text("global: {}\n")
    command = [str(program("promtool")), *["tsdb", "create-blocks-from", "openmetrics", "history", "data"]]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)
    with running(folder) as one:
        yield one


@pytest.fixture(scope="module")
def use(prometheus: Running) -> dict[str, t.Any]:
    found: dict[str, t.Any] = steps.look(prometheus.api, params(days=1, url=prometheus.url))["use"]
    return found


def test_the_total_is_right(use: dict[str, t.Any]) -> None:
    total = use["total"]
    assert total["gpu_hours"] == pytest.approx(96, abs=NEAR)
    assert total["held_hours"] == pytest.approx(60, abs=NEAR)
    assert total["free_hours"] == pytest.approx(36, abs=NEAR)
    assert total["idle_hours"] == pytest.approx(12, abs=NEAR)
    assert total["hours_with_metrics"] == pytest.approx(24, abs=NEAR)
    assert total["use"] == pytest.approx(100 * (12 + 0.8 * 24) / 60, abs=1)


def test_each_owner_has_its_hours(use: dict[str, t.Any]) -> None:
    found = {(one["namespace"], one["kind"], one["name"]): one for one in use["owners"]}
    assert set(found) == {
        ("lab", "CronJob", "train"),
        ("web", "Pod", "notes-0"),
        ("web", "Deployment", "chat"),
    }
    assert found["lab", "CronJob", "train"]["hours"] == pytest.approx(24, abs=NEAR)
    assert found["lab", "CronJob", "train"]["use"] == 50
    assert found["web", "Pod", "notes-0"]["hours"] == pytest.approx(12, abs=NEAR)
    assert found["web", "Pod", "notes-0"]["idle"] == 100
    assert found["web", "Deployment", "chat"]["use"] == 80


def test_a_day_never_has_more_than_24_hours(prometheus: Running) -> None:
    """Prometheus 2 counts both ends of a range, Prometheus 3 one of them."""
    _first, last = queries.windows(time.time(), 1)
    found = prometheus.querier.over(queries.THERE, last, last, queries.DAY)
    assert [one.last for one in found if one.labels.get("exported_pod") == "train-0-x"] == [24.0]


def test_a_longer_period_warns(prometheus: Running) -> None:
    prometheus.api.warnings.clear()
    steps.look(prometheus.api, params(days=3, url=prometheus.url))
    assert "of the 72 hours" in prometheus.api.warnings[0]
