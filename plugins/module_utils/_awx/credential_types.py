# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Types of credentials: their fields, what they inject into a job, and the inputs of a credential."""

from __future__ import annotations

import re
import typing as t

Data = t.Mapping[str, t.Any]
Lines = t.Iterator[str]

_VARIABLE: t.Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
# The names that an injector may give, by what it injects.
_NAMES: t.Final = {
    "file": re.compile(r"template(\.[a-zA-Z_][a-zA-Z0-9_]*)?"),
    "env": _VARIABLE,
    "extra_vars": re.compile(r"[a-zA-Z_{}][a-zA-Z0-9_{}]*"),
}
_KEYS: t.Final[dict[str, type | tuple[type, ...]]] = {
    "id": str,
    "label": str,
    "type": str,
    "format": str,
    "help_text": str,
    "choices": list,
    "multiline": bool,
    "secret": bool,
    "ask_at_runtime": bool,
    "default": (str, bool),
}
_CHOICES: t.Final = {"type": ("string", "boolean"), "format": ("ssh_private_key", "url")}
_OF_TEXT: t.Final = ("choices", "multiline", "format", "secret")
# Variables that AWX keeps for itself.
_KEPT: t.Final = frozenset(
    (
        *("VIRTUAL_ENV", "PATH", "PYTHONPATH", "JOB_ID", "INVENTORY_ID", "INVENTORY_SOURCE_ID"),
        *("INVENTORY_UPDATE_ID", "AD_HOC_COMMAND_ID", "REST_API_URL", "REST_API_TOKEN", "MAX_EVENT_RES"),
        *("CALLBACK_QUEUE", "CALLBACK_CONNECTION", "CACHE", "JOB_CALLBACK_DEBUG", "INVENTORY_HOSTVARS"),
        *("AWX_HOST", "PROJECT_REVISION", "SUPERVISOR_CONFIG_PATH"),
    )
)


def fields(entry: Data) -> list[Data]:
    """Return the readable fields of a type."""
    found = (entry.get("inputs") or {}).get("fields")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def problems(entry: Data, path: str) -> Lines:
    """Yield why AWX would refuse the fields and the injectors of a type, each with its path."""
    given = entry.get("inputs") or {}
    for key in sorted(map(str, given.keys() - {"fields", "required"})):
        yield f"{path}.inputs.{key}: is not one of fields, required"
    for key in ("fields", "required"):
        if not isinstance(given.get(key, []), list):
            yield f"{path}.inputs.{key}: has to be a list"
    required = given.get("required", [])
    if isinstance(required, list) and not all(isinstance(name, str) for name in required):
        yield f"{path}.inputs.required: has to be a list of names"
    listed = given.get("fields", [])
    seen: set[str] = set()
    for number, field in enumerate(listed if isinstance(listed, list) else []):
        here = f"{path}.inputs.fields[{number}]"
        if not isinstance(field, dict):
            yield f"{here}: has to be a mapping with id and label"
            continue
        yield from _of_field(field, here)
        if str(field.get("id")) in seen:
            yield f"{here}.id: another field is {field.get('id')}"
        seen.add(str(field.get("id")))
    yield from _injectors(entry.get("injectors") or {}, seen, f"{path}.injectors")


def _of_field(field: Data, path: str) -> Lines:
    for key in ("id", "label"):
        if key not in field:
            yield f"{path}.{key}: is missing"
    for key, value in field.items():
        if key not in _KEYS:
            yield f"{path}.{key}: no field has this key"
        elif not isinstance(value, _KEYS[key]):
            yield f"{path}.{key}: {value!r} has another form"
        elif value not in _CHOICES.get(key, (value,)):
            yield f"{path}.{key}: {value} is not one of {', '.join(_CHOICES[key])}"
    if "id" in field and (not _VARIABLE.fullmatch(str(field["id"])) or field["id"] == "tower"):
        yield f"{path}.id: {field['id']} cannot be the name of a field"
    if field.get("ask_at_runtime"):
        yield f"{path}.ask_at_runtime: AWX has it only in its own types"
    yield from _of_values(field, field.get("type") == "boolean", path)


def _of_values(field: Data, is_boolean: bool, path: str) -> Lines:
    """Yield what is wrong with the choices and the default of a field."""
    listed = field.get("choices", ["one"])
    if not isinstance(listed, list) or not listed or len(set(map(str, listed))) < len(listed):
        yield f"{path}.choices: has to be a list of different texts"
    elif not all(isinstance(name, str) for name in listed):
        yield f"{path}.choices: each choice has to be text"
    if "default" in field and not isinstance(field["default"], bool if is_boolean else str):
        yield f"{path}.default: {field['default']!r} is not {'true or false' if is_boolean else 'text'}"
    for key in _OF_TEXT:
        if key in field and is_boolean:
            yield f"{path}.{key}: a boolean has none"


def _injectors(given: Data, known: t.Collection[str], path: str) -> Lines:
    found: dict[str, Data] = {}
    for key, value in given.items():
        if key not in _NAMES:
            yield f"{path}.{key}: is not one of {', '.join(_NAMES)}"
        elif not isinstance(value, dict):
            yield f"{path}.{key}: has to be a mapping"
        else:
            found[key] = value
    files = [str(name) for name in found.get("file", {})]
    if "template" in files and len(files) > 1:
        yield f"{path}.file.template: write template.NAME where there are several files"
    for name, value in found.get("env", {}).items():
        if str(name).startswith("ANSIBLE_") or name in _KEPT:
            yield f"{path}.env.{name}: AWX lets no credential set it"
        if isinstance(value, str) and not value.isascii():
            yield f"{path}.env.{name}: has to be ASCII"
    for key, values in found.items():
        for name in values:
            if not _NAMES[key].fullmatch(str(name)):
                how = "has to be template, or template.NAME" if key == "file" else "is no name of a variable"
                yield f"{path}.{key}.{name}: {how}"
        yield from _templates(values, known, files, f"{path}.{key}")


def _templates(value: t.Any, known: t.Collection[str], files: list[str], path: str) -> Lines:
    if isinstance(value, dict):
        for key, inner in value.items():
            if "extra_vars" in path:
                yield from _templates(str(key), known, files, f"{path}.{key}")
            yield from _templates(inner, known, files, f"{path}.{key}")
    elif isinstance(value, list) and ".extra_vars" in path:
        for number, inner in enumerate(value):
            yield from _templates(inner, known, files, f"{path}[{number}]")
    elif not isinstance(value, str):
        yield f"{path}: has to be text"
    elif wrong := _rendering(value, known, files):
        yield f"{path}: {wrong}"


class _Tower:
    """The namespace of AWX in an injector. It cannot be used as text. message: why."""

    filename: t.Any

    def __init__(self, message: str) -> None:
        self._message = message

    def __str__(self) -> str:
        raise ValueError(self._message)


def _rendering(text: str, known: t.Collection[str], files: list[str]) -> str:
    """Return why AWX cannot render an injector with the fields of its type, or an empty text."""
    # Where Ansible runs, Jinja is there.
    from jinja2 import StrictUndefined, TemplateError, sandbox

    tower = _Tower("tower alone has no value; write tower.filename")
    tower.filename = _Tower("tower.filename needs the injector file: {template: ...}")
    if "template" in files:
        tower.filename = "file"
    for name in files:
        if "." in name and "template" not in files:
            setattr(tower.filename, name.partition(".")[2], "file")
    values = {**dict.fromkeys(known, "value"), "tower": tower}
    try:
        sandbox.ImmutableSandboxedEnvironment(undefined=StrictUndefined).from_string(text).render(values)
    except (TemplateError, ValueError, TypeError) as exc:
        wrong = re.sub(r"'[^']*_Tower object'", "tower", str(exc))
        return f"{wrong}; the fields of the type are {', '.join(sorted(known)) or 'none'}"
    return ""


def inputs(known: t.Sequence[Data], given: Data, path: str) -> Lines:
    """Yield why AWX would refuse the inputs of a credential: its type has no such field, or another form."""
    by_id = {str(field.get("id")): field for field in known}
    for key, value in given.items():
        field = by_id.get(str(key))
        if field is None:
            yield f"{path}.{key}: its type has no such field, but {', '.join(sorted(by_id)) or 'none'}"
            continue
        kind = field.get("type", "string")
        if not isinstance(value, bool if kind == "boolean" else str):
            yield f"{path}.{key}: {value!r} is not {'true or false' if kind == 'boolean' else 'text'}"
        elif isinstance(listed := field.get("choices"), list) and listed and value not in listed:
            yield f"{path}.{key}: {value!r} is not one of {', '.join(map(str, listed))}"
