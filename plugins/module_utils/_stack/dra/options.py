# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a GPUCluster."""

from __future__ import annotations

import typing as t

from ..clusterpolicy.options import IMAGE, read

OPTIONS: t.Final = {
    "gpu_cluster": {
        "type": "dict",
        "options": {
            part: {"type": "dict", "options": read(own + IMAGE)}
            for part, own in (
                ("dra_driver", "feature_gates map\ncompute_domains bool"),
                ("dcgm", "enabled bool"),
                ("dcgm_exporter", "enabled bool"),
            )
        },
    }
}
