# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program that shares GPUs has read of its configuration, in annotations of its pod."""

from __future__ import annotations

import typing as t

from openshift_sandbox.stand_ins.gpu_operator.sharing import containers, geometry
from openshift_sandbox.stand_ins.gpu_operator.sharing.config import MPS, Config, ConfigError, read as parse
from openshift_sandbox.stand_ins.gpu_operator.sharing.geometry import Cut

Object = dict[str, t.Any]

KEY: t.Final = "sandbox.openshift/config-key"
TEXT: t.Final = "sandbox.openshift/config"


def key(pod: Object) -> str | None:
    """Return the key that config-manager has chosen; None before it has."""
    found = _annotations(pod).get(KEY)
    return None if found is None else str(found)


def text(pod: Object) -> str:
    """Return what the program has read."""
    return str(_annotations(pod).get(TEXT, ""))


def waits(pod: Object) -> bool:
    """Return whether the program waits for config-manager to choose."""
    return bool(containers.config_map(pod)) and key(pod) is None


def read(chosen: str, content: str) -> dict[str, str | None]:
    """Return the annotations of a pod whose program reads a content."""
    return {KEY: chosen, TEXT: content}


def config(pod: Object) -> Config:
    """Return the configuration of a program, or the empty one. Raises ConfigError."""
    return parse(text(pod))


def mig_strategy(pod: Object) -> str:
    """Return the strategy of MIG: that of the ClusterPolicy, else that of the configuration, else none.

    Raises ConfigError.
    """
    return (
        containers.env(pod, containers.main(pod), containers.STRATEGY) or config(pod).mig_strategy or "none"
    )


def problem(pod: Object, cuts: t.Sequence[Cut]) -> str:
    """Return why the program ends at once, or an empty text. cuts: how the GPUs of its node are cut."""
    try:
        found, strategy = config(pod), mig_strategy(pod)
        if containers.main(pod) == containers.PLUGIN:
            geometry.devices(cuts, strategy)
    except (ConfigError, geometry.GeometryError) as error:
        return str(error)
    if found.strategy != MPS:
        return ""
    if containers.main(pod) == containers.PLUGIN and strategy == "mixed":
        return "unable to validate flags: using --mig-strategy=mixed is not supported with MPS"
    if any(cut is not None for cut in cuts):
        return "MPS sharing is not supported for mig devices"
    return ""


def _annotations(pod: Object) -> dict[str, t.Any]:
    return pod["metadata"].get("annotations") or {}
