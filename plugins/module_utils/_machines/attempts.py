# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What was asked of the provider for a pool, in words."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.candidates import Search

Data = dict[str, t.Any]


def described(attempt: Data) -> str:
    place = (
        f"{attempt['instance_type']} in {', '.join(attempt['zones'])}"
        if attempt["zones"]
        else attempt["instance_type"]
    )
    return f"{place}: {attempt['obtained']} of {attempt['wanted']} machines ({attempt['code']}): {attempt['message']}"


def nothing_left(pool: Data, search: Search, exc: NotReadyError, facts: Data) -> NotReadyError:
    """The failure of the whole search; with a single attempt, the provider's own."""
    if len(search.attempts) == 1:
        exc.facts.update(facts)
        return exc
    last = search.attempts[-1]
    lines = [described(one) for one in search.attempts]
    message = f"pool {pool['name']}: no candidate gave {pool['replicas']} machines. " + " ".join(lines)
    return NotReadyError(last["code"], message, exc.remedy, tuple(lines), facts=facts)
