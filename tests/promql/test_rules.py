# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real promtool reads our PrometheusRule: an alert fires when it should, and not without reason."""

from __future__ import annotations

import re
import subprocess
import typing as t
from pathlib import Path

import pytest
import yaml
from promql.situations import POOL, SITUATIONS, Given

from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import manifest, rules
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.alerts import (
    Alert,
    Limits,
    alerts,
)
from openshift_sandbox import build
from openshift_sandbox.sandbox import BUILD

pytestmark = pytest.mark.long("few have built Prometheus; tests/unit/monitoring checks what the rules say")
Data = dict[str, t.Any]
ALL: t.Final = alerts(Limits())
PROMTOOL: t.Final = BUILD / "bin/prometheus/promtool"
# How exporters before and since release 4.8.3 name the node.
by_label = pytest.mark.parametrize("label", ["Hostname", "hostname"])
by_alert = pytest.mark.parametrize("one", ALL, ids=lambda one: str(one.name))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the rules. Skip without promtool."""
    if not build.built("prometheus"):
        pytest.skip("promtool is not built: run `sandbox build --with prometheus`")
    found = tmp_path_factory.mktemp("promtool")
    made = manifest.rule("nvidia-gpu-operator", rules.groups(ALL, [POOL]))
    (found / "rules.yml").write_text(yaml.safe_dump(made["spec"]))
    return found


def promtool(folder: Path, *words: str) -> str:
    """Run promtool, which has to accept what it reads, and return what it prints."""
    done = subprocess.run(
        [PROMTOOL, *words], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def minutes(duration: str) -> int:
    number, unit = re.fullmatch(r"(\d+)([mh])", duration).groups()  # type: ignore[union-attr]
    return int(number) * (60 if unit == "h" else 1)


def case(series: t.Sequence[Given], one: Alert, at: int, *expected: Data) -> Data:
    """Return one test of promtool: the alerts of that name after so many minutes."""
    return {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series],
        "alert_rule_test": [{"eval_time": f"{at}m", "alertname": one.name, "exp_alerts": [*expected]}],
    }


def run(folder: Path, one: Alert, tests: list[Data]) -> str:
    """Let promtool compare the alerts of each test with the expected ones, and return what it prints."""
    whole = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": tests}
    file = folder / f"{one.name}.yml"
    file.write_text(yaml.safe_dump(whole))
    return promtool(folder, "test", "rules", file.name)


def test_promtool_accepts_the_rules(folder: Path) -> None:
    assert "SUCCESS" in promtool(folder, "check", "rules", "--lint=all", "--lint-fatal", "rules.yml")


def test_each_alert_has_a_situation() -> None:
    assert [one.name for one in ALL] == list(SITUATIONS)


def named(series: t.Sequence[Given], label: str) -> list[Given]:
    """Return the series with the name of the node in this label."""
    return [(name.replace("Hostname=", f"{label}="), values) for name, values in series]


@by_label
@by_alert
def test_it_fires(folder: Path, one: Alert, label: str) -> None:
    found, lasts = SITUATIONS[one.name], minutes(one.lasts)
    alert = {
        "exp_labels": {**found.labels, "severity": one.severity, "code": one.code},
        "exp_annotations": {"summary": found.text, "runbook_url": one.runbook},
    }
    assert "SUCCESS" in run(folder, one, [case(named(found.fires, label), one, lasts + 3, alert)])


@by_alert
def test_it_does_not_fire_before_its_time(folder: Path, one: Alert) -> None:
    lasts = minutes(one.lasts)
    fires = SITUATIONS[one.name].fires if lasts else []
    assert "SUCCESS" in run(folder, one, [case(fires, one, max(0, lasts - 2))])


@by_label
@by_alert
def test_it_does_not_fire_without_reason(folder: Path, one: Alert, label: str) -> None:
    calm = SITUATIONS[one.name].calm
    assert calm
    tests = [case(named(series, label), one, minutes(one.lasts) + 3) for series in calm]
    assert "SUCCESS" in run(folder, one, tests)


def test_during_an_upgrade_each_exporter_counts(folder: Path) -> None:
    """One node has the exporter of the older release, one of the newer, and one has none."""
    one = next(one for one in ALL if one.name == "GpuNoMetrics")
    capacity = [
        (f'kube_node_status_capacity{{node="{node}", resource="nvidia_com_gpu"}}', "8x30")
        for node in ("old", "new", "none")
    ]
    exporters = [
        ('DCGM_FI_DEV_GPU_TEMP{Hostname="old", gpu="0"}', "40x30"),
        ('DCGM_FI_DEV_GPU_TEMP{hostname="new", gpu="0"}', "40x30"),
    ]
    alert = {
        "exp_labels": {"node": "none", "severity": one.severity, "code": one.code},
        "exp_annotations": {
            "summary": "Node none has GPUs and no metrics: no other alert can see them.",
            "runbook_url": one.runbook,
        },
    }
    assert "SUCCESS" in run(folder, one, [case([*capacity, *exporters], one, 18, alert)])
