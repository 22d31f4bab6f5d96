# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tiny images as registries hold them: real indexes, manifests and blobs, with the same digests each time."""

from __future__ import annotations

import functools
import hashlib
import io
import json
import tarfile
import typing as t
from dataclasses import dataclass
from pathlib import Path

INDEX: t.Final = "application/vnd.oci.image.index.v1+json"
MANIFEST: t.Final = "application/vnd.oci.image.manifest.v1+json"
_CONFIG: t.Final = "application/vnd.oci.image.config.v1+json"
_LAYER: t.Final = "application/vnd.oci.image.layer.v1.tar"
ARCHITECTURES: t.Final = ("amd64", "arm64")
# The release of an x86 cluster has images for that architecture alone.
_RELEASE: t.Final = "quay.io/openshift-release-dev/"

Object = dict[str, t.Any]


@dataclass(frozen=True)
class Image:
    """An index with a manifest for each architecture. content: of manifests and blobs, by digest."""

    digest: str
    manifests: t.Mapping[str, str]
    layer: str
    content: t.Mapping[str, bytes]


@functools.cache
def image(reference: str) -> Image:
    """Return the image of a reference."""
    content: dict[str, bytes] = {}

    def add(body: bytes) -> str:
        digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
        content[digest] = body
        return digest

    def descriptor(kind: str, body: bytes, **more: t.Any) -> Object:
        return {"mediaType": kind, "digest": add(body), "size": len(body), **more}

    layer = descriptor(_LAYER, _tar(reference))
    found = []
    for architecture in ARCHITECTURES[:1] if reference.startswith(_RELEASE) else ARCHITECTURES:
        platform = {"architecture": architecture, "os": "linux"}
        config = platform | {"config": {}, "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}}
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "layers": [layer]}
        manifest["config"] = descriptor(_CONFIG, _json(config))
        found.append(descriptor(MANIFEST, _json(manifest), platform=platform))
    index = add(_json({"schemaVersion": 2, "mediaType": INDEX, "manifests": found}))
    manifests = {one["platform"]["architecture"]: one["digest"] for one in found}
    return Image(index, manifests, layer["digest"], content)


def named(reference: str) -> str:
    """Return a reference by digest with the digest of its tiny image instead."""
    return f"{reference.partition('@')[0]}@{image(reference).digest}"


def split(reference: str) -> tuple[str, str, str]:
    """Return repository, tag and digest; a reference without both has the tag `latest`."""
    rest, _at, digest = reference.partition("@")
    folder, slash, last = rest.rpartition("/")
    name, _colon, tag = last.partition(":")
    return f"{folder}{slash}{name}", tag or ("" if digest else "latest"), digest


def lay_out(root: Path, repository: str, tag: str, wanted: Image) -> None:
    """Write an image into the storage of a registry (CNCF Distribution), as a push leaves it."""
    base = root / "docker" / "registry" / "v2"
    place = base / "repositories" / repository
    for digest, body in wanted.content.items():
        file = base / "blobs" / "sha256" / digest[7:9] / digest[7:] / "data"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body)
        is_manifest = digest == wanted.digest or digest in wanted.manifests.values()
        _link(place / ("_manifests/revisions" if is_manifest else "_layers"), digest)
    if tag:
        _link(place / "_manifests" / "tags" / tag / "index", wanted.digest)
        (place / "_manifests" / "tags" / tag / "current").mkdir(exist_ok=True)
        (place / "_manifests" / "tags" / tag / "current" / "link").write_text(wanted.digest)


def _link(folder: Path, digest: str) -> None:
    (folder / "sha256" / digest[7:]).mkdir(parents=True, exist_ok=True)
    (folder / "sha256" / digest[7:] / "link").write_text(digest)


def _tar(text: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        entry = tarfile.TarInfo("image")
        entry.size = len(text.encode())
        archive.addfile(entry, io.BytesIO(text.encode()))
    return file.getvalue()


def _json(body: Object) -> bytes:
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
