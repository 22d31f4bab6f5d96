# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Check the tuning of a pool against its profile, the kernel and the pool's machines."""

from __future__ import annotations

import typing as t

from .._core.input import Problems
from .._core.ownership import pool_label
from .._tuning import entries
from .._tuning.tuned import check
from . import tuning


def check_pool(pool: dict[str, t.Any], path: str, problems: Problems) -> None:
    """Add what TuneD, the kernel or the machines would not take. pool: described, its candidates resolved."""
    where = f"{path}.tuning"
    if not pool.get("tuning") or problems.at(where):
        return
    label = (pool.get("existing") or {}).get("node_selector") or pool_label(pool.get("name") or "")
    facts = tuning.facts(pool.get("resolved") or [])
    check.check(entries.tuning(pool.get("name") or "", label, pool["tuning"], where, facts), problems)
