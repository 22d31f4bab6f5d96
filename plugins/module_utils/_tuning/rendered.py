# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rendered configuration of a pool: which MachineConfigs it has to have, and whether it is up to date."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._core.objects import KubeObject, Snapshot, named
from .._core.readiness import Grace, Readiness, pending, ready, worst
from . import machine_config
from .late import by_pool
from .pool_judge import POOLS, RENDER, judge_kubelet_config, judge_profile, target, troubles

KUBELETS: t.Final = "kubelets"
PROFILES: t.Final = "profiles"


def sources(pool: str, wanted: t.Iterable[KubeObject]) -> list[str]:
    """Return the MachineConfigs that the wanted objects bring into the pool's rendered configuration."""
    name, kinds = machine_config.pool_name(pool), {manifest["kind"] for manifest in wanted}
    found = [machine_config.kernel_name(pool)] if "MachineConfig" in kinds else []
    if "PerformanceProfile" in kinds:
        found += [f"50-performance-{name}", told_name(pool)]
    if kinds & {"KubeletConfig", "PerformanceProfile"}:
        found.append(f"99-{name}-generated-kubelet")
    return found


def told_name(pool: str) -> str:
    """Return the MachineConfig with the kernel arguments that TuneD on the nodes of the pool tells."""
    return f"50-nto-{machine_config.pool_name(pool)}"


def is_told(config: KubeObject | None, profile: KubeObject) -> bool:
    """Return True if the MachineConfig has the kernel arguments of the PerformanceProfile as it is now.

    Before that its nodes would reboot once with the old arguments, and once more with the new ones.
    """
    spec = profile["spec"]
    have = [str(argument) for argument in ((config or {}).get("spec") or {}).get("kernelArguments") or []]
    end = f",{spec['cpu']['isolated']}"
    return (
        {*spec.get("additionalKernelArgs", ())} <= {*have}
        and any(one.startswith("isolcpus=") and one.endswith(end) for one in have)
        and _pages(have) == _pages(_page_arguments(spec.get("hugepages") or {}))
    )


def _page_arguments(wanted: KubeObject) -> list[str]:
    """Return the arguments for huge pages; pages of one NUMA node are allocated by a service.

    The operator asks the kernel for no page of 2M where only such a service needs that size beside 1G.
    """
    pages, default = wanted.get("pages") or [], wanted.get("defaultHugepagesSize")
    found = [f"default_hugepagesz={default}"] if default else []
    found += [
        f"hugepagesz={page['size']} hugepages={page['count']}" for page in pages if page.get("node") is None
    ]
    small = {page.get("node") is None for page in pages if page["size"] == "2M"}
    return [*found, "hugepagesz=2M hugepages=0"] if small == {False} and default == "1G" else found


def _pages(arguments: t.Iterable[str]) -> set[tuple[str, str]]:
    """Return the default size, and each size with its count: a count follows its size."""
    found, size = set(), ""
    for word in " ".join(arguments).split():
        key, _equals, value = word.partition("=")
        if key == "hugepagesz":
            size = value
        elif key in ("default_hugepagesz", "hugepages"):
            found.add((size if key == "hugepages" else key, value))
    return found


def is_rendered(rendered: KubeObject, parts: t.Sequence[KubeObject], own: t.Collection[str]) -> bool:
    """Return True if the rendered MachineConfig has what its sources have now.

    parts: all its sources. own: names of those whose files and units are compared too.
    """
    spec = rendered.get("spec") or {}
    have = set(spec.get("kernelArguments") or [])
    want = {argument for part in parts for argument in (part.get("spec") or {}).get("kernelArguments") or []}
    if have != want:
        return False
    contents = _contents(rendered)
    return all(
        contents.get(key) == text
        for part in parts
        if part["metadata"]["name"] in own
        for key, text in _contents(part).items()
    )


def _contents(config: KubeObject) -> dict[tuple[str, str], str]:
    """Return files and units of a MachineConfig with their contents."""
    ignition = (config.get("spec") or {}).get("config") or {}
    files = (ignition.get("storage") or {}).get("files") or []
    units = (ignition.get("systemd") or {}).get("units") or []
    return {
        **{("file", one["path"]): str((one.get("contents") or {}).get("source") or "") for one in files},
        **{("unit", one["name"]): str(one.get("contents") or "") for one in units},
    }


@dataclass
class Rendered:
    """Judge what comes before a rollout: every object is accepted, and a source of the pool's configuration.

    sources: MachineConfigPool to the MachineConfigs that its configuration has to have. kubelets, profiles:
    the KubeletConfigs and PerformanceProfiles, which have the names of their pools. stale: MachineConfigPool
    to a configuration that is too old. late, verdicts: as in `pool_judge.Rolled`.
    """

    sources: t.Mapping[str, t.Collection[str]]
    kubelets: t.Collection[str]
    profiles: t.Collection[str]
    grace: Grace
    late: t.Collection[str] = ()
    stale: dict[str, str] = field(default_factory=dict)
    verdicts: dict[str, Readiness] = field(default_factory=dict)

    def __call__(self, snapshot: Snapshot) -> Readiness:
        found = [
            (kubelet, judge_kubelet_config(named(snapshot.get(KUBELETS, ()), kubelet) or None, kubelet))
            for kubelet in self.kubelets
        ]
        found += [
            (one, judge_profile(named(snapshot.get(PROFILES, ()), one) or None, one)) for one in self.profiles
        ]
        found += [
            (object_name, self._pool(named(snapshot[POOLS], object_name) or None, object_name, wanted))
            for object_name, wanted in self.sources.items()
        ]
        return worst(by_pool(self.grace, found, self.late, self.verdicts))

    def _pool(self, pool: KubeObject | None, object_name: str, wanted: t.Iterable[str]) -> Readiness:
        if not pool:
            return pending("Missing", f"MachineConfigPool {object_name} does not exist yet")
        if found := [trouble for trouble in troubles(pool, ()) if trouble.code == RENDER]:
            return worst(found)
        have = source_names(pool)
        lacking = [source for source in wanted if not any(name.startswith(source) for name in have)]
        if lacking or not target(pool):
            what = ", ".join(lacking) or "a configuration"
            return pending(
                "Rendering", f"{object_name}: {what} is not rendered yet", details=(f"{object_name}: {what}",)
            )
        if self.stale.get(object_name) == target(pool):
            return pending("Rendering", f"{object_name}: {target(pool)} does not have the last change yet")
        return ready("Rendered", f"{object_name}: {target(pool)}")


def source_names(pool: KubeObject) -> list[str]:
    """Return the names of the MachineConfigs in the pool's configuration."""
    return [str(one.get("name")) for one in (pool["spec"].get("configuration") or {}).get("source") or []]
