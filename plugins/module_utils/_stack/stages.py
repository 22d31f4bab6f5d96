# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The stages from a catalogue to a schedulable device, in order: which of them is the cause, and which ones only wait for it.

A backend has its CHAIN = chain({stage of a node: stages that it needs}, package), and judges a snapshot into Parts (_stack_part.py), causes first.
stage_judge.Judge(judge, CHAIN, patience) is what api.wait calls; diagnose.explain reads OLM and logs when that failed.
_stage_table.summarize(CHAIN, snapshot, custom resource, pools, parts) makes pools, stages and lines of the result.
"""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    FAILED,
    PENDING,
    READY,
)

WAITING: t.Final = "waiting"
ORDER: t.Final = (FAILED, PENDING, WAITING, READY)

CATALOGUE, PLAN, CSV, CRD = "catalogue", "install plan", "csv", "crd"
LABELS, DRIVER, TOOLKIT, PLUGIN = "nfd labels", "driver", "toolkit", "device plugin"
VALIDATOR, METRICS, ALLOCATABLE = "validator", "metrics", "allocatable"
# The DRA driver takes the device plugin's place.
DRA = "dra driver"


class Chain(t.NamedTuple):
    """needs: stage -> those that it needs, the likeliest cause first. of_nodes: stages that each node has. package: the operator's in its catalogue."""

    needs: t.Mapping[str, tuple[str, ...]]
    of_nodes: tuple[str, ...]
    package: str


def chain(of_nodes: t.Mapping[str, tuple[str, ...]], package: str = "") -> Chain:
    """Every operator comes the same way: by OLM where its package is known."""
    by_olm: dict[str, tuple[str, ...]] = (
        {CATALOGUE: (), PLAN: (CATALOGUE,), CSV: (PLAN,), CRD: (CSV,)} if package else {CRD: ()}
    )
    return Chain({**by_olm, **of_nodes}, tuple(of_nodes), package)


# The labels are NFD's work, whatever becomes of the GPU operator.
GPU_STACK: t.Final = chain(
    {
        LABELS: (),
        DRIVER: (CRD, LABELS),
        TOOLKIT: (DRIVER, CRD, LABELS),
        PLUGIN: (TOOLKIT, DRIVER, CRD, LABELS),
        VALIDATOR: (TOOLKIT, PLUGIN, DRIVER, CRD, LABELS),
        METRICS: (TOOLKIT, DRIVER, CRD, LABELS),
        ALLOCATABLE: (PLUGIN, TOOLKIT, DRIVER, CRD, LABELS),
    },
    "gpu-operator",
)
# Stage of each operand; what tells or cuts the devices belongs to what the node offers.
OF_COMPONENT: t.Final = {
    "driver": DRIVER,
    "container-toolkit": TOOLKIT,
    "device-plugin": PLUGIN,
    "mps-control-daemon": PLUGIN,
    "operator-validator": VALIDATOR,
    "dcgm": METRICS,
    "dcgm-exporter": METRICS,
    "node-status-exporter": METRICS,
    "gpu-feature-discovery": ALLOCATABLE,
    "mig-manager": ALLOCATABLE,
    "dra-driver": DRA,
    "dra-validator": VALIDATOR,
    "dcgm-dra": METRICS,
    "dcgm-exporter-dra": METRICS,
}
_SHOWN: t.Final = 5


class Stage(t.NamedTuple):
    """verdict: ready, pending, failed or waiting. since: as the API says it, empty where it says nothing. consequence_of: the stage that it waits for."""

    name: str
    verdict: str = READY
    since: str = ""
    evidence: tuple[str, ...] = ()
    consequence_of: str = ""


class Place(t.NamedTuple):
    """A stage of one node. node is empty for the nodes that a pool lacks."""

    pool: str
    node: str
    stage: Stage


def waiting(chain: Chain) -> dict[str, Stage]:
    """What a node is like while nothing can be known of it."""
    return {name: Stage(name, WAITING) for name in chain.of_nodes}


def settle(found: t.Mapping[str, Stage], chain: Chain = GPU_STACK) -> dict[str, Stage]:
    """What only waits gets the stage that it waits for; what could wait for nothing is pending by itself."""
    done: dict[str, Stage] = {}
    for name, needs in chain.needs.items():
        stage = found.get(name)
        if stage is None:
            continue
        if stage.verdict == WAITING:
            cause = next((before for before in needs if before in done and done[before].verdict != READY), "")
            root = (done[cause].consequence_of or cause) if cause else ""
            stage = stage._replace(consequence_of=root, verdict=WAITING if root else PENDING)
        done[name] = stage
    return done


def across(name: str, places: t.Sequence[Place]) -> dict[str, t.Any]:
    """One stage over all nodes: the worst verdict, and the nodes that are not ready."""
    behind = [place for place in places if place.stage.verdict != READY]
    verdict = min((place.stage.verdict for place in places), key=ORDER.index, default=READY)
    deciding = [place for place in places if place.stage.verdict == verdict]
    moments = sorted(place.stage.since for place in deciding if place.stage.since)
    found = Stage(
        name,
        verdict,
        (moments[-1] if verdict == READY else moments[0]) if moments else "",
        tuple(dict.fromkeys(line for place in deciding for line in place.stage.evidence))[:_SHOWN],
        deciding[0].stage.consequence_of if deciding else "",
    )
    of_nodes = [{"pool": place.pool, "node": place.node, **_plain(place.stage)} for place in behind]
    return {**told(found), "nodes": of_nodes, "of": len(places)}


def told(stage: Stage) -> dict[str, t.Any]:
    """As results have it."""
    return {"name": stage.name, **_plain(stage)}


def _plain(stage: Stage) -> dict[str, t.Any]:
    return {
        "verdict": stage.verdict,
        "since": stage.since,
        "evidence": list(stage.evidence),
        "consequence_of": stage.consequence_of,
    }


def table(stages: t.Sequence[dict[str, t.Any]]) -> list[str]:
    """For people: a line for each stage that has a trouble of its own, one for all that wait for it, one for those that are ready."""
    fine = [stage["name"] for stage in stages if stage["verdict"] == READY]
    lines = [f"ready: {', '.join(fine)}"] if fine else []
    behind: dict[str, list[str]] = {}
    for stage in stages:
        if stage["verdict"] == WAITING:
            behind.setdefault(stage["consequence_of"], []).append(stage["name"])
    for stage in stages:
        if stage["verdict"] in (READY, WAITING):
            continue
        since = f" since {stage['since']}" if stage["since"] else ""
        own = [one for one in stage.get("nodes") or [] if one["verdict"] == stage["verdict"]]
        where = f" on {len(own)} of {stage['of']} nodes" if own else ""
        why = f": {'; '.join(stage['evidence'])}" if stage["evidence"] else ""
        lines.append(f"{stage['name']} {stage['verdict'].upper()}{since}{where}{why}")
        if waiting := behind.pop(stage["name"], []):
            lines.append(
                f"{', '.join(waiting)} {'wait' if len(waiting) > 1 else 'waits'} for {stage['name']}"
            )
    return [
        *lines,
        *(
            f"{', '.join(waiting)} {'wait' if len(waiting) > 1 else 'waits'} for {cause}"
            for cause, waiting in behind.items()
        ),
    ]
