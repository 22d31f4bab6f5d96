# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who uses a pull secret: the objects that name it, and the pods that pull their images with it."""

from __future__ import annotations

import re
import typing as t
from dataclasses import dataclass

from .._core.objects import KubeObject, name

_FIELD: t.Final = "imagePullSecrets"
# OpenShift makes these for its own registry, and renews them itself.
_OWN_REGISTRY: t.Final = re.compile(r".*-dockercfg-[a-z0-9]{5}")
_WAITING: t.Final = ("ErrImagePull", "ImagePullBackOff")
# A field of an object with the name of a Secret.
Named = tuple[str, str]


class Place(t.NamedTuple):
    """A namespace and the objects in it that pull images: pods and DaemonSets."""

    namespace: str
    pods: t.Sequence[KubeObject] = ()
    daemon_sets: t.Sequence[KubeObject] = ()


@dataclass(frozen=True)
class Used:
    """A pull secret and what pulls with it. fields: what names it. waiting: pods that lack an image."""

    namespace: str
    name: str
    fields: tuple[str, ...]
    pods: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    images: tuple[str, ...] = ()

    @property
    def object_name(self) -> str:
        """Return kind, namespace and name."""
        return f"Secret {self.namespace}/{self.name}"


def named(kind: str, obj: KubeObject) -> list[Named]:
    """Return the fields of an object that name pull secrets, each as path and name of the Secret."""
    object_name = f"{kind} {name(obj)}"
    if kind == "ServiceAccount":
        found = [(f"{object_name}: {_FIELD}", secret_name) for secret_name in _names(obj.get(_FIELD))]
        return [pair for pair in found if not _OWN_REGISTRY.fullmatch(pair[1])]
    spec = obj.get("spec") or {}
    repository = [spec.get("imageRepoSecret")] if kind == "Module" else []
    return [
        *((f"{object_name}: spec.imageRepoSecret", secret_name) for secret_name in _names(repository)),
        *((f"{object_name}: {path}", secret_name) for path, secret_name in _walk(spec, "spec")),
    ]


def used(place: Place, fields: t.Iterable[Named]) -> list[Used]:
    """Return the pull secrets that these fields of objects name in one namespace, by name."""
    paths: dict[str, list[str]] = {}
    for path, secret in fields:
        paths.setdefault(secret, []).append(path)
    return [_used(place, secret, tuple(paths[secret])) for secret in sorted(paths)]


def _used(place: Place, secret: str, paths: tuple[str, ...]) -> Used:
    pods = [pod for pod in place.pods if secret in _names((pod.get("spec") or {}).get(_FIELD))]
    templates = [(daemon_set.get("spec") or {}).get("template") or {} for daemon_set in place.daemon_sets]
    specs = [(holder.get("spec") or {}) for holder in (*pods, *templates)]
    images = {image for spec in specs if secret in _names(spec.get(_FIELD)) for image in _images(spec)}
    return Used(
        place.namespace,
        secret,
        paths,
        tuple(sorted(map(name, pods))),
        tuple(sorted(name(pod) for pod in pods if _is_waiting(pod))),
        tuple(sorted(images)),
    )


def _walk(value: t.Any, path: str) -> t.Iterator[Named]:
    """Yield each field below a value that lists pull secrets."""
    if isinstance(value, list):
        for at, item in enumerate(value):
            yield from _walk(item, f"{path}[{at}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == _FIELD:
                yield from ((f"{path}.{key}", secret) for secret in _names(item))
            else:
                yield from _walk(item, f"{path}.{key}")


def _names(listed: t.Any) -> list[str]:
    """Return the names of Secrets in a list of names, or of maps with a name."""
    found = [item.get("name") if isinstance(item, dict) else item for item in listed or []]
    return [str(item) for item in found if item]


def _images(spec: t.Mapping[str, t.Any]) -> list[str]:
    containers = [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]
    return [str(container["image"]) for container in containers if container.get("image")]


def _is_waiting(pod: KubeObject) -> bool:
    status = pod.get("status") or {}
    every = [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]
    reasons = [((container.get("state") or {}).get("waiting") or {}).get("reason") for container in every]
    return any(reason in _WAITING for reason in reasons)
