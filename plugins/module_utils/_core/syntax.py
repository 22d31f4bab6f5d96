# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of Kubernetes for names, and for keys and values of labels."""

from __future__ import annotations

import difflib
import re
import typing as t

_NAME: t.Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_VALUE: t.Final = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_KEY: t.Final = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_DEVICE: t.Final = re.compile(r"[0-9A-Fa-f]{4}:[0-9A-Fa-f]{4}")
LONGEST: t.Final = 63
_OF_KUBERNETES: t.Final = re.compile(r"cpu|memory|ephemeral-storage|pods|hugepages-\d+[KMG]i")
# First part of a name -> the domain of the vendor.
_DOMAINS: t.Final = {
    "nvidia": "nvidia.com",
    "amd": "amd.com",
    "intel": "gpu.intel.com",
    "habana": "habana.ai",
    "amazon": "aws.amazon.com",
}
# Device plugins that name their resources without a domain.
_NO_DOMAIN: t.Final = ("rdma", "smarter-devices")


def name_fault(text: str) -> str:
    """Return why the text is not a DNS label, or "" if it is valid."""
    if len(text) > LONGEST:
        return f"is {len(text)} characters long, {LONGEST} are allowed"
    return (
        ""
        if _NAME.fullmatch(text)
        else "must be lower-case letters, digits and '-', and begin and end with a letter or digit"
    )


def value_fault(text: str) -> str:
    """Return why the text is not a label value, or "" if it is valid."""
    if len(text) > LONGEST:
        return f"is {len(text)} characters long, {LONGEST} are allowed"
    if _VALUE.fullmatch(text):
        return ""
    return (
        "must be letters, digits, '-', '_' and '.', and begin and end with a letter or digit "
        "('/' is not allowed)"
    )


def key_fault(text: str) -> str:
    """Return why the text is not a key of a label or taint, or "" if it is valid."""
    prefix, slash, name = text.rpartition("/")
    if len(name) > LONGEST or len(prefix) > 253:
        return f"is too long: at most 253 characters before the '/' and {LONGEST} after it"
    if slash and not prefix:
        return "has nothing before the '/'"
    return "" if _KEY.fullmatch(text) else "must be NAME or DOMAIN/NAME"


def resource_fault(text: str) -> str:
    """Return why no node can offer a resource of this name, or "" if it is valid."""
    prefix, slash, name = text.partition("/")
    if not slash:
        is_known = _OF_KUBERNETES.fullmatch(text)
        return "" if is_known else "is no resource: devices are DOMAIN/NAME, such as nvidia.com/gpu"
    if fault := key_fault(text):
        return fault
    if "." in prefix:
        near = difflib.get_close_matches(prefix, _DOMAINS.values(), n=1, cutoff=0.88)
    elif prefix in _NO_DOMAIN:
        return ""
    else:
        near = [_DOMAINS[domain] for domain in difflib.get_close_matches(prefix, _DOMAINS, n=1, cutoff=0.75)]
    if near == [prefix]:
        return ""
    meant = f" (did you mean {near[0]}/{name}?)" if near else ""
    if "." in prefix:
        return f"has an unknown domain{meant}" if near else ""
    return f"has no domain before the '/'{meant}"


def device_fault(text: str) -> str:
    """Return why the text is no PCI id of a kind of device, or "" if it is valid."""
    return "" if _DEVICE.fullmatch(text) else "is not VENDOR:DEVICE in hexadecimal digits, such as 10de:2236"
