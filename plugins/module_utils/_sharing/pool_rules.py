# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find contradictions in the sharing of one pool, and what its GPUs do not allow."""

from __future__ import annotations

import typing as t

from .._catalogue.well_known import GPU
from .._core.input import Problems
from . import claims, partitions
from .schema import CLAIMS, MIG, WAYS, check_models


def check_mig(mig: t.Mapping[str, t.Any], path: str, problems: Problems) -> None:
    """Add a problem for options of MIG that contradict each other. path: of C(mig)."""
    ways = sorted(set(partitions.CHOICES) & set(mig))
    if len(ways) != 1:
        given, options = " and ".join(ways) or "none", "slices, profile, layout and config"
        problems.add("POOL-EITHER", path, options=options, given=given)
    if "layout" in mig and mig.get("strategy") == partitions.SINGLE:
        other, remedy = "a layout of different partitions", "Set strategy: mixed, or use slices."
        problems.add("POOL-CONFLICT", f"{path}.strategy", remedy=remedy, other=other)
    for key, example in (("layout", "{1g.5gb: 7}"), ("config", "[{devices: all, mig-enabled: false}]")):
        if key in mig and not mig[key] and not problems.at(f"{path}.{key}"):
            problems.add("POOL-EMPTY", f"{path}.{key}", example=example)
    if "profile" in mig and not isinstance(mig["profile"], (str, dict)):
        form, value = "a profile's name, or a mapping of instance type to profile", repr(mig["profile"])
        problems.add("POOL-TYPE", f"{path}.profile", remedy="For example 1g.5gb.", form=form, value=value)


def check_shares(pool: dict[str, t.Any], path: str, problems: Problems) -> None:
    """Add what the nodes cannot share. pool: described, its candidates resolved; sharing is set."""
    models = {candidate.gpu_model for candidate in pool.get("resolved", [])}
    check_models(pool["sharing"], models, path, problems)
    if CLAIMS in pool["sharing"]:
        claims.check(pool["sharing"][CLAIMS], f"{path}.{CLAIMS}", problems)
        nodes = [
            partitions.Node(
                candidate.instance_type,
                candidate.gpus_per_node,
                partitions.gpu_of(candidate.gpu_model, candidate.gpu_memory_gib),
            )
            for candidate in pool.get("resolved", [])
        ]
        claims.check_nodes(pool["sharing"][CLAIMS], nodes, f"{path}.{CLAIMS}", problems)
    if MIG in pool["sharing"]:
        check_mig(pool["sharing"][MIG], f"{path}.{MIG}", problems)
    expected = (pool.get("existing") or {}).get("expected") or {}
    for way in (*WAYS, MIG):
        if way in pool["sharing"] and set(expected) - {GPU}:
            problems.add(
                "POOL-GEOMETRY",
                f"{path}.{way}",
                f"starts from {GPU}, but the nodes are expected to offer {', '.join(sorted(expected))}.",
                f"Set existing.expected to the whole GPUs of a node, such as {{{GPU}: 1}}.",
            )
    if MIG in pool["sharing"] and expected and not problems.at(path):
        try:
            partitions.resources(pool["sharing"][MIG], partitions.Node("existing nodes", expected[GPU]))
        except partitions.GeometryError as exc:
            problems.add("POOL-GEOMETRY", f"{path}.{exc.where}", exc.message, exc.remedy)


def refuse_backend(
    sharing: t.Mapping[str, t.Any], claims_devices: bool, path: str, problems: Problems
) -> None:
    """Add what does not work with the way in which pods get devices. path: of sharing."""
    for way in sorted(sharing):
        if claims_devices and way != CLAIMS:
            why = "the operator's device plugin and MIG manager do not run"
            instead = "Remove it: pods claim whole GPUs, or share them by claims"
            problems.add("POOL-DRA", f"{path}.{way}", why=why, instead=instead)
        if not claims_devices and way == CLAIMS:
            problems.add("POOL-NO-DRA", f"{path}.{way}")
