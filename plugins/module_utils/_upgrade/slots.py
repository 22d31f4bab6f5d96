# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many nodes the operator's upgrade controller may begin with, and why it may begin with none."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject, name, number_of
from .._nodes.node import is_cordoned, is_ready
from .._stack import upgrade
from .targets import Target

_WAITING: t.Final = ("", "upgrade-done", "upgrade-required")
_DEFAULT: t.Final = "25%"


def why_no_slot(target: Target, nodes: t.Iterable[KubeObject]) -> str:
    """Return why the controller begins with no further node, or an empty text if it may begin.

    The controller counts running upgrades against maxParallelUpgrades, where 0 is no limit, and every node
    that is cordoned or not Ready against maxUnavailable.
    """
    ours = [node for node in nodes if name(node) in target.nodes]
    away = [name(node) for node in ours if is_cordoned(node) or not is_ready(node)]
    running = [name(node) for node in ours if upgrade.state(node) not in _WAITING]
    allowed = upgrade.scaled(target.rules.get("maxUnavailable", _DEFAULT), len(ours))
    parallel = int(target.rules.get("maxParallelUpgrades", 1))
    if len(away) >= allowed and not set(away) & set(running):
        shown = ", ".join(away[:5]) + (f" and {len(away) - 5} more" if len(away) > 5 else "")
        return (
            f"maxUnavailable allows {allowed} of {number_of(len(ours), 'node')} to be away, and {shown} "
            f"{'is' if len(away) == 1 else 'are'} cordoned or not Ready"
        )
    failed = [name(node) for node in ours if upgrade.state(node) == "upgrade-failed"]
    if parallel and len(running) >= parallel and len(failed) >= parallel:
        return f"maxParallelUpgrades is {parallel}, and the upgrade of {', '.join(failed[:5])} failed"
    return ""
