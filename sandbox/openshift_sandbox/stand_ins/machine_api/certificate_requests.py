# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CertificateSigningRequests of kubelets.

What they ask for, for which node, and whether they are approved.
"""

from __future__ import annotations

import base64
import functools
import ipaddress
import typing as t

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from openshift_sandbox.stand_ins.core.conditions import find

Object = dict[str, t.Any]

API: t.Final = "certificates.k8s.io/v1"
CLIENT: t.Final = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING: t.Final = "kubernetes.io/kubelet-serving"
PREFIX: t.Final = "system:node:"
NODES: t.Final = "system:nodes"


def client_request(node: str) -> Object:
    """Return the request that a new kubelet sends with its bootstrap credentials."""
    return _manifest(CLIENT, ["digital signature", "client auth"], _signed(_builder(node)))


def serving_request(node: str, names: t.Sequence[str], addresses: t.Sequence[str]) -> Object:
    """Return the request that a kubelet sends once it has its client certificate."""
    alternatives: list[x509.GeneralName] = [x509.DNSName(name) for name in names]
    alternatives += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
    builder = _builder(node).add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    return _manifest(SERVING, ["digital signature", "server auth"], _signed(builder))


def node_of(request: Object) -> str | None:
    """Return the node of a kubelet's request; None for any other request."""
    if request["spec"]["signerName"] not in {CLIENT, SERVING}:
        return None
    name = _common_name(request["spec"]["request"])
    return name.removeprefix(PREFIX) if name.startswith(PREFIX) else None


def requested(requests: t.Sequence[Object], signer: str, node: str) -> list[Object]:
    """Return the requests of a node for a signer."""
    return [one for one in requests if one["spec"]["signerName"] == signer and node_of(one) == node]


def approved(request: Object) -> bool:
    """Return whether a request is approved."""
    return bool(find(request, "Approved"))


def pending(request: Object) -> bool:
    """Return whether nobody has approved or denied a request."""
    return not approved(request) and not find(request, "Denied")


def _manifest(signer: str, usages: list[str], pem: bytes) -> Object:
    spec = {"request": base64.b64encode(pem).decode(), "signerName": signer, "usages": usages}
    return {
        "apiVersion": API,
        "kind": "CertificateSigningRequest",
        "metadata": {"generateName": "csr-"},
        "spec": spec,
    }


def _builder(node: str) -> x509.CertificateSigningRequestBuilder:
    subject = [
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, NODES),
        x509.NameAttribute(NameOID.COMMON_NAME, f"{PREFIX}{node}"),
    ]
    return x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))


def _signed(builder: x509.CertificateSigningRequestBuilder) -> bytes:
    return builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()).public_bytes(
        serialization.Encoding.PEM
    )


@functools.lru_cache(maxsize=256)
def _common_name(request: str) -> str:
    try:
        subject = x509.load_pem_x509_csr(base64.b64decode(request)).subject
    except ValueError:
        return ""
    return next((str(one.value) for one in subject.get_attributes_for_oid(NameOID.COMMON_NAME)), "")
