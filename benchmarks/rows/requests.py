# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows 5 and 6: what one task asks of the API server, and which processes import the client package."""

from __future__ import annotations

import json
import typing as t

import objects
from measure import Report, Row

from openshift_sandbox import audit
from playbooks import HERE, Surroundings, ours, peer

Data = dict[str, t.Any]

# Known to the table of kinds, and not on this cluster: its operator is not installed.
MISSING: t.Final = {"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver"}


def rows(where: Surroundings, report: Report, _rounds: int = 1) -> None:
    """Exact counts: each case is run alone, with kubernetes.core's cache of discovery warm."""
    where.play(where.write("warm", [peer(objects.config_map("warm"))]))
    for index, (name, mine, theirs, limit) in enumerate(cases()):
        asked, peers = (
            _asked(where, f"requests-{index}-{side}", task)
            for side, task in (("ours", mine), ("peer", theirs))
        )
        # A question about what is served refers to no object.
        discovery = any("objectRef" not in one.event for one in asked)
        report.rows.append(
            Row(
                metric="5",
                name=f"requests, {name}",
                unit="requests",
                runs=1,
                ours={"median": len(asked)},
                peers={"kubernetes.core": {"median": len(peers)}},
                target=f"<= {limit}, no discovery",
                met=len(asked) <= limit and not discovery,
                ratio=round(len(asked) / len(peers), 4),
                note="; ".join(f"{one.verb} {one.uri.partition('?')[0]}" for one in asked),
            )
        )
    report.rows += imports(where)


def cases() -> list[tuple[str, Data, Data, int]]:
    mine, theirs = objects.config_map("count"), objects.config_map("count-peer")
    info: Data = {"api_version": "v1", "kind": "Node"}
    absent = MISSING | {"metadata": {"name": "count"}}
    info_absent: Data = {"api_version": MISSING["apiVersion"], "kind": MISSING["kind"]}
    names = "{{ query('accelerators.openshift.gpu_nodes', query='[].name') }}"
    return [
        (
            "read (the GPU nodes)",
            {"ansible.builtin.debug": {"msg": names}},
            {"kubernetes.core.k8s_info": info},
            1,
        ),
        ("create", ours(mine), peer(theirs), 2),
        ("unchanged", ours(mine), peer(theirs), 1),
        (
            "kind not served",
            ours(absent) | {"ignore_errors": True},
            {"kubernetes.core.k8s_info": info_absent},
            1,
        ),
    ]


def _asked(where: Surroundings, name: str, task: Data) -> list[audit.Request]:
    path = where.write(name, [task])
    mark = where.cluster.mark()
    where.play(path)
    return where.cluster.requests(mark)


def imports(where: Surroundings, tasks: int = 4) -> list[Row]:
    """Every process of a run says when it imports the package: a hook in sitecustomize writes its pid."""
    mine = _importers(where, [ours(objects.config_map("count"))] * tasks)
    theirs = _importers(where, [peer(objects.config_map("count-peer"))] * tasks)
    note = f"{tasks} tasks; theirs is imported by {_programs(theirs)}"
    most = "<= 1, Ansible's parent process, however many tasks"
    return [
        _importing("processes that import the client package", mine, theirs, most, note),
    ]


def _importers(where: Surroundings, tasks: list[Data]) -> dict[int, str]:
    """Programs by pid."""
    log = where.directory / "imports.jsonl"
    log.write_text("")
    where.play(
        where.write("imports", tasks),
        PYTHONPATH=str(HERE / "import_trace"),
        IMPORT_TRACE=str(log),
    )
    return {one["pid"]: one["program"] for one in map(json.loads, log.read_text().splitlines())}


def _programs(importers: dict[int, str]) -> str:
    return ", ".join(sorted(set(importers.values()))) or "nobody"


def _importing(name: str, mine: dict[int, str], theirs: dict[int, str], target: str, note: str) -> Row:
    return Row(
        metric="6",
        name=name,
        unit="processes",
        runs=1,
        ours={"median": len(mine)},
        peers={"kubernetes.core": {"median": len(theirs)}},
        target=target,
        met=len(mine) <= 1 and set(mine.values()) <= {"ansible-playbook (parent)"},
        ratio=round(len(mine) / len(theirs), 4),
        note=f"{note}, ours by {_programs(mine)}",
    )
