# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Options of special_resource that are the GPUCluster's own."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy.options import (
    plain,
    read,
)

_IMAGE: t.Final = """
gpu_cluster.{0}.repository          str   Registry and path of its image.
gpu_cluster.{0}.image               str   Name of its image.
gpu_cluster.{0}.version             str   Tag or digest of its image.
gpu_cluster.{0}.image_pull_policy   Always|IfNotPresent|Never  When its image is pulled.
gpu_cluster.{0}.image_pull_secrets  strs  Secrets in O(namespace) for its registry.
"""
TABLE: t.Final = read(
    """
gpu_cluster                         dict  What O(backend=dra) runs beside the driver.
gpu_cluster.dra_driver              dict  The DRA driver, which publishes GPUs as ResourceSlices.
gpu_cluster.dra_driver.feature_gates   map   Features of the DRA driver, name to boolean.
gpu_cluster.dra_driver.compute_domains bool  Whether domains of multi-node NVLink are offered, too; the operator's default is that they are.
gpu_cluster.dcgm                    dict  The Data Center GPU Manager as a service of its own; without it the exporter has one inside.
gpu_cluster.dcgm.enabled            bool  Whether the operator runs it.
gpu_cluster.dcgm_exporter           dict  The exporter of metrics.
gpu_cluster.dcgm_exporter.enabled   bool  Whether the operator runs it.
"""
    + "".join(_IMAGE.format(part) for part in ("dra_driver", "dcgm", "dcgm_exporter"))
)
OPTIONS: t.Final = plain(TABLE)
