# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Row 2, the other half: enable_gpus.yml on the whole sandbox, on a cluster that needs no change."""

from __future__ import annotations

import collections
import statistics
import typing as t

import measure
from measure import Report, Row, Sample, Target

from playbooks import CHECKOUT, EMPTY, Surroundings

BASE: t.Final = EMPTY
OURS: t.Final = "enable_gpus.yml, nothing to do"
LIMIT: t.Final = 8.0


def rows(where: Surroundings, report: Report, rounds: int) -> None:
    cluster = where.cluster
    assert cluster
    playbook, pools = CHECKOUT / "playbooks/enable_gpus.yml", f"@{CHECKOUT / 'examples/demo.yml'}"
    first = where.play(playbook, "-e", pools)
    empty = where.write("empty", [])
    contenders: dict[str, measure.Contender] = {
        BASE: lambda _turn: where.play(empty),
        OURS: lambda _turn: where.play(playbook, "-e", pools),
    }
    samples = measure.interleave(contenders, rounds)
    mark = cluster.mark()
    where.play(playbook, "-e", pools)
    verbs = collections.Counter(f"{one.verb} {one.resource}" for one in cluster.requests(mark))
    ours = samples[OURS]
    processor = statistics.median(one.cpu for one in ours)
    note = f"the first run took {first.seconds:.0f} s; processor time of a re-run {processor:.1f} s"
    times = {name: measure.seconds(some) for name, some in samples.items()}
    target = Target("<= 8 x empty playbook", LIMIT)
    report.rows += [
        measure.compared("2", "re-run of enable_gpus.yml", times, OURS, BASE, target, note),
        _writes(ours, verbs),
    ]


def _writes(samples: list[Sample], verbs: collections.Counter[str]) -> Row:
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
        note=f"{statistics.median(one.requests for one in samples):.0f} requests: "
        + ", ".join(f"{count} x {what}" for what, count in verbs.most_common()),
    )
