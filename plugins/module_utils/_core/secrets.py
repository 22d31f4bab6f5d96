# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remember the secrets that this process reads, and mask them in everything that is shown or returned."""

from __future__ import annotations

import re
import typing as t

MASK = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
_SHORTEST = 4
_seen: set[str] = set()
# What looks like a secret in the words of another program: a JWT, an OpenShift token, a value after a name.
_WHOLE: t.Final = r"eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|sha256~[\w-]+"
_LIKELY: t.Final = re.compile(
    rf"{_WHOLE}"
    r"|(?P<name>(?:token|password|passwd|secret|api[_-]?key|bearer|authorization)\w*[\"']?(?:\s*[=:]\s*|\s+))"
    r"(?:bearer\s+)?[^\s,;]+",
    re.IGNORECASE,
)
# The same in a log that is searched for known texts: words such as `secret x not found` stay.
_IN_LOG: t.Final = re.compile(
    rf"{_WHOLE}"
    r"|(?P<scheme>\b(?:bearer|basic)\s+)[\w.+/=~-]{8,}"
    r"|(?P<name>(?:token|password|passwd|api[_-]?key|authorization)[\"']?\s*[=:]\s*[\"']?)"
    r"(?!\s*(?:bearer|basic)\b)[^\s,;\"']+",
    re.IGNORECASE,
)


def register(*values: object) -> None:
    """Remember secrets. Ignore those with less than four characters: to mask them would garble every text."""
    for value in values:
        if isinstance(value, str) and len(value.strip()) >= _SHORTEST:
            _seen.add(value.strip())


def strings(value: object) -> set[str]:
    """Return every string inside a value of any shape."""
    if isinstance(value, t.Mapping):
        return set().union(*map(strings, value.values()))
    if isinstance(value, (list, tuple)):
        return set().union(*map(strings, value))
    return {value} if isinstance(value, str) else set()


def in_kubeconfig(kubeconfig: object) -> set[str]:
    """Return the secrets of a kubeconfig that is a dictionary: all strings of its users. A path has none."""
    if not isinstance(kubeconfig, t.Mapping):
        return set()
    users = kubeconfig.get("users") or ()
    return strings([entry.get("user") for entry in users if isinstance(entry, t.Mapping)])


def public_in_kubeconfig(kubeconfig: object) -> set[str]:
    """Return the strings of a kubeconfig that are not secret: Ansible would mask every "Config" in a text."""
    return strings(kubeconfig) - in_kubeconfig(kubeconfig)


def censor_text(text: str) -> str:
    """Return the text with every remembered secret masked."""
    for secret in sorted(_seen, key=len, reverse=True):
        if secret in text:
            text = text.replace(secret, MASK)
    return text


def censor_likely(text: str) -> str:
    """Return the words of another program with remembered secrets masked, and with what looks like one."""
    return _LIKELY.sub(lambda found: f"{found['name'] or ''}{MASK}", censor_text(text))


def censor_log(text: str) -> str:
    """Return a log with remembered secrets masked, and with values that say that they are one."""
    return _IN_LOG.sub(lambda found: f"{found['name'] or found['scheme'] or ''}{MASK}", censor_text(text))


def censor(value: t.Any) -> t.Any:
    """Return the value with every remembered secret masked, in keys too."""
    if not _seen:
        return value
    if isinstance(value, str):
        return censor_text(value)
    if isinstance(value, t.Mapping):
        return {censor(key): censor(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [censor(item) for item in value]
    return value
