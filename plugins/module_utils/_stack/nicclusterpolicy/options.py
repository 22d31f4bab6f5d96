# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a NicClusterPolicy."""

from __future__ import annotations

import typing as t

_TEXT: t.Final = {"type": "str"}
_BOOL: t.Final = {"type": "bool"}
_MAP: t.Final = {"type": "dict"}
_TEXTS: t.Final = {"type": "list", "elements": "str"}


def _component(**more: t.Any) -> dict[str, t.Any]:
    return {"type": "dict", "options": {"image": _TEXT, "repository": _TEXT, "version": _TEXT, **more}}


def _resources(**more: t.Any) -> dict[str, t.Any]:
    common = {
        "name": {"type": "str", "required": True},
        "prefix": _TEXT,
        "vendors": _TEXTS,
        "device_ids": _TEXTS,
        "drivers": _TEXTS,
    }
    return {"type": "list", "elements": "dict", "options": {**common, **more}}


OPTIONS: t.Final[dict[str, t.Any]] = {
    "nic_cluster_policy": {
        "type": "dict",
        "options": {
            "ofed_driver": _component(
                env={"type": "list", "elements": "dict"},
                force_precompiled=_BOOL,
                cert_config=_TEXT,
                repo_config=_TEXT,
                upgrade_policy=_MAP,
                startup_probe=_MAP,
                liveness_probe=_MAP,
                readiness_probe=_MAP,
            ),
            "rdma_shared_device_plugin": _component(
                use_cdi=_BOOL,
                resources=_resources(
                    hca_max={"type": "int", "default": 63}, if_names=_TEXTS, link_types=_TEXTS
                ),
            ),
            "sriov_device_plugin": _component(
                use_cdi=_BOOL, resources=_resources(pf_names=_TEXTS, is_rdma=_BOOL)
            ),
            "nv_ipam": _component(enable_webhook=_BOOL),
            "nic_feature_discovery": _component(),
            "node_affinity": _MAP,
        },
    }
}
