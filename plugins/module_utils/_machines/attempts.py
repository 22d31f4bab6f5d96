# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a search over candidates says: its next step, its attempts, and the error of one that failed."""

from __future__ import annotations

import typing as t

from .._core.errors import NotReadyError
from .._pools.model import JsonObject, Pool
from .candidates import AGAIN, GIVE_UP, KEEP, NEXT, Search

SAID: t.Final = {
    AGAIN: "the pool tries its other zones",
    NEXT: "the pool tries its next candidate",
    KEEP: "the pool keeps the machines that it has",
    GIVE_UP: "no candidate is left",
}


def described(attempt: JsonObject) -> str:
    place = (
        f"{attempt['instance_type']} in {', '.join(attempt['zones'])}"
        if attempt["zones"]
        else attempt["instance_type"]
    )
    return (
        f"{place}: {attempt['obtained']} of {attempt['wanted']} machines ({attempt['code']}): "
        f"{attempt['message']}"
    )


def keep_short(exc: NotReadyError, search: Search) -> None:
    """Add to the error of a failed search that the pool keeps what it got, and how to give that back."""
    name, has = search.pool.name, search.obtained
    exc.message += (
        f" Pool {name} keeps the {has} of {search.pool.replicas} machines that it has: "
        f"min_replicas is {search.pool.min_replicas}."
    )
    exc.remedy = (
        f"Run `ansible-playbook playbooks/remove_pool.yml -e gpu_pool={name}` to give them back, or set "
        f"min_replicas: {has} in the pool to go on with them, or run again to ask for more. {exc.remedy}"
    )


def nothing_left(pool: Pool, search: Search, exc: NotReadyError, facts: JsonObject) -> NotReadyError:
    """Return the error that ends a failed search; after a single attempt, the provider's own error."""
    if len(search.attempts) == 1:
        exc.facts.update(facts)
        return exc
    last = search.attempts[-1]
    lines = [described(attempt) for attempt in search.attempts]
    message = f"pool {pool.name}: no candidate supplied {pool.replicas} machines. " + " ".join(lines)
    return NotReadyError(last["code"], message, exc.remedy, tuple(lines), facts=facts)
