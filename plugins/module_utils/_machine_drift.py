# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Between a live machine set and the wanted one: what must not be overwritten, and what differs."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._diff import covers
from ansible_collections.accelerators.openshift.plugins.module_utils._machine_reference import MachineError
from ansible_collections.accelerators.openshift.plugins.module_utils._machine_set import name_of, provider_of
from ansible_collections.accelerators.openshift.plugins.module_utils._ownership import owned
from ansible_collections.accelerators.openshift.plugins.module_utils._platforms import CHOSEN

Data = dict[str, t.Any]


def check(live: Data) -> None:
    """Raises when the live set is not ours to write."""
    if not owned(live):
        raise MachineError(
            "MACH-FOREIGN",
            f"The machine set {name_of(live)} exists and was not made by this collection.",
            "Give the pool another name, or delete the machine set.",
        )
    if authority := mirrored(live):
        raise MachineError(
            "MACH-MIRRORED",
            f"The machine set {name_of(live)} is a mirror: its spec.authoritativeAPI is {authority}, so what is written here is overwritten.",
            f"Change the {authority} object instead, or set spec.authoritativeAPI to MachineAPI.",
        )


def mirrored(live: Data) -> str:
    """The API that the set is written through, where that is not the Machine API."""
    authority = str(live["spec"].get("authoritativeAPI") or "MachineAPI")
    return "" if authority == "MachineAPI" else authority


def remark(live: Data, wanted: Data) -> str:
    """What only new machines will get; empty when there is nothing of the kind."""
    have, want = provider_of(live), provider_of(wanted)
    # What is false or empty is as good as absent: the API server writes some of it of itself.
    given_up = {key for key in set(CHOSEN) & set(have) - set(want) if have[key] or isinstance(have[key], dict)}
    changed = sorted(given_up | {key for key in want if not covers(have.get(key), want[key])})
    return f"Machine set {name_of(live)}: {', '.join(changed)} changed; the machines that exist keep what they have, new ones get it." if changed else ""
