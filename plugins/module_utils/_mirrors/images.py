# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images that pools need, each with the reason and with who needs it."""

from __future__ import annotations

import typing as t

from .._catalogue import generations
from .._catalogue.driver_branches import REPOSITORY
from .._core.objects import KubeObject, at
from .._nodes.labels import labels
from .._nodes.system import system
from .._nodes.taints import matches
from .._olm import catalogue, support
from .._operators.images import chosen
from .._operators.upgrade_path import Way
from .._pull_secret import docker_config
from .._stack.drivers import image, toolkit
from .._update.drivers import suffixes_of_release
from .._workload.programs.program import GpuNode, Settings
from .._workload.programs.registry import PROGRAMS
from . import rules

Data = t.Mapping[str, t.Any]
ARCH: t.Final = "kubernetes.io/arch"
# Sections of images whose tags end as the driver's do.
_BESIDE: t.Final = ("gds", "gdrcopy")
# Drivers whose tags always have the minor version of the system, as an option and as the API has it.
_VGPU: t.Final = ("vgpu_manager", "vgpuManager")
_NIC_DRIVER: t.Final = ("ofed_driver", "ofedDriver")
# Generations of GPUs for which CUDA 13 has no code.
_OLD: t.Final = generations.NAMES[: generations.NAMES.index("Turing")]
# Images of the GPU operator for virtual machines, confidential computing and GDRCopy, which few pools need.
_SELDOM: t.Final = (
    *("vgpu-device-manager", "k8s-cc-manager", "kubevirt-gpu-device-plugin", "gdrdrv"),
    *("kata-sandbox-device-plugin", "kata-gpu-device-plugin", "k8s-kata-manager"),
)


class Wanted(t.NamedTuple):
    """An image that somebody needs.

    why: what it is for. needed_by: pools or operators. archs: of the nodes that pull it. package: the
    operator whose catalogue brings it into a mirror, empty if the mirror's configuration has to name it.
    seldom: whether only features that no pool has asked for need it.
    """

    image: str
    why: str
    needed_by: tuple[str, ...]
    archs: tuple[str, ...]
    package: str = ""
    seldom: bool = False


class Operator(t.NamedTuple):
    """An operator on its way. offer: its package. catalog: image of its catalogue. images: CSV -> its images,
    for those that are known: a PackageManifest has only the ones of the heads of channels.
    """

    way: Way
    offer: KubeObject
    catalog: str
    images: Data

    @property
    def csvs(self) -> tuple[str, ...]:
        """Return the CSVs of the way, the installed one first."""
        passed = [csv for stop in self.way.stops for csv in stop.passes]
        return tuple(dict.fromkeys([*([self.way.installed] if self.way.installed else []), *passed]))


class System(t.NamedTuple):
    """What the tags of drivers depend on. release: of OpenShift. rhcos: its versions on the nodes."""

    release: tuple[int, int]
    rhcos: tuple[str, ...]

    def suffixes(self, operator: str = "") -> list[str]:
        """Return the ends of the tags. operator: version of the GPU operator; none for other drivers."""
        by = (support.release_of(operator) or image.MAJOR_ONLY) if operator else (0, 0)
        return sorted(
            {one for version in self.rhcos for one in suffixes_of_release(self.release, version, "", by)}
        )


def system_of(nodes: t.Iterable[KubeObject], release: tuple[int, int]) -> System:
    """Return what tags depend on. nodes: those that may get GPUs."""
    seen = {system(node).image for node in nodes if system(node).coreos}
    return System(release, tuple(sorted(seen - {""})))


def with_nodes(pool: Data, nodes: t.Iterable[KubeObject]) -> dict[str, t.Any]:
    """Return the pool with its C(nodes) and their C(archs): of its candidates, or else of these nodes."""
    selector = pool.get("node_selector") or {}
    mine = [node for node in nodes if selector and matches(selector, labels(node))]
    live = {labels(node).get(ARCH, "") for node in mine} - {""}
    planned = {one["arch"] for one in pool.get("candidates") or [] if one.get("instance_type")}
    archs = (live if pool.get("existing") else planned) or {"amd64"}
    return {**pool, "nodes": mine, "archs": tuple(sorted(archs))}


def of_operator(operator: Operator, archs: t.Sequence[str]) -> list[Wanted]:
    """Return the images of all CSVs of the way that the catalogue or the cluster names."""
    package = operator.way.package
    return [
        Wanted(one, f"{part(one)} of {csv}", (package,), tuple(archs), package, part(one) in _SELDOM)
        for csv in operator.csvs
        for one in operator.images.get(csv) or ()
    ]


def part(reference: str) -> str:
    """Return the last part of an image's name, without registry and tag."""
    return rules.split(reference)[0].rpartition("/")[2]


def of_driver(
    driver: Data,
    csvs: t.Sequence[str],
    on: System,
    nodes: t.Sequence[KubeObject],
    whose: tuple[tuple[str, ...], tuple[str, ...]],
) -> list[Wanted]:
    """Return the images of a driver that is not the operator's own.

    csvs: of the GPU operator on its way, since its release decides about the tags. nodes: of the pools.
    whose: names of the pools, and their architectures.
    """
    beside = [driver[key] for key in _BESIDE if (driver.get(key) or {}).get("image")]
    found = [one for part in beside for one in of_driver(part, csvs, on, nodes, whose)]
    version = str(driver.get("version") or "")
    if not version or driver.get("enabled") is False:
        return found
    place = {"repository": driver.get("repository") or REPOSITORY, "image": driver.get("image") or "driver"}
    path = f"{place['repository']}/{place['image']}"
    if version.startswith("sha256:"):
        return [*found, Wanted(f"{path}@{version}", "driver, by digest", *whose)]
    if driver.get("use_precompiled") or driver.get("usePrecompiled"):
        needs = image.precompiled({**place, "version": version}, nodes)
        return found + [
            Wanted(one, f"precompiled driver for kernel {need.kernel}", *whose)
            for need in needs
            for one in need.images[-1:]
        ]
    return found + [
        Wanted(f"{path}:{version}-{suffix}", f"{place['image']}, by the tag that {csv} takes", *whose)
        for csv in csvs
        for suffix in on.suffixes(catalogue.version_of(csv))
    ]


def of_operands(
    spec: Data, who: str, on: System, archs: t.Sequence[str], csvs: t.Sequence[str] = ()
) -> list[Wanted]:
    """Return the images that a ClusterPolicy or a NicClusterPolicy names itself, but for the GPU driver.

    csvs: as in `of_driver`, which knows the tags of what stands beside the driver.
    """
    versions = {key: str(at(spec, f"{key}.version") or "") for key in (*_VGPU, *_NIC_DRIVER)}
    tagged = [key for key, version in versions.items() if not version.startswith("sha256:")]
    rest = {key: value for key, value in spec.items() if key not in ("driver", *_BESIDE, *tagged)}
    whose = ((who,), tuple(archs))
    found = [Wanted(one, f"{part(one)}, as its options say", *whose) for one in chosen(rest)]
    found += of_driver({key: spec.get(key) for key in _BESIDE}, csvs, on, (), whose)
    for keys, why in ((_NIC_DRIVER, "driver of the network cards"), (_VGPU, "vGPU manager")):
        section: Data = next((spec[key] for key in keys if key in tagged and spec.get(key)), {})
        own = {key: section.get(key) for key in ("repository", "image", "version")}
        named = () if section.get("enabled") is False else chosen(own)
        for tag in (f"{path}-{suffix}" for path in named for suffix in on.suffixes()):
            nic = [Wanted(f"{tag}-{arch}", why, (who,), (arch,)) for arch in archs]
            found += nic if keys == _NIC_DRIVER else [Wanted(tag, why, *whose)]
    return found


def of_toolkit(streams: t.Iterable[KubeObject], on: System, archs: t.Sequence[str]) -> list[Wanted]:
    """Return the Driver Toolkit of each RHCOS of the nodes, with which drivers are built."""
    known = toolkit.images(streams)
    why = "Driver Toolkit of RHCOS {}"
    found = {version: known[version] for version in on.rhcos if known.get(version)}
    return [Wanted(one, why.format(version), ("driver",), tuple(archs)) for version, one in found.items()]


def of_validations(validations: t.Iterable[Data], pools: t.Iterable[Data]) -> list[Wanted]:
    """Return the images of the programs that validate the pools. Each pool has its C(archs)."""
    by_name = {pool["name"]: pool for pool in pools}
    found = []
    for entry in validations:
        programs = entry.get("programs") or [{"program": entry["benchmark"], "image": entry.get("image")}]
        for settings in map(Settings.of, programs):
            for node in _gpu_nodes(by_name.get(entry["name"]) or {}):
                reference = settings.image or PROGRAMS[settings.program].image(node)
                why = f"validation {settings.program}"
                found.append(Wanted(reference, why, (entry["name"],), (node.arch,)))
    return found


def _gpu_nodes(pool: Data) -> list[GpuNode]:
    """Return what the images of a pool's programs depend on, for each kind of node."""
    models = [str(one.get("gpu_model") or "") for one in pool.get("candidates") or []] or [""]
    return [
        GpuNode(arch=arch, compute=(7, 0) if generations.of(model) in _OLD else None)
        for arch in pool.get("archs") or ("amd64",)
        for model in dict.fromkeys(models)
    ]


def merged(wanted: t.Iterable[Wanted]) -> list[Wanted]:
    """Return each image once, with every reason and everybody who needs it, sorted by the image.

    An image without a registry is Docker Hub's, as it is for nodes.
    """
    found: dict[str, Wanted] = {}
    for one in wanted:
        whole = docker_config.full(one.image)
        known = found.get(whole, one)
        found[whole] = known._replace(
            image=whole,
            why="; ".join(dict.fromkeys([*known.why.split("; "), one.why])),
            needed_by=tuple(dict.fromkeys([*known.needed_by, *one.needed_by])),
            archs=tuple(sorted({*known.archs, *one.archs})),
            package=known.package and one.package,
            seldom=known.seldom and one.seldom,
        )
    return [found[key] for key in sorted(found)]
