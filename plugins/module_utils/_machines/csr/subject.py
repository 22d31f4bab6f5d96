# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Contents of a certificate request: its subject and its alternative names."""

from __future__ import annotations

import base64
import binascii
import importlib.util
import typing as t
from dataclasses import dataclass

from ..._core.errors import InputError

if t.TYPE_CHECKING:
    from cryptography import x509

_BEGIN: t.Final = "-----BEGIN CERTIFICATE REQUEST-----"
_LONGEST: t.Final = 1 << 16


@dataclass(frozen=True)
class Subject:
    """Subject and names of a request. has_other_names: whether it has more, such as an e-mail address."""

    common_name: str
    organizations: tuple[str, ...]
    names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    has_other_names: bool = False


def can_read() -> bool:
    """Return whether the Python package that parses requests is installed."""
    return importlib.util.find_spec("cryptography") is not None


def require() -> None:
    """Raise InputError if the Python package that parses requests is not installed."""
    if not can_read():
        raise InputError(
            "INPUT-CRYPTOGRAPHY",
            "The option approve_csrs needs the Python package cryptography.",
            "pip install cryptography",
        )


def read(request: str) -> Subject | None:
    """Return the subject of a request (base64 PEM); None if it is invalid or the package is missing.

    The API server checked the signature before it stored the request.
    """
    # The package takes a tenth of a second to import, and few runs see a request.
    try:
        from cryptography import x509
    except ImportError:
        return None
    try:
        pem = base64.b64decode(request, validate=True).strip()
        # A second block, or text around the block, could show other readers another request.
        is_one = pem.startswith(_BEGIN.encode()) and pem.count(b"-----BEGIN") == 1
        if len(pem) > _LONGEST or not is_one:
            return None
        return _subject(x509.load_pem_x509_csr(pem))
    except (binascii.Error, ValueError, x509.DuplicateExtension, x509.UnsupportedGeneralNameType):
        return None


def _subject(request: x509.CertificateSigningRequest) -> Subject:
    from cryptography import x509

    common = _texts(request.subject, x509.NameOID.COMMON_NAME)
    organizations = _texts(request.subject, x509.NameOID.ORGANIZATION_NAME)
    try:
        found = request.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        names = tuple(found.get_values_for_type(x509.DNSName))
        addresses = tuple(str(one) for one in found.get_values_for_type(x509.IPAddress))
        alternatives = len(list(found))
    except x509.ExtensionNotFound:
        names, addresses, alternatives = (), (), 0
    others = (
        len(names) + len(addresses) < alternatives
        or len(common) + len(organizations) < len(list(request.subject))
        or len(common) != 1
    )
    return Subject(common[0] if common else "", organizations, names, addresses, others)


def _texts(name: x509.Name, kind: x509.ObjectIdentifier) -> tuple[str, ...]:
    return tuple(str(one.value) for one in name.get_attributes_for_oid(kind))
