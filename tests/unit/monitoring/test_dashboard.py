# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The dashboard of the console."""

from __future__ import annotations

import json
import re

from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import (
    dashboard,
    metrics,
    rules,
)


def test_it_has_rows_of_the_old_format() -> None:
    found = json.loads(dashboard.text())
    assert found["schemaVersion"] == 14
    assert [row["title"] for row in found["rows"]] == [title for title, _panels in dashboard.ROWS]
    panels = [panel for row in found["rows"] for panel in row["panels"]]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert {panel["type"] for panel in panels} == {"singlestat", "graph"}
    assert all(sum(panel["span"] for panel in row["panels"]) <= 12 for row in found["rows"])


def test_every_metric_exists() -> None:
    records = {one["record"] for one in rules.recorded()}
    known = {*metrics.COLLECTED, *metrics.STATE}
    for expression in dashboard.expressions():
        read = metrics.used(expression)
        ours = set(re.findall(r"accelerators_openshift:\w+:\w+", expression))
        assert read <= known
        assert ours <= records
        assert read | ours


def test_a_legend_names_labels() -> None:
    for _title, panels in dashboard.ROWS:
        for _name, _unit, expression, legend in panels:
            for label in re.findall(r"{{(\w+)}}", legend):
                assert "by (" not in expression or label in expression
