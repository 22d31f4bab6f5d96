# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What a node shows of its stages by the pods of an operator's DaemonSets."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._stack import stages
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.operands import Operand
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.stages import Stage


def of_component(found: Operand) -> str:
    """Of the GPU operator's operands."""
    return stages.OF_COMPONENT.get(found.component, stages.PLUGIN)


def seen(
    node: str,
    found: t.Sequence[Operand],
    absent: t.Mapping[str, t.Sequence[str]],
    stage_of: t.Callable[[Operand], str] = of_component,
) -> dict[str, Stage]:
    """Stage -> ready since its last pod was, or what is late. absent: stage -> components that no DaemonSet brings there."""
    shown: dict[str, Stage] = {}
    here: dict[str, list[Operand]] = {stage: [] for stage in absent}
    for one in found:
        here.setdefault(stage_of(one), []).append(one)
    for stage, own in here.items():
        late = [f"{node}: {one.component} {one.note}" for one in own if not one.ready]
        late += [f"{node}: no DaemonSet for {component}" for component in absent.get(stage, ())]
        if late:
            shown[stage] = Stage(
                stage,
                stages.WAITING,
                min((one.since for one in own if not one.ready and one.since), default=""),
                tuple(late),
            )
        else:
            shown[stage] = Stage(stage, since=max((one.since for one in own), default=""))
    return shown
