# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Refuse options that most platforms do not support: market, zones, disk."""

from __future__ import annotations

import typing as t

from .._core.input import Problems
from .platform import Paths, Wanted


def refuse_markets(wanted: Wanted, name: str, paths: Paths, problems: Problems) -> None:
    """Add a problem for a market other than on_demand, or a reservation. name: the platform's."""
    kind = wanted.market.get("type", "on_demand")
    if kind != "on_demand":
        problems.add("POOL-MARKET", f"{paths.market}.type", f"{name} has no market {kind}.", "Remove market.")
    elif wanted.market.get("reservation"):
        problems.add(
            "POOL-MARKET",
            f"{paths.market}.reservation",
            f"a machine of {name} cannot name a reservation.",
            "Remove market.",
        )


def refuse_zones(wanted: Wanted, why: str, remedy: str, paths: Paths, problems: Problems) -> None:
    """Add a problem if the candidate has zones."""
    if wanted.zones:
        problems.add("POOL-ZONE", f"{paths.candidate}.zones", why, remedy)


def refuse_disk(
    wanted: Wanted, known: t.Collection[str], name: str, paths: Paths, problems: Problems
) -> None:
    """Add a problem for each option of the disk that is not in C(known)."""
    for key in sorted(set(wanted.disk) - set(known)):
        can = f"Only {' and '.join(known)} can be set." if known else "Remove disk."
        problems.add(
            "POOL-DISK", f"{paths.disk}.{key}", f"a machine of {name} cannot say this of its disk.", can
        )
