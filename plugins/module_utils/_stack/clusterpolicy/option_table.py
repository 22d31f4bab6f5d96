# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options that are a ClusterPolicy's own, one a line, under the option that has them: name and type.

Options and the spec's keys come from here; plugin_utils/_option_texts.py has a text for each.
"""

from __future__ import annotations

import typing as t

# Without a type: has the options below it. component: `enabled`, resources and what an image has; sidecar:
# without resources; image: only that; map: as the API has it; a|b: one of these.
DRIVER: t.Final = """
kernel_module_type auto|open|proprietary
use_precompiled bool
rdma
  enabled bool
  use_host_mofed bool
upgrade_policy
  auto_upgrade bool
  max_parallel_upgrades int
  max_unavailable str
  wait_for_completion
    pod_selector str
    timeout_seconds int
  pod_deletion
    force bool
    timeout_seconds int
    delete_empty_dir bool
  drain
    enable bool
    force bool
    pod_selector str
    timeout_seconds int
    delete_empty_dir bool
cert_config
  name str
licensing_config
  secret_name str
  nls_enabled bool
kernel_module_config
  name str
secret_env str
startup_probe map
liveness_probe map
readiness_probe map
manager image
"""

POLICY_DRIVER: t.Final = """
use_nvidia_driver_crd bool
repo_config
  config_map_name str
virtual_topology
  config str
"""

DRIVER_FILES: t.Final = """
driver_files
  kernel_module_config map
  repo_config map
  cert_config map
"""

COMPONENTS: t.Final = """
toolkit component
  install_dir str
device_plugin component
  config
    name str
    default str
  mps
    root str
dcgm component
  host_port int
dcgm_exporter component
  config
    name str
  service_monitor
    enabled bool
    interval str
    scrape_timeout str
    honor_labels bool
    additional_labels map
    relabelings maps
  service
    type str
    internal_traffic_policy Cluster|Local
  hpc_job_mapping
    enabled bool
    directory str
  annotations map
  pod_label_allowlist_regex strs
  host_pid bool
  enable_pod_labels bool
  enable_pod_uid bool
gfd component
mig
  strategy none|single|mixed
mig_manager component
  config
    name str
    default str
  gpu_clients_config
    name str
node_status_exporter component
validator image
  args strs
  resources map
  host_network bool
  plugin env
  toolkit env
  driver env
  cuda env
  vfio_pci env
  vgpu_manager env
  vgpu_devices env
cdi
  enabled bool
  default bool
  nri_plugin_enabled bool
gds sidecar
gdrcopy sidecar
sandbox_workloads
  enabled bool
  default_workload container|vm-passthrough|vm-vgpu
  mode kubevirt|kata
vgpu_manager component
  driver_manager image
  kernel_module_config
    name str
vgpu_device_manager component
  config
    name str
    default str
vfio_manager component
  driver_manager image
sandbox_device_plugin component
kata_sandbox_device_plugin component
kata_manager component
  config
    artifacts_dir str
    runtime_classes maps
cc_manager component
  default_mode on|off|devtools
host_paths
  root_fs str
  driver_install_dir str
  kubelet_root_dir str
operator
  runtime_class str
  use_ocp_driver_toolkit bool
  init_container
    repository str
    image str
    version str
    image_pull_policy Always|IfNotPresent|Never
    image_pull_secrets strs
  labels map
  annotations map
  metrics
    service_monitor
      enabled bool
      interval str
      scrape_timeout str
      honor_labels bool
      additional_labels map
      relabelings maps
daemonsets
  labels map
  annotations map
  priority_class_name str
  pod_security_context map
  update_strategy RollingUpdate|OnDelete
  rolling_update
    max_unavailable str
"""
