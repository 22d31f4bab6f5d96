# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What a PKCS#10 request asks for: its subject and its alternative names.

Nothing that the collection needs brings a reader of X.509, so this one reads as much of DER as a kubelet writes, and refuses everything else. The API
server has checked the request's signature and form before it stored it.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import typing as t
from dataclasses import dataclass

Element = tuple[int, bytes]

_SEQUENCE, _SET, _OID, _OCTETS = 0x30, 0x31, 0x06, 0x04
_TEXTS: t.Final = {0x0C: "utf-8", 0x13: "ascii"}
_COMMON_NAME, _ORGANIZATION = bytes((0x55, 0x04, 0x03)), bytes((0x55, 0x04, 0x0A))
_EXTENSIONS: t.Final = bytes((0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x0E))
_ALTERNATIVES: t.Final = bytes((0x55, 0x1D, 0x11))
_ATTRIBUTES, _DNS, _ADDRESS = 0xA0, 0x82, 0x87
_BEGIN: t.Final = "-----BEGIN CERTIFICATE REQUEST-----"
_END: t.Final = "-----END CERTIFICATE REQUEST-----"
_LONGEST: t.Final = 1 << 16


@dataclass(frozen=True)
class Subject:
    """has_other_names: whether it asks for anything that is not read here, such as an e-mail address or another part of a name."""

    common_name: str
    organizations: tuple[str, ...]
    names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    has_other_names: bool = False


def read(request: str) -> Subject | None:
    """request: PEM in base64, as the API has it. None where it is not what a kubelet writes."""
    try:
        pem = base64.b64decode(request, validate=True).decode("ascii").strip()
        if (
            len(pem) > _LONGEST
            or not pem.startswith(_BEGIN)
            or not pem.endswith(_END)
            or pem.count(_BEGIN) != 1
        ):
            return None
        return _subject(base64.b64decode("".join(pem[len(_BEGIN) : -len(_END)].split()), validate=True))
    except (binascii.Error, ValueError, IndexError):
        return None


def _subject(der: bytes) -> Subject:
    (outer,) = _elements(der)
    body = _elements(_inside(_elements(_inside(outer, _SEQUENCE))[0], _SEQUENCE))
    names: list[tuple[bytes, str]] = []
    for part in _elements(_inside(body[1], _SEQUENCE)):
        for pair in _elements(_inside(part, _SET)):
            kind, value = _elements(_inside(pair, _SEQUENCE))
            names.append(
                (_inside(kind, _OID), value[1].decode(_TEXTS[value[0]]) if value[0] in _TEXTS else "")
            )
    common = [text for kind, text in names if kind == _COMMON_NAME]
    organizations = tuple(text for kind, text in names if kind == _ORGANIZATION)
    alternatives = _alternatives(body[3:])
    dns = tuple(value.decode("ascii") for tag, value in alternatives if tag == _DNS)
    addresses = tuple(str(ipaddress.ip_address(value)) for tag, value in alternatives if tag == _ADDRESS)
    others = (
        len(dns) + len(addresses) < len(alternatives)
        or len(common) + len(organizations) < len(names)
        or len(common) != 1
    )
    return Subject(common[0] if common else "", organizations, dns, addresses, others)


def _alternatives(attributes: t.Sequence[Element]) -> list[Element]:
    """The subject's alternative names, of all extensions that are asked for."""
    found: list[Element] = []
    for holder in attributes:
        for attribute in _elements(_inside(holder, _ATTRIBUTES)):
            kind, values = _elements(_inside(attribute, _SEQUENCE))
            if _inside(kind, _OID) != _EXTENSIONS:
                continue
            for extensions in _elements(_inside(values, _SET)):
                for extension in _elements(_inside(extensions, _SEQUENCE)):
                    parts = _elements(_inside(extension, _SEQUENCE))
                    if _inside(parts[0], _OID) == _ALTERNATIVES:
                        (names,) = _elements(_inside(parts[-1], _OCTETS))
                        found += _elements(_inside(names, _SEQUENCE))
    return found


def _inside(element: Element, tag: int) -> bytes:
    if element[0] != tag:
        raise ValueError(f"tag {element[0]:#x} instead of {tag:#x}")
    return element[1]


def _elements(der: bytes) -> list[Element]:
    """The elements that follow one another, each with its tag and contents."""
    found, at = [], 0
    while at < len(der):
        tag, length, at = der[at], der[at + 1], at + 2
        if length & 0x80:
            size = length & 0x7F
            if not 1 <= size <= 3:
                raise ValueError("no length")
            length, at = int.from_bytes(der[at : at + size], "big"), at + size
        if at + length > len(der):
            raise ValueError("cut off")
        found.append((tag, der[at : at + length]))
        at += length
    return found
