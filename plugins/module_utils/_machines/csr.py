# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificate signing requests (CSRs) of kubelets: what they contain, which are pending, and whose they are.

A request is a Machine's only if requestor, signer, usages, subject and names are what its kubelet would ask
for. Anybody with the bootstrap credentials can ask in any name, so a request that fits no Machine is not
approved.
"""

from __future__ import annotations

import base64
import binascii
import importlib.util
import typing as t
from dataclasses import dataclass

from .._core.errors import InputError
from .._core.objects import KubeObject
from . import machine as machine_facts

if t.TYPE_CHECKING:
    from cryptography import x509

_BEGIN: t.Final = "-----BEGIN CERTIFICATE REQUEST-----"
_LONGEST: t.Final = 1 << 16
CLIENT: t.Final = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING: t.Final = "kubernetes.io/kubelet-serving"
_ACCOUNTS: t.Final = "system:serviceaccounts:openshift-machine-config-operator"
BOOTSTRAPPER: t.Final = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
_NODE: t.Final = "system:node:"
_NODES: t.Final = "system:nodes"
_NAMES: t.Final = ("Hostname", "InternalDNS", "ExternalDNS")
_USAGES: t.Final = {
    CLIENT: {"digital signature", "client auth"},
    SERVING: {"digital signature", "server auth"},
}
# With an RSA key a kubelet asks for this too.
_RSA: t.Final = {"key encipherment"}
# Seconds by which clocks may differ; machine-approver allows the same.
_SKEW: t.Final = 10.0


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


def require_package() -> None:
    """Raise InputError if the Python package that parses requests is not installed."""
    if not can_read():
        raise InputError("INPUT-PACKAGE", what="The option approve_csrs", package="cryptography")


def subject_of(request: str) -> Subject | None:
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


@dataclass(frozen=True)
class Request:
    """A judged certificate request. node: the requested name; empty if no kubelet asks."""

    name: str
    signer: str
    node: str
    is_pending: bool
    machine: str = ""

    @property
    def line(self) -> str:
        return f"certificate request {self.name} of {self.node or 'an unknown node'} is pending" + (
            "" if self.machine else " and matches no machine of the pool"
        )


def approval(request: t.Mapping[str, t.Any]) -> KubeObject:
    """Return the merge patch for the subresource approval.

    Its resourceVersion ensures that the request approved is the one that was checked.
    """
    condition = {
        "type": "Approved",
        "status": "True",
        "reason": "MachineOfPool",
        "message": "Approved by accelerators.openshift: it fits a machine of a pool.",
    }
    return {
        "metadata": {"resourceVersion": request["metadata"]["resourceVersion"]},
        "status": {"conditions": [condition]},
    }


def judge(request: t.Mapping[str, t.Any], machines: t.Iterable[KubeObject]) -> Request:
    """Return the request with the one Machine that it fits, if any. machines: of the pool only."""
    spec, name = request["spec"], str(request["metadata"]["name"])
    subject = subject_of(str(spec.get("request", "")))
    signer = str(spec.get("signerName", ""))
    node = (
        subject.common_name.removeprefix(_NODE)
        if subject and subject.common_name.startswith(_NODE) and signer in _USAGES
        else ""
    )
    is_pending = not (request.get("status") or {}).get("conditions")
    if not subject or not node or not _is_kubelets(spec, signer, subject):
        return Request(name, signer, node, is_pending)
    fits = _is_joining if signer == CLIENT else _is_serving
    found = [machine_facts.name(machine) for machine in machines if fits(request, subject, node, machine)]
    return Request(name, signer, node, is_pending, found[0] if len(found) == 1 else "")


def newest(
    requests: t.Iterable[t.Mapping[str, t.Any]], machines: t.Sequence[KubeObject]
) -> list[tuple[Request, KubeObject]]:
    """Return the pending requests with their objects.

    Of several for one Machine and signer only the newest counts: the kubelet waits for that one.
    """
    found: dict[tuple[str, str], tuple[Request, KubeObject]] = {}
    for request in sorted(
        requests,
        key=lambda each: (str(each["metadata"].get("creationTimestamp", "")), str(each["metadata"]["name"])),
    ):
        judged = judge(request, machines)
        if judged.is_pending and judged.signer in _USAGES:
            found[(judged.signer, judged.machine) if judged.machine else (judged.signer, judged.name)] = (
                judged,
                dict(request),
            )
    return list(found.values())


def _is_kubelets(spec: t.Mapping[str, t.Any], signer: str, subject: Subject) -> bool:
    """Return whether the request has what the requests of all kubelets have in common."""
    user, groups, usages = spec.get("username"), set(spec.get("groups") or []), set(spec.get("usages") or [])
    if usages - _RSA != _USAGES[signer] or subject.organizations != (_NODES,) or subject.has_other_names:
        return False
    if signer == CLIENT:
        return (
            user == BOOTSTRAPPER
            and {_ACCOUNTS, "system:serviceaccounts", "system:authenticated"} <= groups
            and not subject.names
            and not subject.addresses
        )
    return (
        user == subject.common_name
        and {_NODES, "system:authenticated"} <= groups
        and bool(subject.names or subject.addresses)
    )


def _is_joining(request: t.Mapping[str, t.Any], _subject: Subject, node: str, machine: KubeObject) -> bool:
    """Return whether the Machine has the node's name, an instance, no node, and an earlier creation time."""
    asked, made = (str(one["metadata"].get("creationTimestamp") or "") for one in (request, machine))
    is_younger = bool(asked and made) and machine_facts.moment(asked) >= machine_facts.moment(made) - _SKEW
    return (
        machine_facts.phase(machine) == "Provisioned"
        and not machine_facts.node_name(machine)
        and is_younger
        and node in _addresses(machine, _NAMES)
    )


def _is_serving(_request: t.Mapping[str, t.Any], subject: Subject, node: str, machine: KubeObject) -> bool:
    """Return whether the node is the Machine's, and so are all requested names and addresses."""
    is_its_node = machine_facts.node_name(machine) == node and machine_facts.phase(machine) in (
        "Provisioned",
        "Running",
    )
    every = _addresses(machine, (*_NAMES, "InternalIP", "ExternalIP"))
    return is_its_node and {*subject.names, *subject.addresses} <= every


def _addresses(machine: KubeObject, kinds: t.Container[str]) -> set[str]:
    return {
        str(one["address"])
        for one in (machine.get("status") or {}).get("addresses") or []
        if one.get("type") in kinds
    }
