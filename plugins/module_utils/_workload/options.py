# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Options of the module gpu_workload."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.benchmarks.registry import (
    BENCHMARKS,
)

OPTIONS: t.Final[dict[str, t.Any]] = {
    "namespace": {"type": "str", "default": "gpu-validation"},
    "node_selector": {"type": "dict"},
    "tolerations": {"type": "list", "elements": "dict", "default": []},
    "resources": {"type": "dict"},
    "claims": {"type": "bool", "default": False},
    "benchmark": {"type": "str", "choices": sorted(BENCHMARKS), "default": "vectoradd"},
    "image": {"type": "str"},
    "hold": {"type": "int", "default": 3},
    "force": {"type": "bool", "default": False},
    "min_nodes": {"type": "int", "default": 1},
    "grace": {"type": "float", "default": 60},
}
