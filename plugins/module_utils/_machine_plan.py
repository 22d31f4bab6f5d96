# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The machine sets of one pool: what to apply, what to say, what to remove."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from ansible_collections.accelerators.openshift.plugins.module_utils import _machine_drift as drift
from ansible_collections.accelerators.openshift.plugins.module_utils import _machine_reference as references
from ansible_collections.accelerators.openshift.plugins.module_utils import _machine_set as sets
from ansible_collections.accelerators.openshift.plugins.module_utils import _platforms as platforms
from ansible_collections.accelerators.openshift.plugins.module_utils import _pool_platform as pool_platform
from ansible_collections.accelerators.openshift.plugins.module_utils._infrastructure import Infrastructure
from ansible_collections.accelerators.openshift.plugins.module_utils._machine import phase
from ansible_collections.accelerators.openshift.plugins.module_utils._machine import set_name as set_of
from ansible_collections.accelerators.openshift.plugins.module_utils._ownership import owned, pool_of
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import Platform
from ansible_collections.accelerators.openshift.plugins.module_utils._pool_schema import POOL

Data = dict[str, t.Any]
_ENTRY: t.Final = ("name", "candidates", "replicas", "labels", "taints", "accelerator", "disk", "market", *platforms.BY_KEY, pool_platform.PATCH)
# What gpu_plan adds to a candidate.
_DERIVED: t.Final = {"arch", "vendor", "gpus_per_node", "gpu_memory_gib", "vcpus", "memory_gib", "mig_capable", "accelerator", "expected"}


@dataclass(frozen=True)
class MachinePlan:
    """manifests: by name of the set. surplus: sets of the pool in zones that it no longer has."""

    pool: Data
    manifests: dict[str, Data]
    zones: dict[str, str]
    surplus: list[str]
    remarks: list[str]

    @property
    def replicas(self) -> dict[str, int]:
        return {name: manifest["spec"]["replicas"] for name, manifest in self.manifests.items()}

    @property
    def instance_type(self) -> str:
        return str(self.pool["candidates"][0]["instance_type"])

    @property
    def node_labels(self) -> dict[str, str]:
        return sets.node_labels(self.pool["name"], self.pool["accelerator"], self.pool["labels"])

    def place(self, name: str) -> str:
        return f"{self.instance_type} in {self.zones[name]}" if self.zones[name] else self.instance_type

    def patches(self, machines: t.Iterable[Data]) -> dict[str, Data]:
        """Merge patches that hand changed labels and taints to existing Machines, by name."""
        ours = [machine for machine in machines if set_of(machine) in self.manifests and phase(machine) != "Deleting"]
        bodies = {machine["metadata"]["name"]: drift.handed_down(machine, self.manifests[set_of(machine)]) for machine in ours}
        return {name: body for name, body in bodies.items() if body}

    def left_behind(self, machines: t.Iterable[Data]) -> list[str]:
        found = [drift.left_behind(machine, self.manifests[set_of(machine)]) for machine in machines if set_of(machine) in self.manifests]
        return [remark for remark in found if remark]


def entry(params: t.Mapping[str, t.Any]) -> Data:
    """The task's options as a pool's description: the option pool itself, or one made of the others."""
    pool = dict(params.get("pool") or {key: params[key] for key in _ENTRY if params.get(key) not in (None, "")})
    if "expected" in pool:
        # A pool as gpu_plan returns it: what was derived there is derived again.
        pool = {key: value for key, value in pool.items() if key in POOL and key != "existing" and value not in ("", {}, [])}
    if params.get("instance_type"):
        pool["candidates"] = [{"instance_type": params["instance_type"], "zones": params.get("zones") or []}]
    return {**pool, "candidates": [_candidate(one) if isinstance(one, dict) else one for one in pool.get("candidates") or []]}


def _candidate(candidate: Data) -> Data:
    own = {key: value for key, value in candidate.items() if key not in _DERIVED}
    if "gpus_per_node" in candidate:
        own["gpus"] = candidate["gpus_per_node"]
    return own


def plan(cluster: Infrastructure, pool: Data, live: t.Sequence[Data], params: t.Mapping[str, t.Any]) -> MachinePlan:
    """live: all machine sets of the namespace. Raises what forbids the pool."""
    platform = references.platform_of(cluster)
    existing = {sets.name_of(one): one for one in live}
    candidate = pool["candidates"][0]
    manifests: dict[str, Data] = {}
    zones: dict[str, str] = {}
    remarks: list[str] = []
    for zone, replicas in sets.spread(pool["replicas"], candidate["zones"] or [""]).items():
        name = sets.set_name(cluster.name, pool["name"], zone)
        source = existing.get(name) or references.find(live, platform, zone, params.get("reference"))
        provider, remark = _provider(platform, source, pool, candidate, zone, params.get("image") or "", is_new=name not in existing)
        manifests[name] = sets.build(cluster.name, pool, candidate, zone, replicas, params["namespace"], provider)
        zones[name] = zone
        if name in existing:
            drift.check(existing[name], manifests[name])
            remark = drift.remark(existing[name], manifests[name]) if existing[name]["spec"].get("replicas") else ""
        remarks += [remark] if remark else []
    surplus = sorted(name for name, one in existing.items() if owned(one) and pool_of(one) == pool["name"] and name not in manifests)
    return MachinePlan(pool, manifests, zones, surplus, remarks)


def _provider(platform: Platform, source: Data, pool: Data, candidate: Data, zone: str, image: str, is_new: bool) -> tuple[Data, str]:
    """The provider's value, and a remark on what the source has that is not known."""
    provider = sets.provider_of(source)
    wanted = pool_platform.wanted(pool, candidate, platform.KEY, zone, image if is_new else "")
    if not is_new:
        return platforms.build(platform, provider, wanted), ""
    references.check_arch(source, candidate["instance_type"], candidate["arch"], image)
    unknown = platforms.unknown_fields(platform, provider)
    remark = f"Machine set {sets.name_of(source)} has fields that are not known and were not copied: {', '.join(unknown)}." if unknown else ""
    return platforms.build(platform, provider, wanted), remark
