# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The alerts: each has a runbook and an error code, and reads metrics that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.registry import CODES
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import (
    alerts,
    dashboard,
    metrics,
    rules,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring.alerts import Alert, Limits
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.signatures import XIDS

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/runbooks.md").read_text()
ALL = alerts.alerts(Limits())
# The sections of the page: name of the alert -> text.
SECTIONS = dict(re.findall(r"^## (Gpu\w+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
by_name = pytest.mark.parametrize("one", ALL, ids=lambda one: str(one.name))


def test_alerts_and_runbooks_are_the_same() -> None:
    assert [one.name for one in ALL] == list(SECTIONS)


def test_an_alert_is_there_once_and_so_is_its_code() -> None:
    for field in ("name", "code", "expression"):
        assert len({getattr(one, field) for one in ALL}) == len(ALL)


@by_name
def test_the_code_is_registered_and_in_the_runbook(one: Alert) -> None:
    assert one.code in CODES
    assert f"`{one.code}`" in SECTIONS[one.name]


@by_name
def test_a_runbook_says_what_it_means_what_to_look_at_and_what_to_do(one: Alert) -> None:
    for part in ("**Meaning.**", "**Look.**", "**Do.**"):
        assert part in SECTIONS[one.name]
    assert re.search(r"`(oc|ansible-playbook) [^`]+`", SECTIONS[one.name]), "a command"


@by_name
def test_the_rule_links_the_runbook(one: Alert) -> None:
    rule = one.rule()
    assert rule["annotations"]["runbook_url"] == f"{alerts.RUNBOOKS}#{one.name.lower()}"
    assert rule["labels"] == {"severity": one.severity, "code": one.code}
    assert re.fullmatch(r"\d+[mh]", rule["for"])


@by_name
def test_every_metric_exists(one: Alert) -> None:
    known = {*metrics.COLLECTED, *metrics.STATE}
    assert metrics.used(one.expression) <= known
    assert metrics.used(one.expression) or alerts.RECORDED in one.expression


@by_name
def test_the_summary_names_labels_that_the_expression_keeps(one: Alert) -> None:
    for label in re.findall(r"\$labels\.(\w+)", one.text):
        assert re.search(rf"by \([^)]*\b{label}\b", one.expression) or label == "pool"


def test_no_annotation_is_read() -> None:
    """OpenShift's kube-state-metrics serves labels of nodes and no annotations."""
    assert "annotation" not in "".join(one.expression for one in ALL)


def test_only_xids_that_need_a_reset_or_more_count() -> None:
    (pattern,) = re.findall(r'xid=~"([^"]+)"', ALL[0].expression)
    numbers = {int(one) for one in pattern.split("|")}
    assert numbers <= XIDS.keys()
    assert {48, 79, 95, 109, 142, 144, 150, 151, 155, 156} <= numbers
    assert not {63, 94} & numbers, "GpuRowRemapPending and the application's owner see these"


def test_limits_are_in_the_rules() -> None:
    found = alerts.alerts(
        Limits(temperature=77, idle="4h", cordoned="2h", upgrade="3h", quota=75, lease="9h")
    )
    rules = {one.name: one.rule() for one in found}
    assert rules["GpuHot"]["expr"].endswith("> 77")
    assert rules["GpuQuotaNearlyUsed"]["expr"].endswith(">= 0.75")
    assert rules["GpuIdle"]["for"] == "4h"
    assert rules["GpuNodeCordoned"]["for"] == "2h"
    assert rules["GpuDriverUpgradeStuck"]["for"] == "3h"
    assert rules["GpuLeaseHeldLong"]["for"] == "9h"


def test_an_alert_with_an_empty_node_label_starts_no_report() -> None:
    (book,) = yaml.safe_load((ROOT / "extensions/eda/rulebooks/gpu_alerts.yml").read_text())
    repairs = [one for one in book["rules"] if "gpu_node" in one["action"]["run_playbook"]["extra_vars"]]
    assert len(repairs) == 3
    for rule in repairs:
        (label,) = rule["throttle"]["group_by_attributes"]
        assert rule["action"]["run_playbook"]["extra_vars"]["gpu_node"] == f"{{{{ {label} }}}}"
        assert f'{label} is defined and {label} != ""' in rule["condition"]


def test_the_rulebook_reports_on_the_node_of_each_broken_gpu() -> None:
    """Its last rules take alerts with the label Hostname, hostname or node; one alert starts one rule."""
    (book,) = yaml.safe_load((ROOT / "extensions/eda/rulebooks/gpu_alerts.yml").read_text())
    labels, rules = ("Hostname", "hostname", "node"), book["rules"][1:]
    assert len(rules) == len(labels)
    for number, (label, rule) in enumerate(zip(labels, rules, strict=True)):
        assert "gpu" in rule["condition"]
        assert f"event.labels.{label} is defined" in rule["condition"]
        for earlier in labels[:number]:
            assert f"event.labels.{earlier} is not defined" in rule["condition"]
        assert rule["throttle"]["group_by_attributes"] == [f"event.labels.{label}"]
        given = rule["action"]["run_playbook"]["extra_vars"]
        assert given["gpu_node"] == f"{{{{ event.labels.{label} }}}}"
        assert (given["gpu_report_only"], given["gpu_on_busy"]) == (True, "drain")
    found = {one.name for one in ALL if "Hostname, gpu" in one.expression}
    assert found == {
        *("GpuXid", "GpuHot", "GpuEccErrors", "GpuRowRemapPending", "GpuRowRemapFailed", "GpuThrottled")
    }


def test_the_node_has_one_label_whatever_the_exporters_release() -> None:
    """Every place that shows or matches the node reads both names of the exporter's label."""
    shown = [one.expression for one in ALL if "Hostname" in one.expression + one.text]
    shown += [panel[2] for _title, panels in dashboard.ROWS for panel in panels if "Hostname" in panel[3]]
    records = {one["record"]: one["expr"] for one in rules.recorded()}
    assert len(shown) > 10
    for expression in [*shown, *records.values()]:
        kept = any(name in expression for name in records)
        assert kept or '"$1", "hostname", "(.+)"' in expression, expression
