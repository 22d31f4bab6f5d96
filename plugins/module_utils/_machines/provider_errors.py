# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of cloud providers: their stable codes, and whether another zone can help."""

from __future__ import annotations

import re
import typing as t

CAPACITY: t.Final = "MACH-CAPACITY"
LOST: t.Final = "MACH-INSTANCE-LOST"
RECLAIMED: t.Final = "MACH-SPOT-RECLAIMED"
RESERVATION: t.Final = "MACH-RESERVATION"
HOST: t.Final = "MACH-HOST"
SILENT: t.Final = "MACH-SILENT"
OTHER: t.Final = "MACH-CONFIG"
# The first match counts. Patterns match plain words too, because some texts lack the provider's code.
_TEXTS: t.Final = tuple(
    (code, re.compile("|".join(patterns), re.IGNORECASE))
    for code, *patterns in (
        (
            RESERVATION,
            r"capacity ?reservation",
            "capacity block",
            "reservation does not (have|exist)",
            "specified reservation",
        ),
        (
            "MACH-SUBNET",
            "insufficientfreeaddressesinsubnet|not enough free addresses",
            r"subnet\w* (is full|has no free|does not have enough)|subnetisfull"
            r"|subnet .*not have enough capacity for",
            "ip_space_exhausted|ip space of .* is exhausted|no more ip addresses",
        ),
        (
            "MACH-FORBIDDEN",
            "unauthorized|accessdenied|authfailure|invalidclienttokenid|authorizationfailed|optinrequired"
            "|forbidden|permission "
            "denied",
            "not authorized|not have authorization|required '.*' permission|credentials secret",
        ),
        (
            "MACH-IMAGE",
            r"invalidamiid|\bami\b.*(not exist|not found)|imagenotfound",
            r"\bimage\w* .*(not found|does not exist|could not be found|cannot be found|is not available)"
            r"|find (the )?image|template .*not found",
        ),
        ("MACH-USER-DATA", "(user|custom) ?data"),
        (
            "MACH-TYPE",
            "for instancetype|provided for the vm size|instance type information for vmsize|find "
            "flavor|find instance profile",
        ),
        (
            "MACH-QUOTA",
            r"vcpu (capacity|limit)|limitexceeded|max ?spot ?instance ?count|quota|exceed\w* .*limit"
            r"|\blimit .*exceeded",
            "pendingverification|request for accessing resources in this region is being validated",
        ),
        (
            "MACH-UNSUPPORTED",
            "not supported in your requested availability zone|configuration is currently not "
            "supported|unsupported .*(zone|region)",
            r"not available in (the )?zone|not available in location .* for subscription"
            r"|machine ?type .*does not exist in zone|not found in zone",
            "find compute availability zone",
        ),
        (
            "MACH-SPOT-PRICE",
            "spotmaxpricetoolow",
            r"max\w* price .*(lower|below|too low)|spot request price .*lower",
        ),
        (HOST, "no available baremetalhost"),
        ("MACH-NO-GPU", "no available gpu"),
        (
            CAPACITY,
            r"insufficient\w*capacity|insufficient capacity|skunotavailable|allocationfailed"
            r"|overconstrained\w*allocation|zone_resource_pool_exhausted",
            "do not have sufficient|out of (host )?capacity|cannot_start_capacity|no host (has enough|is "
            "compatible)",
            "no valid host|not (have )?enough resources|insufficient resources|no spot capacity",
        ),
    )
)
# Codes of an instance that existed and is gone; the provider refused nothing.
GONE: t.Final = frozenset((LOST, RECLAIMED))
# Codes of faults that every zone shares, such as an account limit, a missing permission or a wrong image.
WHOLE_CANDIDATE: t.Final = frozenset(
    ("MACH-QUOTA", "MACH-FORBIDDEN", "MACH-IMAGE", "MACH-USER-DATA", "MACH-TYPE")
)


def code_of(text: str) -> str:
    """Return the stable code for a provider's text."""
    return next((code for code, pattern in _TEXTS if pattern.search(text)), OTHER)
