# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Notifications: the settings of each type, and the messages that replace those of AWX."""

from __future__ import annotations

import typing as t

Data = t.Mapping[str, t.Any]
Lines = t.Iterator[str]

# What may stand in place of a secret: AWX keeps the one that it has.
KEPT: t.Final = "$encrypted$"
_FORMS: t.Final[dict[str, tuple[type, ...]]] = {
    "text": (str,),
    "a secret": (str,),
    "a whole number": (int,),
    "true or false": (bool,),
    "a list": (list,),
    "a mapping": (dict,),
}
# The settings of each type; those in brackets may be left out.
TYPES: t.Final[dict[str, dict[str, str]]] = {
    "awssns": {
        "[aws_region]": "text",
        "[aws_access_key_id]": "text",
        "[aws_secret_access_key]": "a secret",
        "[aws_session_token]": "a secret",
        "[sns_topic_arn]": "text",
    },
    "email": {
        "host": "text",
        "port": "a whole number",
        "username": "text",
        "password": "a secret",
        "use_tls": "true or false",
        "use_ssl": "true or false",
        "sender": "text",
        "recipients": "a list",
        "[timeout]": "a whole number",
    },
    "grafana": {"grafana_url": "text", "grafana_key": "a secret"},
    "irc": {
        "server": "text",
        "port": "a whole number",
        "nickname": "text",
        "password": "a secret",
        "use_ssl": "true or false",
        "targets": "a list",
    },
    "mattermost": {"mattermost_url": "text", "mattermost_no_verify_ssl": "true or false"},
    "pagerduty": {
        "subdomain": "text",
        "token": "a secret",
        "service_key": "text",
        "client_name": "text",
    },
    "rocketchat": {"rocketchat_url": "text", "rocketchat_no_verify_ssl": "true or false"},
    "slack": {"token": "a secret", "channels": "a list"},
    "twilio": {
        "account_sid": "text",
        "account_token": "a secret",
        "from_number": "text",
        "to_numbers": "a list",
    },
    "webhook": {
        "url": "text",
        "[http_method]": "text",
        "[disable_ssl_verification]": "true or false",
        "[username]": "text",
        "[password]": "a secret",
        "headers": "a mapping",
    },
}
_EVENTS: t.Final = ("started", "success", "error")
_APPROVALS: t.Final = ("running", "approved", "timed_out", "denied")


def problems(entry: Data, path: str) -> Lines:
    """Yield why AWX would refuse the settings and the messages of a notification, each with its path."""
    kind, given = str(entry.get("notification_type")), entry.get("notification_configuration")
    if kind in TYPES and given is not None:
        yield from _settings(TYPES[kind], given, f"{path}.notification_configuration")
    for event, texts in (entry.get("messages") or {}).items():
        here = f"{path}.messages.{event}"
        if event == "workflow_approval":
            yield from _approvals(texts, here)
        elif event in _EVENTS:
            yield from _message(texts, here)
        else:
            yield f"{here}: is not one of {', '.join((*_EVENTS, 'workflow_approval'))}"


def _settings(known: Data, given: Data, path: str) -> Lines:
    for object_name, form in known.items():
        key = object_name.strip("[]")
        if key not in given:
            if key == object_name:
                how = f'; write {key}: "" and set it in AWX' if form == "a secret" else ""
                yield f"{path}.{key}: is missing{how}"
            continue
        value = given[key]
        # For AWX true is no number.
        if not isinstance(value, _FORMS[form]) or (isinstance(value, bool) and bool not in _FORMS[form]):
            yield f"{path}.{key}: has to be {form}, not {value!r}"
        elif form == "a list" and not value:
            yield f"{path}.{key}: has to name at least one"
        elif key == "http_method" and str(value).lower() not in ("put", "post"):
            yield f"{path}.{key}: {value} is not one of POST, PUT"


def _approvals(texts: t.Any, path: str) -> Lines:
    if not isinstance(texts, dict | None):
        yield f"{path}: has to be a mapping with {', '.join(_APPROVALS)}"
        return
    for event, inner in (texts or {}).items():
        if event in _APPROVALS:
            yield from _message(inner, f"{path}.{event}")
        else:
            yield f"{path}.{event}: is not one of {', '.join(_APPROVALS)}"


def _message(texts: t.Any, path: str) -> Lines:
    if not isinstance(texts, dict | None):
        yield f"{path}: has to be a mapping with message, body or both"
        return
    for key, text in (texts or {}).items():
        if key not in ("message", "body"):
            yield f"{path}.{key}: is not one of message, body"
        elif not isinstance(text, str | None):
            yield f"{path}.{key}: has to be text"
        elif key == "message" and "\n" in (text or ""):
            yield f"{path}.{key}: has to be one line"
