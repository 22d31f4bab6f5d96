# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take the images of the driver and the operands from a mirror registry, with the same tag or digest."""

from __future__ import annotations

import typing as t

from ..._core.objects import at

Data = dict[str, t.Any]


def _names(stem: str) -> tuple[str, ...]:
    return f"{stem}-image", f"{stem}-image".replace("-", "_").upper()


# Option -> the operator's names of the image: in relatedImages of its CSV, and in the env of its Deployment.
_NAMES: t.Final = {
    "driver": _names("driver"),
    "toolkit": _names("container-toolkit"),
    "device_plugin": _names("device-plugin"),
    "dcgm": _names("dcgm"),
    "dcgm_exporter": _names("dcgm-exporter"),
    "gfd": ("gpu-feature-discovery-image", "GFD_IMAGE"),
    "mig_manager": _names("mig-manager"),
    "validator": ("gpu-operator-validator-image", *_names("validator")),
    "node_status_exporter": ("gpu-operator-validator-image", *_names("validator")),
    "vfio_manager": _names("vfio-manager"),
    "sandbox_device_plugin": _names("sandbox-device-plugin"),
    "vgpu_device_manager": _names("vgpu-device-manager"),
    "cc_manager": _names("cc-manager"),
}
# The same for images that not every release has, or that run only on request.
_SOME: t.Final = {
    "kata_sandbox_device_plugin": _names("kata-sandbox-device-plugin"),
    "gdrcopy": _names("gdrcopy"),
    "gds": _names("gds"),
}
# The same for a GPUCluster: suboptions of gpu_cluster.
_OF_CLUSTER: t.Final = {
    "dra_driver": ("nvidia-dra-driver-image", "DRA_DRIVER_IMAGE"),
    "dcgm_exporter": _NAMES["dcgm_exporter"],
}
# A driver's own images, beside the driver's: suboptions of an NVIDIADriver.
_BESIDE: t.Final = ("gdrcopy", "gds")
_TAGS: t.Final = "imageTagMirrors"
# Kinds that the machine-config operator writes into the nodes' registries.conf -> key of their entries.
SETS: t.Final = {
    "ImageDigestMirrorSet": "imageDigestMirrors",
    "ImageTagMirrorSet": _TAGS,
    "ImageContentSourcePolicy": "repositoryDigestMirrors",
}
_MANAGER: t.Final = ("k8s-driver-manager-image", "DRIVER_MANAGER_IMAGE")


class Source(t.NamedTuple):
    """The mirror sets of one source: one for images with a digest, one for images with a tag."""

    digests: str = ""
    tags: str = ""


class Mirrored(t.NamedTuple):
    """The options with images of the registry.

    kept: options whose images a mirror set covers already. unknown: options without a known image.
    """

    params: Data
    kept: list[str]
    unknown: list[str]


def images(csvs: t.Iterable[Data]) -> dict[str, str]:
    """Return name -> default image of the installed operator, by both kinds of names in _NAMES."""
    found: dict[str, str] = {}
    for spec in (csv.get("spec") or {} for csv in csvs):
        found |= {one.get("name", ""): one.get("image", "") for one in spec.get("relatedImages") or []}
        found |= {
            one["name"]: one["value"]
            for deployment in at(spec, "install.spec.deployments") or []
            for container in deployment["spec"]["template"]["spec"].get("containers") or []
            for one in container.get("env") or []
            if one["name"].endswith("_IMAGE") and one.get("value")
        }
    return found


def sources(mirror_sets: t.Iterable[Data]) -> dict[str, Source]:
    """Return source -> the mirror sets that cover it, without entries that name only their own source.

    mirrorSourcePolicy does not matter here: it applies only when all mirrors fail.
    """
    found: dict[str, Source] = {}
    for one in mirror_sets:
        key, by = SETS[one["kind"]], f"{one['kind']} {one['metadata']['name']}"
        for entry in one["spec"].get(key) or []:
            source = entry["source"]
            if any(mirror != source for mirror in entry.get("mirrors") or []):
                known, field = found.get(source, Source()), "tags" if key == _TAGS else "digests"
                found[source] = known._replace(**{field: getattr(known, field) or by})
    return found


class _Move:
    """Move images to the registry; kept and unknown are as in Mirrored.

    known: from `images`; elsewhere: from `sources`.
    """

    def __init__(self, registry: str, known: t.Mapping[str, str], elsewhere: t.Mapping[str, Source]) -> None:
        self._registry, self._known, self._elsewhere = registry, known, elsewhere
        self.kept: list[str] = []
        self.unknown: list[str] = []

    def __call__(self, values: Data, names: t.Sequence[str], option: str, *, is_needed: bool = True) -> Data:
        """Return the values of an option with its image moved; unchanged if that is not possible.

        is_needed: the image is missed even if the option does not switch its component on.
        """
        given = {key: values[key] for key in ("repository", "image", "version") if values.get(key)}
        default = next((self._known[name] for name in names if self._known.get(name)), "")
        triple = given if len(given) == 3 else split(default)
        if not triple:
            if is_needed or values.get("enabled"):
                self.unknown.append(option)
            return values
        by = _covered(triple, self._elsewhere)
        if by:
            self.kept.append(f"{option} ({by})")
            return values
        return {**values, **triple, "repository": moved_to(triple["repository"], self._registry)}


def mirrored(
    params: t.Mapping[str, t.Any],
    registry: str,
    known: t.Mapping[str, str],
    elsewhere: t.Mapping[str, Source],
) -> Mirrored:
    """Return options with images moved to the registry. known: from `images`; elsewhere: from `sources`."""
    found, move = dict(params), _Move(registry, known, elsewhere)
    is_dra = params.get("backend") == "dra"
    for option, names in {"driver": _NAMES["driver"]}.items() if is_dra else _NAMES.items():
        found[option] = move(params.get(option) or {}, names, option)
    for option, names in () if is_dra else _SOME.items():
        if new := move(params.get(option) or {}, names, option, is_needed=False):
            found[option] = new
    if is_dra:
        found["gpu_cluster"] = _of_cluster(params.get("gpu_cluster") or {}, move)
    manager = move((params.get("driver") or {}).get("manager") or {}, _MANAGER, "driver.manager")
    if manager:
        found["driver"] = {**found["driver"], "manager": manager}
    for key in ("pools", "nvidia_drivers"):
        if params.get(key):
            found[key] = [
                _of_driver(entry, f"{key}[{at}]", move, is_pool=key == "pools")
                for at, entry in enumerate(params[key])
            ]
    return Mirrored(found, move.kept, move.unknown)


def _of_cluster(values: Data, move: _Move) -> Data:
    """Return option gpu_cluster with moved images. The separate service DCGM runs only on request."""
    parts = dict(_OF_CLUSTER)
    if values.get("dcgm"):
        parts["dcgm"] = _NAMES["dcgm"]
    new = {part: move(values.get(part) or {}, names, f"gpu_cluster.{part}") for part, names in parts.items()}
    return {**values, **{part: one for part, one in new.items() if one}}


def _of_driver(entry: Data, option: str, move: _Move, *, is_pool: bool) -> Data:
    values = (entry.get("driver") or {}) if is_pool else entry
    new = move(values, (), option) if values.get("version") else values
    for part in _BESIDE:
        if values.get(part):
            new = {**new, part: move(values[part], _SOME[part], f"{option}.{part}", is_needed=False)}
    if new is values:
        return entry
    return {**entry, "driver": new} if is_pool else new


def split(image: str) -> Data:
    """Return repository, image and version of an image reference; empty if one of the three is missing."""
    path, mark, version = image.partition("@") if "@" in image else image.rpartition(":")
    repository, _slash, name = path.rpartition("/")
    found = {"repository": repository, "image": name.partition(":")[0], "version": version}
    return found if mark and all(found.values()) else {}


def moved_to(repository: str, registry: str) -> str:
    """Return the repository with its host replaced by the registry; mirrors keep the path."""
    registry = registry.rstrip("/")
    if repository == registry or repository.startswith(f"{registry}/"):
        return repository
    host, slash, path = repository.partition("/")
    has_host = "." in host or ":" in host or host == "localhost"
    if not has_host:
        return f"{registry}/{repository}"
    return f"{registry}/{path}" if slash else registry


def _covered(triple: Data, elsewhere: t.Mapping[str, Source]) -> str:
    """Return the mirror set that covers an image, or an empty string.

    A node uses only the most specific source, even if that has no mirror for tags and the image has a tag.
    """
    whole = f"{triple['repository']}/{triple['image']}"
    nearest = max((one for one in elsewhere if lies_in(whole, one)), key=len, default="")
    by = elsewhere.get(nearest, Source())
    return by.digests if triple["version"].startswith("sha256:") else by.tags


def lies_in(repository: str, source: str) -> bool:
    """Return whether source is the repository's registry, a path above it, or `*.` and a parent domain."""
    if source.startswith("*."):
        return repository.partition("/")[0].partition(":")[0].endswith(source[1:])
    return repository == source or repository.startswith(f"{source}/")
