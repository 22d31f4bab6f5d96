# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What a provider says when it makes no instance: stable codes, what to do, and whether asking elsewhere can help."""

from __future__ import annotations

import re
import typing as t

# The first that matches decides. The provider's own code comes first where its text carries one, words follow.
_TEXTS: t.Final = tuple(
    (code, re.compile(pattern, re.IGNORECASE))
    for code, pattern in (
        ("MACH-RESERVATION", r"reservationcapacityexceeded|capacity reservation|capacity block|capacityreservation\w*(expired|notfound|invalid)"),
        ("MACH-SUBNET", r"insufficientfreeaddressesinsubnet|subnet\w* (is full|has no free|does not have enough)|ip_space_exhausted|no more ip addresses"),
        ("MACH-FORBIDDEN", r"unauthorizedoperation|accessdenied|not authorized|authorizationfailed|forbidden|permission denied|required '.*' permission"),
        ("MACH-IMAGE", r"invalidamiid|\bami\b.*(not exist|not found)|image\w* .*(not found|does not exist|could not be found)|template .*not found"),
        ("MACH-USER-DATA", r"user ?data"),
        ("MACH-QUOTA", r"vcpu (capacity|limit)|limitexceeded|maxspotinstancecount|quota|exceed\w* .*limit|\blimit .*exceeded"),
        ("MACH-UNSUPPORTED", r"not supported in your requested availability zone|unsupported .*(zone|region)|not found in zone"),
        ("MACH-SPOT-PRICE", r"spotmaxpricetoolow|max\w* price .*(lower|below|too low)"),
        (
            "MACH-CAPACITY",
            r"insufficient\w*capacity|insufficient capacity|skunotavailable|zone_resource_pool_exhausted|allocationfailed"
            r"|do not have sufficient|out of (host )?capacity"
            r"|no valid host|no available (bare ?metal )?host|not enough resources|insufficient resources",
        ),
    )
)
OTHER: t.Final = "MACH-CONFIG"
# A limit of the account, a missing permission, a wrong image: no other zone of the same type does better.
WHOLE_CANDIDATE: t.Final = frozenset(("MACH-QUOTA", "MACH-FORBIDDEN", "MACH-IMAGE", "MACH-USER-DATA"))

_DELETE: t.Final = "then `oc delete machine -n {namespace} {name}` if it is still there."
_REMEDIES: t.Final = {
    "MACH-RESERVATION": "Look at the reservation: is it active, in this zone, for this instance type, with instances left? Else give the pool another market.",
    "MACH-SUBNET": "Free addresses in the zone's subnet, or use another zone.",
    "MACH-FORBIDDEN": f"Give the Machine API's cloud credentials the permission that the text names, {_DELETE}",
    "MACH-IMAGE": f"Correct image, or the image of the worker machine set that was copied, {_DELETE}",
    "MACH-USER-DATA": f"Look at the secret that userDataSecret of the machine set names, {_DELETE}",
    "MACH-QUOTA": f"Raise the account's limit with the provider (on AWS: Service Quotas, Running On-Demand G and VT, or P, instances), {_DELETE}",
    "MACH-UNSUPPORTED": "Use a zone that offers this instance type, or another type in the pool's candidates.",
    "MACH-SPOT-PRICE": "Raise market.max_price, or leave it out: the on-demand price is the highest.",
    "MACH-CAPACITY": "Use another zone or instance type in the pool's candidates, or a capacity reservation; or try again later.",
    OTHER: f"Correct what the provider's text names (instance type, zone, image), {_DELETE}",
}


def code_of(text: str) -> str:
    """The stable code of a provider's text."""
    return next((code for code, pattern in _TEXTS if pattern.search(text)), OTHER)


def remedy_of(code: str, namespace: str, name: str) -> str:
    return _REMEDIES[code].format(namespace=namespace, name=name)
