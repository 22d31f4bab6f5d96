# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Row 2, the other half: enable_gpus.yml on the whole sandbox, on a cluster that needs no change."""

from __future__ import annotations

import statistics
import typing as t

import measure
from measure import Report, Row, Target

from playbooks import CHECKOUT, EMPTY, OURS, Reruns, Surroundings, reruns

LIMIT: t.Final = 8.0


def rows(where: Surroundings, report: Report, rounds: int) -> None:
    cluster = where.cluster
    playbook, pools = CHECKOUT / "playbooks/enable_gpus.yml", f"@{CHECKOUT / 'examples/demo.yml'}"
    first = where.play(playbook, "-e", pools)
    found = reruns(where, cluster, rounds, "-e", pools)
    ours = found.ours
    processor = statistics.median(one.cpu for one in ours)
    note = f"the first run took {first.seconds:.0f} s; processor time of a re-run {processor:.1f} s"
    times = {EMPTY: measure.seconds(found.empty), OURS: measure.seconds(ours)}
    target = Target("<= 8 x empty playbook", LIMIT)
    report.rows += [
        measure.compared("2", "re-run of enable_gpus.yml", times, OURS, EMPTY, target, note),
        _writes(found),
    ]


def _writes(found: Reruns) -> Row:
    samples = found.ours
    changed = [one for one in samples if "changed=0 " not in one.output]
    return Row(
        metric="2",
        name="re-run of enable_gpus.yml: writes",
        unit="requests",
        runs=len(samples),
        ours=measure.values([float(one.writes) for one in samples]),
        peers={},
        target="0, and changed=0",
        met=not any(one.writes for one in samples) and not changed,
        note=f"{statistics.median(one.requests for one in samples):.0f} requests: {found.asked}",
    )
