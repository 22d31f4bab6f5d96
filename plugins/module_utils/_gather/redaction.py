# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take secrets out of objects and logs. A bundle leaves the house, so what looks like a secret goes too."""

from __future__ import annotations

import re
import typing as t

from .._core import redact, secrets
from .._core.objects import KubeObject
from .._core.secrets import MASK

# Words for a secret, as the end of a key or of a name.
_WORDS: t.Final = (
    r"pass(?:word|wd|phrase)?|pwd|token|tok|secret|api[_.-]?key|(?:private|access|secret|account|license)[_.-]?key"
    r"(?:[_.-]?id)?|auth|credentials?|\.?docker(?:configjson|config|cfg)|(?:key|certificate|authority)-data"
)
_KEY: t.Final = re.compile(rf"(?:{_WORDS})$", re.IGNORECASE)
# Environment variables are more often secret than keys of objects.
_VARIABLE: t.Final = re.compile(rf"{_WORDS}|key|licen[cs]e|cred", re.IGNORECASE)
# A key in lines of its own; its begin or its end may be missing.
_PEM: t.Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]+-----(?:.*?-----END [A-Z0-9 ]+-----|.*)|^[\w+/=]+\s*-----END [A-Z0-9 ]+-----",
    re.DOTALL | re.MULTILINE,
)
# Every pattern below needs one of these. Most texts have none, which saves most of the time.
_SIGNS: t.Final = re.compile(
    r"pass|pwd|tok|secret|key|auth|cred|docker|-data|bearer|basic|nvapi|hf_|gh[oprsu]_|glpat|xox|akia|\$[256a]"
    r"|eyJ|sha256~|://|serial|[GM][PI][UG]-|-----|[A-Za-z0-9+/]{40}|[^ -~\n\t]",
    re.IGNORECASE,
)
# What to replace in every text; a name in front of a secret stays.
_PATTERNS: t.Final = tuple(
    (re.compile(pattern, re.IGNORECASE), to)
    for pattern, to in (
        (r"(authorization[\\\"']*\s*[:=]\s*[\\\"']*)[^\n\"'\\]+", rf"\1{MASK}"),
        (
            rf"((?:{_WORDS})[\\\"']*[ \t]*[:=][ \t]*)(?:\\?\"[^\"\n]*\"|'[^'\n]*'|[^\s,;}}{{\[\"']+)",
            rf"\1{MASK}",
        ),
        (r"(://)[^/\s@]+@", rf"\1{MASK}@"),
        (r"(\bbasic\s+)(?=\S*[\d=])[\w+/]{8,}=*", rf"\1{MASK}"),
        (rf"(\b(?:{_WORDS}|bearer)\s+(?:is\s+|was\s+)?)(?=\S*\d)[^\s,;]{{6,}}", rf"\1{MASK}"),
        (r"eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|sha256~[\w-]+", MASK),
        (r"\b(?:nvapi-|hf_|gh[oprsu]_|glpat-|xox[abp]-)[\w-]{8,}|\bAKIA[A-Z0-9]{16}\b", MASK),
        (r"\$(?:2[aby]|5|6|apr1)\$\S+", MASK),
    )
)
# A long run of base64, such as a key; a digest has no capital letter, and a path begins with a slash.
_BASE64: t.Final = re.compile(
    r"(?<![\w+/.-])(?!/)(?=[\w+/]*[a-z])(?=[\w+/]*[A-Z])(?=[\w+/]*\d)[A-Za-z0-9+/]{40,}={0,2}"
)
_DEVICE: t.Final = re.compile(r"\b(GPU|MIG)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_SERIAL: t.Final = re.compile(
    r"(serial(?:[ _-]?n(?:o|umber))?[\\\"']*\s*[:=]\s*[\\\"']*)[\w-]{4,}", re.IGNORECASE
)
_SERIAL_KEY: t.Final = re.compile(r"serial(?:[_-]?n(?:o|umber))?$|^(?:systemUUID|machineID)$", re.IGNORECASE)
# What is long and says nothing, in every object and in those of a kind.
_LEFT_OUT: t.Final = ("managedFields", "kubectl.kubernetes.io/last-applied-configuration", "alm-examples")
_LEFT_OUT_OF: t.Final[dict[str, tuple[str, ...]]] = {
    "ClusterServiceVersion": ("icon", "description", "customresourcedefinitions"),
    "InstallPlan": ("manifest", "properties"),
    "CatalogSource": ("icon",),
}


class Redactor:
    """What takes secrets out. A device has the same alias in all files. keeps_serials: no alias."""

    def __init__(self, keeps_serials: bool) -> None:
        self._keeps_serials = keeps_serials
        self._aliases: dict[str, str] = {}

    def __call__(self, live: KubeObject) -> KubeObject:
        """Return an object without secrets."""
        left_out = {*_LEFT_OUT, *_LEFT_OUT_OF.get(str(live.get("kind")), ())}
        return t.cast(KubeObject, self._value(live, "", left_out))

    def _value(self, value: t.Any, key: str, left_out: t.Collection[str]) -> t.Any:
        if isinstance(value, str):
            is_serial = not self._keeps_serials and _SERIAL_KEY.search(key)
            return MASK if value and (is_serial or _KEY.search(key)) else self.text(value)
        if isinstance(value, t.Mapping):
            found = {
                one: self._value(item, one, left_out) for one, item in value.items() if one not in left_out
            }
            is_secret = isinstance(value.get("value"), str) and _VARIABLE.search(str(value.get("name") or ""))
            return {**found, "value": MASK} if is_secret else found
        return [self._value(item, key, left_out) for item in value] if isinstance(value, list) else value

    def text(self, text: str, is_ours: bool = False) -> str:
        """Return a text without secrets and control characters.

        is_ours: in a sentence of this collection, a word that follows "token" is seldom one.
        """
        if not _SIGNS.search(text):
            return secrets.censor_text(text)
        text = self.without_keys(text)
        for pattern, to in _PATTERNS:
            text = pattern.sub(to, text)
        censor = secrets.censor_text if is_ours else secrets.censor_likely
        text = redact.clean(censor(_BASE64.sub(MASK, text)))
        if self._keeps_serials:
            return text
        return _DEVICE.sub(self._alias, _SERIAL.sub(r"\1(masked)", text))

    def without_keys(self, text: str) -> str:
        """Return a text without keys that go over several lines."""
        return _PEM.sub(MASK, text)

    def _alias(self, found: re.Match[str]) -> str:
        return self._aliases.setdefault(found[0].lower(), f"{found[1]}-(masked {len(self._aliases) + 1})")
