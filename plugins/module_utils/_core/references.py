# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The grammar of image references: a registry can have no other ones, and a kubelet pulls no other ones.

Source: distribution/reference, which the kubelet and registries use.
"""

from __future__ import annotations

import re
import typing as t

from .errors import InputError

_HOST: t.Final = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[A-Fa-f0-9:]+\])(?::[0-9]{1,5})?"
_PART: t.Final = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_PATH: t.Final = rf"{_PART}(?:/{_PART})*"
_TAG: t.Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_DIGEST: t.Final = r"sha256:[0-9a-f]{64}"
_REPOSITORY: t.Final = re.compile(rf"{_HOST}(?:/{_PATH})?")
_IMAGE: t.Final = re.compile(_PATH)
_VERSION: t.Final = re.compile(rf"{_TAG}|{_DIGEST}")
_WHOLE: t.Final = re.compile(rf"(?:{_HOST}/)?{_PATH}(?::{_TAG})?(?:@{_DIGEST})?")


def repository_fault(text: str) -> str:
    """Return why the text names no place of images, or "" if it is valid."""
    if "://" in text:
        return "has a scheme, and an image reference has none: write HOST[:PORT]/PATH"
    return "" if _REPOSITORY.fullmatch(text) else "is not HOST[:PORT]/PATH in lower-case letters and digits"


def image_fault(text: str) -> str:
    """Return why the text is no name of an image beside a repository and a version, or "" if it is valid."""
    if "@" in text or ":" in text:
        return "has a tag or a digest, which belongs into version"
    return "" if _IMAGE.fullmatch(text) else "is no name of an image in lower-case letters and digits"


def version_fault(text: str) -> str:
    """Return why the text is no tag and no digest, or "" if it is valid."""
    if text.startswith("sha256"):
        return "" if _VERSION.fullmatch(text) else "is no digest: sha256: and 64 hexadecimal digits"
    return "" if _VERSION.fullmatch(text) else "is no tag: letters, digits, '_', '.' and '-', at most 128"


def driver_version_fault(text: str) -> str:
    """Return the same for a driver, whose images have no leading `v`."""
    if re.match(r"[vV]\d", text):
        return f"begins with {text[0]}, and no image of a driver does: write {text[1:]}"
    return version_fault(text)


def reference_fault(text: str) -> str:
    """Return why the text is no whole image reference, or "" if it is valid."""
    if "://" in text:
        return "has a scheme, and an image reference has none: write HOST[:PORT]/PATH:TAG"
    return "" if _WHOLE.fullmatch(text) else "is no image reference: HOST[:PORT]/PATH:TAG or …@sha256:DIGEST"


def check(text: str | None, path: str, setting: str) -> None:
    """Raise InputError for a text that is no whole image reference; none at all is fine.

    path: of the option. setting: how the user sets it.
    """
    if text and (fault := reference_fault(text)):
        remedy = f"Set {setting} to an image such as registry.example.com/tools:1."
        raise InputError("INPUT-IMAGE", f"{path} {text!r} {fault}.", remedy)


def faults(values: t.Mapping[str, t.Any], *, is_driver: bool = False) -> dict[str, str]:
    """Return key -> what is wrong with it, of repository, image and version."""
    rules = {
        "repository": repository_fault,
        "image": image_fault,
        "version": driver_version_fault if is_driver else version_fault,
    }
    found = {key: rule(str(values[key])) for key, rule in rules.items() if values.get(key)}
    return {key: fault for key, fault in found.items() if fault}
