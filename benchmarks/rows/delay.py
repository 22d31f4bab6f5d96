# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows 1 and 2 once more with the API server 10 ms away: what every request costs on a network."""

from __future__ import annotations

import math
import typing as t

import yaml
from link import Link
from measure import Report, Row, Samples, Target
from rows import playbook
from rows.playbook import BASE, KUBECTL, OURS, OURS_LIST, PEER_LIST

from playbooks import Surroundings

SECONDS: t.Final = 0.010
FEW: t.Final = 3
NAMES: t.Final = (BASE, OURS, OURS_LIST, PEER_LIST, KUBECTL)


def rows(where: Surroundings, report: Report, rounds: int) -> None:
    assert where.cluster
    config = yaml.safe_load(where.cluster.kubeconfig.read_text())
    link = Link(config["clusters"][0]["cluster"]["server"], SECONDS, math.inf)
    try:
        config["clusters"][0]["cluster"]["server"] = link.url
        kubeconfig = where.directory / "kubeconfig"
        kubeconfig.touch(mode=0o600)
        kubeconfig.write_text(yaml.safe_dump(config))
        where.environment |= {"K8S_AUTH_KUBECONFIG": str(kubeconfig), "KUBECONFIG": str(kubeconfig)}
        first, second = playbook.measured(where, min(rounds, FEW), NAMES)
    finally:
        link.close()
    report.rows += [*judged("1", first, "first run"), *judged("2", second, "re-run")]


def judged(metric: str, samples: Samples, which: str) -> list[Row]:
    asked = ", ".join(f"{name} {some[-1].requests}" for name, some in samples.items() if name != BASE)
    text = f"12 objects, {which}, API server {SECONDS * 1000:.0f} ms away"
    target = Target("< 1.8 x empty playbook", 1.8, allows_equal=False)
    return playbook.whole(metric, text, samples, target, f"requests: {asked}")
