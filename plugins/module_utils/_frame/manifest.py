# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests from users: read them, check them, and sort them in the order of application."""

from __future__ import annotations

import datetime
import typing as t

from .._core import conditions
from .._core.errors import InputError, text_of
from .._core.objects import KubeObject, Snapshot
from .._core.readiness import Readiness, pending, ready

try:
    import yaml
except ImportError:  # Ansible itself always has it; the import test of ansible-test has not
    yaml = None  # type: ignore[assignment]


CRD: t.Final = "CustomResourceDefinition"
# Other objects need these kinds first; all other kinds keep the order of the input.
_FIRST: t.Final = (
    "Namespace",
    CRD,
    "PriorityClass",
    "ServiceAccount",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "Secret",
    "ConfigMap",
)
_BY_SERVER: t.Final = ("managedFields", "resourceVersion", "uid", "generation", "selfLink")
_EXAMPLES: t.Final = {"apiVersion": "v1", "kind": "ConfigMap"}
_WORDS: t.Final = {
    str: "a text",
    bool: "a truth value",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "a map",
    type(None): "empty",
}


class Entry(t.NamedTuple):
    """One object and its path in the input."""

    path: str
    manifest: KubeObject

    @property
    def api_version(self) -> str:
        return str(self.manifest["apiVersion"])

    @property
    def kind(self) -> str:
        return str(self.manifest["kind"])

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])

    @property
    def namespace(self) -> str | None:
        namespace: str | None = self.manifest["metadata"].get("namespace")
        return namespace

    @property
    def is_ground(self) -> bool:
        """Return True if other objects of the input may need this object to exist first."""
        return self.kind in _FIRST[:2]

    def summarize(self, changed: bool) -> dict[str, t.Any]:
        """Return the entry of the module's result."""
        return {
            "api_version": self.api_version,
            "kind": self.kind,
            "name": self.name,
            "namespace": self.namespace,
            "changed": changed,
        }


def read(objects: t.Any, path: str = "objects") -> list[Entry]:
    """Return the objects in the order of application. objects: a list of maps and YAML texts, or one of them.

    Raises InputError with the path of the first wrong field.
    """
    entries = [Entry(where, _checked(item, where)) for where, item in _items(objects, path)]
    seen: dict[tuple[str | None, ...], str] = {}
    for entry in entries:
        first = seen.setdefault((entry.api_version, entry.kind, entry.namespace, entry.name), entry.path)
        if first != entry.path:
            raise _wrong(
                entry.path,
                f"is the same object as {first} ({entry.kind} {entry.name})",
                "Keep one of the two.",
            )
    return sorted(
        entries, key=lambda entry: _FIRST.index(entry.kind) if entry.kind in _FIRST else len(_FIRST)
    )


def place(entry: Entry, namespaced: bool, default: str | None) -> Entry:
    """Return the entry with its namespace. default: the namespace of an object that has none.

    Raises InputError if a namespaced kind has no namespace, or a cluster-scoped kind has one.
    """
    namespace, path = entry.namespace or default, f"{entry.path}.metadata.namespace"
    if namespaced and not namespace:
        raise _wrong(
            path,
            f"is missing; {entry.kind} lives in a namespace",
            "Set it, or set the option namespace for all objects.",
        )
    if not namespaced and entry.namespace:
        raise _wrong(path, f"is {entry.namespace!r}, but {entry.kind} is cluster-wide", "Remove it.")
    if not namespaced:
        return entry
    return Entry(
        entry.path, {**entry.manifest, "metadata": {**entry.manifest["metadata"], "namespace": namespace}}
    )


def defined(entry: Entry) -> list[tuple[str, str]]:
    """Return apiVersion and kind of what a CustomResourceDefinition defines; nothing for other objects."""
    spec = entry.manifest.get("spec") or {}
    if entry.kind != CRD:
        return []
    kind = (spec.get("names") or {}).get("kind", "")
    versions = [served.get("name") for served in spec.get("versions") or [] if served.get("served")]
    return [(f"{spec.get('group')}/{version}", kind) for version in versions]


def judge_established(snapshot: Snapshot) -> Readiness:
    """Return ready when every CustomResourceDefinition is Established. Each key of the snapshot has one."""
    waiting = [
        name
        for name, found in snapshot.items()
        if not any(conditions.is_true(crd, "Established") for crd in found)
    ]
    if waiting:
        text = text_of("MANIFEST-CRD", names=", ".join(waiting), name=waiting[0])
        return pending("NotEstablished", **text._asdict())
    return ready("Established", "all are served")


def _items(objects: t.Any, path: str) -> t.Iterator[tuple[str, t.Any]]:
    """Yield each object with its path, from lists, YAML texts and the `List` objects that kubectl prints."""
    found = (
        _parse(objects, path)
        if isinstance(objects, str)
        else [objects]
        if isinstance(objects, dict)
        else objects
    )
    if not isinstance(found, (list, tuple)):
        raise _wrong(path, f"is {_described(found)}", "Give a list of objects, or YAML text.")
    for index, item in enumerate(found):
        where = f"{path}[{index}]"
        # A text that YAML reads as text is no object.
        if isinstance(item, str) and not isinstance(objects, str):
            yield from _items(item, where)
        elif isinstance(item, dict) and item.get("kind") == "List" and isinstance(item.get("items"), list):
            yield from _items(item["items"], f"{where}.items")
        else:
            yield where, item


def _parse(text: str, path: str) -> list[t.Any]:
    try:
        return [document for document in yaml.safe_load_all(text) if document is not None]
    except yaml.YAMLError as exc:
        raise _wrong(path, f"is not YAML: {' '.join(str(exc).split())}", "Correct the text.") from exc


def _checked(item: t.Any, path: str) -> KubeObject:
    if not isinstance(item, dict):
        raise _wrong(
            path, f"is {_described(item)}", "Every object is a map with apiVersion, kind and metadata.name."
        )
    manifest: KubeObject = _plain(item, path)
    for field, example in _EXAMPLES.items():
        if not isinstance(manifest.get(field), str) or not manifest[field]:
            raise _wrong(
                f"{path}.{field}",
                f"is {_described(manifest.get(field))}",
                f"Set it, for example {field}: {example}.",
            )
    metadata = _checked_metadata(manifest.get("metadata"), f"{path}.metadata")
    return {
        **{key: value for key, value in manifest.items() if key != "status" or value},
        "metadata": metadata,
    }


def _checked_metadata(metadata: t.Any, path: str) -> KubeObject:
    if not isinstance(metadata, dict):
        raise _wrong(
            path if metadata else f"{path}.name",
            "is missing" if not metadata else f"is {_described(metadata)}",
            "Set metadata.name of the object.",
        )
    name = metadata.get("name")
    if not name and metadata.get("generateName"):
        raise _wrong(
            f"{path}.generateName", "would make a new object in every run", "Set metadata.name instead."
        )
    if not name or not isinstance(name, str):
        raise _wrong(
            f"{path}.name",
            f"is {_described(name)}" if name else "is missing",
            "Set the name of the object, as a text.",
        )
    for field in _BY_SERVER:
        if metadata.get(field) is not None:
            raise _wrong(
                f"{path}.{field}",
                "is set by the API server",
                "Remove it, and what else was copied out of a cluster.",
            )
    return {key: value for key, value in metadata.items() if value is not None}


def _plain(value: t.Any, path: str) -> t.Any:
    """Return the value in JSON types: YAML also has dates, and keys that are not text."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise _wrong(
                    f"{path}[{key!r}]", f"has a key that is {_described(key)}", "Put the key in quotes."
                )
        return {str(key): _plain(inner, f"{path}.{key}") for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner, f"{path}[{index}]") for index, inner in enumerate(value)]
    return value.isoformat() if isinstance(value, (datetime.date, datetime.datetime)) else value


def _described(value: t.Any) -> str:
    return next((words for kind, words in _WORDS.items() if isinstance(value, kind)), type(value).__name__)


def _wrong(path: str, problem: str, remedy: str) -> InputError:
    return InputError("INPUT-MANIFEST", f"{path} {problem}.", remedy)
