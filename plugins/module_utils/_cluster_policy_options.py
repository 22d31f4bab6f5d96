# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Options of special_resource that are the ClusterPolicy's own."""

from __future__ import annotations

import typing as t

_BOOL: t.Final = {"type": "bool"}
_TEXT: t.Final = {"type": "str"}
_MAP: t.Final = {"type": "dict"}
_ENV: t.Final = {"type": "list", "elements": "dict"}


def _component(**more: t.Any) -> dict[str, t.Any]:
    """What every operand has, and what only this one has."""
    common = {"enabled": _BOOL, "repository": _TEXT, "image": _TEXT, "version": _TEXT, "env": _ENV, "resources": _MAP}
    return {"type": "dict", "options": {**common, **more}}


def _nested(**options: t.Any) -> dict[str, t.Any]:
    return {"type": "dict", "options": options}


OPTIONS: t.Final[dict[str, t.Any]] = {
    "driver": _component(
        kernel_module_type={"type": "str", "choices": ["auto", "open", "proprietary"]},
        use_precompiled=_BOOL,
        rdma=_nested(enabled=_BOOL, use_host_mofed=_BOOL),
        upgrade_policy=_MAP,
    ),
    "toolkit": _component(),
    "device_plugin": _component(config=_nested(name=_TEXT, default=_TEXT)),
    "dcgm": _component(),
    "dcgm_exporter": _component(config=_nested(name=_TEXT), service_monitor=_nested(enabled=_BOOL)),
    "gfd": _component(),
    "mig": _nested(strategy={"type": "str", "choices": ["none", "single", "mixed"]}),
    "mig_manager": _component(config=_nested(name=_TEXT, default=_TEXT)),
    "node_status_exporter": _component(),
    "cdi": _nested(enabled=_BOOL, default=_BOOL),
    "gds": _nested(enabled=_BOOL),
    "gdrcopy": _nested(enabled=_BOOL),
}
