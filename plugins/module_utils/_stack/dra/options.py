# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The options of a GPUCluster."""

from __future__ import annotations

import typing as t

from ..clusterpolicy.options import plain, read

_IMAGE: t.Final = """
gpu_cluster.{0}.repository          str   Registry and path of the image.
gpu_cluster.{0}.image               str   Name of the image.
gpu_cluster.{0}.version             str   Tag or digest of the image.
gpu_cluster.{0}.image_pull_policy   Always|IfNotPresent|Never  When nodes pull the image.
gpu_cluster.{0}.image_pull_secrets  strs  Secrets in O(namespace) for the registry of the image.
"""
TABLE: t.Final = read(
    """
gpu_cluster                         dict  Components that O(backend=dra) runs beside the driver.
gpu_cluster.dra_driver              dict  The DRA driver, which publishes GPUs as ResourceSlices.
gpu_cluster.dra_driver.feature_gates   map   Features of the DRA driver, each a name and a boolean.
gpu_cluster.dra_driver.compute_domains bool  Whether to offer domains of multi-node NVLink too. """
    "By default the operator offers them."
    """
gpu_cluster.dcgm                    dict  The Data Center GPU Manager as a separate service. """
    "Without it, the exporter runs one inside."
    """
gpu_cluster.dcgm.enabled            bool  Whether the operator deploys it.
gpu_cluster.dcgm_exporter           dict  The metrics exporter.
gpu_cluster.dcgm_exporter.enabled   bool  Whether the operator deploys it.
""" + "".join(_IMAGE.format(part) for part in ("dra_driver", "dcgm", "dcgm_exporter"))
)
OPTIONS: t.Final = plain(TABLE)
