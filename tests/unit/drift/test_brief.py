# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What drift.yml shows fits into events of AWX, on a cluster of 500 nodes that all differ."""

from __future__ import annotations

import json
import typing as t

from unit.pools.builders import Data, planned

from ansible_collections.accelerators.openshift.plugins.module_utils._drift import brief
from ansible_collections.accelerators.openshift.plugins.module_utils._drift.report import report

NODES: t.Final = 500
EVENT: t.Final = 100 * 1024


def event(message: t.Any) -> int:
    """Return the size of the event of a task that shows this: it has the text as data, and as its output."""
    shown = json.dumps({"msg": message}, indent=4)
    return len(json.dumps({"stdout": shown, "event_data": {"res": {"msg": message}}}))


def drifted() -> Data:
    """Return the report of a cluster on which the machine of every node differs."""
    machines = [f"demo-x7k2p-training-us-east-2a-{number:05}" for number in range(NODES)]
    field = "spec.providerSpec.value.blockDevices"
    live, wanted = ([{"ebs": {"volumeSize": size, "volumeType": "gp3"}}] for size in (120, 500))
    differs = {"field": field, "live": live, "wanted": wanted, "machines": machines}
    warnings = [f"machine {one} waits" for one in machines]
    nodes = {"pool": {"name": "training"}, "drift": [differs], "warnings": warnings}
    return report({**planned(), "leftovers": leftovers(NODES)}, {"nodes": {"results": [nodes]}})


def leftovers(number: int) -> list[Data]:
    titles = [f"ResourceQuota team-{one}/gpu-quota" for one in range(number)]
    return [{"object": object_name, "command": f"oc delete {object_name}"} for object_name in titles]


def test_what_a_report_shows_fits_into_events() -> None:
    found = drifted()
    assert len(json.dumps(found["findings"])) > EVENT
    assert event(found["table"]) < EVENT
    assert event(f"drift {json.dumps(found['brief'])}") < EVENT
    assert len(json.dumps(found["brief"])) < EVENT / 2


def test_a_bounded_report_says_how_much_it_leaves_out() -> None:
    found = drifted()
    shown = found["brief"]
    assert len(found["findings"]) == 2 * NODES
    assert len(shown["findings"]) + shown["left_out"] == 2 * NODES
    assert 20 < len(shown["findings"]) < NODES
    (more,) = [line for line in found["table"] if " rows more: " in line]
    rows = found["table"].index(more) - 1
    assert more == f"and {2 * NODES - rows} rows more: -e gpu_drift_file=FILE writes them all"
    assert [line for line in found["table"] if line.startswith("run ")]
    assert found["table"][-1].startswith("and ")


def test_a_small_report_is_whole() -> None:
    found = report({**planned(), "leftovers": leftovers(1)}, {})
    assert found["brief"] == {key: value for key, value in found.items() if key not in ("brief", "table")}
    assert brief.table("heading", ["row"], ["note"]) == ["heading", "row", "note"]
