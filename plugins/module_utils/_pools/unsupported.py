# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Options that are understood and checked, but that nothing enacts yet: refused, never ignored."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Problems

Data = dict[str, t.Any]
_LATER: t.Final = {
    "tuning": "Remove it, and make the Tuned object with the module manifests.",
    "sharing": "Remove it: every GPU is offered whole.",
    "cdi": "Remove it: the operator's own default holds.",
    "upgrade_policy": "Remove it: the operator's own default holds.",
}


def refuse(pool: Data, path: str, problems: Problems) -> None:
    for key, remedy in _LATER.items():
        if pool.get(key) is not None:
            _refuse(f"{path}.{key}", remedy, problems)


def _refuse(path: str, remedy: str, problems: Problems) -> None:
    problems.add(
        "POOL-NOT-YET",
        path,
        "is valid, but this release does not enact it, and it is not ignored silently.",
        remedy,
    )
