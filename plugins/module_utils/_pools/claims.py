# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Pools whose GPUs pods claim as devices (backend dra): what does not go with that, and what a quota counts then."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.device_class import quota_key
from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.well_known import GPU, NVIDIA
from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Problems

Data = dict[str, t.Any]
BACKEND: t.Final = "dra"
_PREFIX: t.Final = "requests."


def check(pool: Data, path: str, problems: Problems) -> None:
    """Every option that only a device plugin enacts, by its own path."""
    for way in sorted(pool.get("sharing") or {}):
        message = (
            "is done by the operator's device plugin and MIG manager, which do not run with backend dra."
        )
        _refuse(f"{path}.sharing.{way}", message, "Remove it: pods claim whole GPUs.", problems)
    if pool.get("autoscale"):
        message = "the autoscaler counts nvidia.com/gpu, which no node offers with backend dra."
        _refuse(f"{path}.autoscale", message, "Set replicas instead.", problems)
    for name in (pool.get("existing") or {}).get("expected") or {}:
        if name.startswith(NVIDIA) and name != GPU:
            message = "is no whole GPU, and with backend dra pods claim whole GPUs."
            _refuse(
                f"{path}.existing.expected.{name}",
                message,
                f"Expect {GPU}, which counts the GPUs of a node.",
                problems,
            )
    for index, quota in enumerate(pool.get("quota") or []):
        for key in quota.get("hard") or {}:
            if key.startswith(f"{_PREFIX}nvidia.com/"):
                message = "counts what no pod requests: with backend dra GPUs are claimed."
                _refuse(
                    f"{path}.quota[{index}].hard.{key}",
                    message,
                    f"Write {quota_key()}, or give gpus.",
                    problems,
                )


def _refuse(path: str, message: str, remedy: str, problems: Problems) -> None:
    problems.add("POOL-DRA", path, message, f"{remedy} Or take another backend.")


def counted(quotas: t.Iterable[Data]) -> list[Data]:
    """The quotas with GPUs as claims ask for them; a class that is named beside `gpus` is the same limit and adds up."""
    return [quota | {"hard": _counted(quota["hard"])} for quota in quotas]


def _counted(hard: t.Mapping[str, str]) -> dict[str, str]:
    asked, found = _PREFIX + GPU, {key: number for key, number in hard.items() if key != _PREFIX + GPU}
    if asked in hard:
        found[quota_key()] = str(int(found.get(quota_key(), "0")) + int(hard[asked]))
    return dict(sorted(found.items()))
