# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The plan of gpu_pools: all pools together, and the inputs of the roles."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from .._catalogue.instance_types import BUILT_IN, Catalogue
from .._core.input import Problems
from . import conflicts, outputs
from .draft import Description, Draft
from .model import JsonObject, Pool

_EXAMPLE: t.Final = """Write a file such as
{name}:
  - name: training
    candidates:
      - {{instance_type: g4dn.xlarge, zones: [us-east-2a]}}
    replicas: 1
and give it with -e @FILE; examples/ has complete ones."""


@dataclass(frozen=True)
class Plan:
    """A plan. pools: in the user's order. outputs: inputs of the roles. remarks: warnings."""

    pools: tuple[Pool, ...]
    outputs: JsonObject
    remarks: tuple[str, ...]

    def as_result(self) -> JsonObject:
        """Return the plan as gpu_plan's result."""
        return {"pools": [pool.as_result() for pool in self.pools], **self.outputs}


@dataclass
class ListDraft(Draft):
    """The draft of a list of pools. name: the user's name of the list. backend: of the driver stack."""

    name: str = "gpu_pools"
    backend: str | None = None

    def _check_together(self, described: dict[str, Description], problems: Problems) -> None:
        if self.backend == conflicts.DRA:
            for path, pool in described.items():
                conflicts.check_claims(pool, path, problems)
        conflicts.check(list(described.values()), self.name, problems)


def draft(
    pools: t.Any, name: str = "gpu_pools", catalogue: Catalogue = BUILT_IN, backend: str | None = None
) -> ListDraft:
    """Return the draft of a plan of all pools. Raises InputError if the pools are no list or an empty one.

    name: the user's name of the list, for paths. catalogue: of instance types. backend: of the driver
    stack; None chooses it by the pools' drivers.
    """
    problems = Problems()
    if not isinstance(pools, (list, tuple)):
        problems.add(
            "POOL-TYPE",
            name,
            "must be a list of pools.",
            f"Write {name} as a list; each entry has a name, candidates and replicas.",
        )
    elif not pools:
        problems.add(
            "POOL-NONE", name, "names no pools, so there is nothing to do.", _EXAMPLE.format(name=name)
        )
    problems.raise_if_any()
    return ListDraft(
        {f"{name}[{index}]": pool for index, pool in enumerate(pools)}, catalogue, name=name, backend=backend
    )


def assemble(pools: tuple[Pool, ...], name: str = "gpu_pools", backend: str | None = None) -> Plan:
    """Return the plan of planned pools. name: the list's, for remarks. backend: as in `draft`."""
    claims = backend == conflicts.DRA
    quotas = outputs.quotas(pools)
    driven = [pool for pool in pools if outputs.are_nvidias(pool)]
    remarks = [*outputs.drivers(pools), *outputs.short_quotas(driven, quotas)]
    found = {
        "groups": outputs.groups(driven),
        "stack": outputs.stack(driven, backend),
        "tolerations": outputs.tolerations(driven),
        "quotas": outputs.counted_as_claims(quotas) if claims else quotas,
        "priorities": outputs.priorities(pools),
        "validations": outputs.validations(driven, claims),
        "expected_labels": outputs.expected_labels(driven),
    }
    return Plan(pools, found, tuple(f"{name}: {remark}" for remark in remarks))
