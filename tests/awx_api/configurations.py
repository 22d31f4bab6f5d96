# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWX 24.6.1 refuses with 400 in types of credentials, in credentials and in notifications."""

from __future__ import annotations

import copy
import typing as t

import jinja2
import jinja2.sandbox
import jsonschema
from awx_api.checks import RefusalError
from awx_api.fields import Data

_TEXT: t.Final = {"type": "string"}
_FLAG: t.Final = {"type": "boolean"}
INPUTS: t.Final[Data] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "required": {"type": "array", "items": _TEXT},
        "fields": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["id", "label"],
                "properties": {
                    "type": {"enum": ["string", "boolean"]},
                    "format": {"enum": ["ssh_private_key", "url"]},
                    "choices": {"type": "array", "minItems": 1, "items": _TEXT, "uniqueItems": True},
                    "id": {"type": "string", "pattern": "^[a-zA-Z_]+[a-zA-Z0-9_]*$"},
                    "label": _TEXT,
                    "help_text": _TEXT,
                    "multiline": _FLAG,
                    "secret": _FLAG,
                    "ask_at_runtime": _FLAG,
                    "default": {},
                },
            },
        },
    },
}
INJECTORS: t.Final[Data] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "file": {
            "type": "object",
            "additionalProperties": False,
            "patternProperties": {r"^template(\.[a-zA-Z_]+[a-zA-Z0-9_]*)?$": _TEXT},
        },
        "env": {
            "type": "object",
            "additionalProperties": False,
            "patternProperties": {
                "^[a-zA-Z_]+[a-zA-Z0-9_]*$": {"type": "string", "pattern": "^[\x00-\x7f]*$"}
            },
        },
        "extra_vars": {
            "type": "object",
            "additionalProperties": False,
            "patternProperties": {
                r"^[a-zA-Z_\{\}]+[a-zA-Z0-9_\{\}]*$": {
                    "anyOf": [_TEXT, {"type": "array"}, {"$ref": "#/properties/extra_vars"}]
                }
            },
        },
    },
}
# Variables that AWX keeps for itself.
KEPT: t.Final = frozenset(
    (
        *("VIRTUAL_ENV", "PATH", "PYTHONPATH", "JOB_ID", "INVENTORY_ID", "INVENTORY_SOURCE_ID"),
        *("INVENTORY_UPDATE_ID", "AD_HOC_COMMAND_ID", "REST_API_URL", "REST_API_TOKEN", "MAX_EVENT_RES"),
        *("CALLBACK_QUEUE", "CALLBACK_CONNECTION", "CACHE", "JOB_CALLBACK_DEBUG", "INVENTORY_HOSTVARS"),
        *("AWX_HOST", "PROJECT_REVISION", "SUPERVISOR_CONFIG_PATH"),
    )
)
_NOTHING: t.Final = object()
# Each setting of a notification: its type, and its default if it may be left out.
NOTIFICATIONS: t.Final[dict[str, dict[str, tuple[str, t.Any]]]] = {
    "webhook": {
        "url": ("string", _NOTHING),
        "http_method": ("string", "POST"),
        "disable_ssl_verification": ("bool", False),
        "username": ("string", ""),
        "password": ("password", ""),
        "headers": ("object", _NOTHING),
    },
    "slack": {"token": ("password", _NOTHING), "channels": ("list", _NOTHING)},
    "mattermost": {"mattermost_url": ("string", _NOTHING), "mattermost_no_verify_ssl": ("bool", _NOTHING)},
    "rocketchat": {"rocketchat_url": ("string", _NOTHING), "rocketchat_no_verify_ssl": ("bool", _NOTHING)},
    "grafana": {"grafana_url": ("string", _NOTHING), "grafana_key": ("password", _NOTHING)},
    "pagerduty": {
        "subdomain": ("string", _NOTHING),
        "token": ("password", _NOTHING),
        "service_key": ("string", _NOTHING),
        "client_name": ("string", _NOTHING),
    },
    "irc": {
        "server": ("string", _NOTHING),
        "port": ("int", _NOTHING),
        "nickname": ("string", _NOTHING),
        "password": ("password", _NOTHING),
        "use_ssl": ("bool", _NOTHING),
        "targets": ("list", _NOTHING),
    },
    "twilio": {
        "account_sid": ("string", _NOTHING),
        "account_token": ("password", _NOTHING),
        "from_number": ("string", _NOTHING),
        "to_numbers": ("list", _NOTHING),
    },
    "email": {
        "host": ("string", _NOTHING),
        "port": ("int", _NOTHING),
        "username": ("string", _NOTHING),
        "password": ("password", _NOTHING),
        "use_tls": ("bool", _NOTHING),
        "use_ssl": ("bool", _NOTHING),
        "sender": ("string", _NOTHING),
        "recipients": ("list", _NOTHING),
        "timeout": ("int", 30),
    },
    "awssns": {
        name: ("password" if name in ("aws_secret_access_key", "aws_session_token") else "string", "")
        for name in (
            *("aws_region", "aws_access_key_id", "aws_secret_access_key", "aws_session_token"),
            "sns_topic_arn",
        )
    },
}
_TYPES: t.Final = {
    "string": str,
    "int": int,
    "bool": bool,
    "list": list,
    "password": str,
    "object": dict,
}


def _schema(name: str, schema: Data, value: t.Any) -> None:
    found = [one.message for one in jsonschema.Draft4Validator(schema).iter_errors(value)]
    if found:
        raise RefusalError(**{name: found})


def credential_type(whole: Data) -> None:
    """Refuse a type of credentials as AWX does: its kind, its fields, and what its injectors refer to."""
    if whole["kind"] not in ("cloud", "net"):
        raise RefusalError(kind=[f"Must be 'cloud' or 'net', not {whole['kind']}"])
    _schema("inputs", INPUTS, whole["inputs"])
    fields = whole["inputs"].get("fields", [])
    seen: set[str] = set()
    for one in fields:
        if one.get("ask_at_runtime"):
            raise RefusalError(inputs=["'ask_at_runtime' is not supported for custom credentials."])
        if one["id"] == "tower":
            raise RefusalError(inputs=['"tower" is a reserved field name'])
        if one["id"] in seen:
            raise RefusalError(inputs=[f"field IDs must be unique ({one['id']})"])
        seen.add(one["id"])
        kind = one.get("type", "string")
        if "default" in one and not isinstance(one["default"], bool if kind == "boolean" else str):
            raise RefusalError(inputs=[f"{one['default']} is not a {kind}"])
        for key in ("choices", "multiline", "format", "secret"):
            if key in one and kind != "string":
                raise RefusalError(inputs=[f"{key} not allowed for {kind} type ({one['id']})"])
    _schema("injectors", INJECTORS, whole["injectors"])
    _injectors(whole["injectors"], seen)


def _injectors(given: Data, fields: set[str]) -> None:
    files = list(given.get("file", {}))
    if "template" in files and len(files) > 1:
        raise RefusalError(injectors=["Must use multi-file syntax when injecting multiple files"])
    filename: t.Any = _Container("Must define unnamed file injector in order to reference `tower.filename`.")
    if "template" in files:
        filename = "EXAMPLE_FILENAME"
    for name in files if "template" not in files else []:
        setattr(filename, name.partition(".")[2], "EXAMPLE_FILENAME")
    tower = _Container("Cannot directly reference reserved `tower` namespace container.")
    tower.filename = filename
    known = {**dict.fromkeys(fields, "EXAMPLE"), "tower": tower}
    for name in given.get("env", {}):
        if name.startswith("ANSIBLE_"):
            why = "may affect Ansible configuration so its use is not allowed in credentials."
            raise RefusalError(injectors=[f"Environment variable {name} {why}"])
        if name in KEPT:
            raise RefusalError(
                injectors=[f"Environment variable {name} is not allowed to be used in credentials."]
            )
    for key, value in {**given.get("file", {}), **given.get("env", {})}.items():
        _render(key, value, known)
    _extra_vars("", given.get("extra_vars", {}), known)


class _Container:
    """A namespace that a template may not use as text. message: what AWX says then."""

    def __init__(self, message: str) -> None:
        self._message = message

    filename: t.Any

    def __str__(self) -> str:
        raise jinja2.UndefinedError(self._message)


def _extra_vars(key: str, value: t.Any, known: Data) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            _render(key or "a key", name, known)
            _extra_vars(f"{key}.{name}" if key else name, inner, known)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _extra_vars(f"{key}[{number}]", inner, known)
    else:
        _render(key, value, known)


def _render(key: str, template: t.Any, known: Data) -> None:
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined)
    try:
        environment.from_string(str(template)).render(known)
    except jinja2.UndefinedError as exc:
        raise RefusalError(injectors=[f"{key} uses an undefined field ({exc})"]) from exc
    except jinja2.TemplateSyntaxError as exc:
        raise RefusalError(injectors=[f"Syntax error rendering template for {key} ({exc})"]) from exc


def inputs(fields: list[Data], given: Data) -> None:
    """Refuse inputs that the credential's type does not have, or that have another type there."""
    properties = copy.deepcopy({one["id"]: one for one in fields})
    for one in properties.values():
        one.setdefault("type", "string")
        one.pop("format", None)
        if one.get("choices"):
            one["enum"] = one["choices"]
    _schema("inputs", {"type": "object", "properties": properties, "additionalProperties": False}, given)


def notification(kind: str, given: Data) -> Data:
    """Return the configuration with AWX's defaults; refuse a missing key or another type."""
    if kind not in NOTIFICATIONS:
        raise RefusalError(notification_type=[f'"{kind}" is not a valid choice.'])
    found, errors = dict(given), []
    missing, odd = [], []
    for name, (form, default) in NOTIFICATIONS[kind].items():
        if name not in found and default is _NOTHING:
            missing.append(name)
            continue
        value: t.Any = found.setdefault(name, default)
        if type(value) is not _TYPES[form]:
            odd.append((name, form))
        elif form == "list" and not value:
            errors.append(f"No values specified for field '{name}'")
        elif name == "http_method" and str(value).lower() not in ("put", "post"):
            errors.append("HTTP method must be either 'POST' or 'PUT'.")
    if missing:
        errors.append(f"Missing required fields for Notification Configuration: {missing}.")
    errors += [f"Configuration field '{name}' incorrect type, expected {form}." for name, form in odd]
    if errors:
        # AWX answers with a list here, not with a mapping.
        raise RefusalError(__all__=errors)
    return found


def messages(given: t.Any) -> None:
    """Refuse messages of unknown events, or of another form."""
    if given is None:
        return
    if not isinstance(given, dict):
        raise RefusalError(messages=[f"Expected dict for 'messages' field, found {type(given)}"])
    for event, texts in given.items():
        if event not in ("started", "success", "error", "workflow_approval"):
            raise RefusalError(
                messages=[
                    f"Event '{event}' invalid, must be one of 'started', 'success', 'error', or "
                    "'workflow_approval'"
                ]
            )
        parts = (texts or {}).values() if event == "workflow_approval" else [texts]
        for one in parts:
            for name, text in (one or {}).items():
                if name not in ("message", "body"):
                    raise RefusalError(
                        messages=[f"Message type '{name}' invalid, must be either 'message' or 'body'"]
                    )
                if name == "message" and "\n" in str(text):
                    raise RefusalError(
                        messages=[f"Messages cannot contain newlines (found newline in {event} event)"]
                    )
