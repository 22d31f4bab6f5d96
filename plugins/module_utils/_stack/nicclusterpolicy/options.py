# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a NicClusterPolicy."""

from __future__ import annotations

import typing as t

from ..clusterpolicy.options import read

OPTIONS: t.Final = read(
    """
nic_cluster_policy
  global
    repository str
    version str
    image_pull_secrets strs
  ofed_driver component
    env maps
    force_precompiled bool
    cert_config str
    repo_config str
    upgrade_policy map
    startup_probe map
    liveness_probe map
    readiness_probe map
  rdma_shared_device_plugin component
    use_cdi bool
    resources list
      name str required
      prefix str
      vendors strs
      device_ids strs
      drivers strs
      hca_max int =63
      if_names strs
      link_types strs
  sriov_device_plugin component
    use_cdi bool
    resources list
      name str required
      prefix str
      vendors strs
      device_ids strs
      drivers strs
      pf_names strs
      is_rdma bool
  nv_ipam component
    enable_webhook bool
  nic_feature_discovery component
  node_affinity map
node_traffic refuse|accept
""",
    {"component": "image str\nrepository str\nversion str"},
)
