# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The options that are a ClusterPolicy's own: path, type and meaning, one a line. Options, documentation and the spec's keys come from here."""

from __future__ import annotations

import typing as t

# component: `enabled`, resources and what an image has; sidecar: without resources; image: only that; map: as the API has it; a|b: one of these.
DRIVER: t.Final = """
kernel_module_type                    auto|open|proprietary  Flavour of the kernel modules.
use_precompiled                       bool   Whether to use drivers that were compiled beforehand. There must be an image for each kernel.
rdma                                  dict   GPUDirect RDMA by C(nvidia-peermem); DMA-BUF with open modules needs none of it.
rdma.enabled                          bool   Whether to load C(nvidia-peermem).
rdma.use_host_mofed                   bool   Whether the NIC driver comes from the host.
upgrade_policy                        dict   How a new driver comes to the nodes.
upgrade_policy.auto_upgrade           bool   Whether the operator replaces driver pods, node by node.
upgrade_policy.max_parallel_upgrades  int    Nodes at a time; 0 is no limit.
upgrade_policy.max_unavailable        str    Number or percentage of nodes that may be cordoned, others' cordons included.
upgrade_policy.wait_for_completion    dict   Jobs that a node waits for.
upgrade_policy.wait_for_completion.pod_selector     str   Labels of their pods.
upgrade_policy.wait_for_completion.timeout_seconds  int   For how long; 0 is for ever.
upgrade_policy.pod_deletion           dict   What becomes of pods with GPUs.
upgrade_policy.pod_deletion.force            bool  Whether those that nobody makes again go, too.
upgrade_policy.pod_deletion.timeout_seconds  int   For how long to wait for them.
upgrade_policy.pod_deletion.delete_empty_dir bool  Whether those with an emptyDir go, too.
upgrade_policy.drain                  dict   Whether the whole node is emptied.
upgrade_policy.drain.enable           bool   Whether it is.
upgrade_policy.drain.force            bool   Whether pods that nobody makes again go, too.
upgrade_policy.drain.pod_selector     str    Only pods with these labels.
upgrade_policy.drain.timeout_seconds  int    For how long to wait.
upgrade_policy.drain.delete_empty_dir bool   Whether pods with an emptyDir go, too.
cert_config                           dict   Certificates of package mirrors.
cert_config.name                      str    ConfigMap in O(namespace).
licensing_config                      dict   Licence of a vGPU driver.
licensing_config.secret_name          str    Secret in O(namespace); its content is not shown.
licensing_config.nls_enabled          bool   Whether it is for the NVIDIA License System.
kernel_module_config                  dict   Parameters of the kernel modules.
kernel_module_config.name             str    ConfigMap in O(namespace).
secret_env                            str    Secret in O(namespace) whose keys become environment variables.
startup_probe                         map    As in a container.
liveness_probe                        map    As in a container.
readiness_probe                       map    As in a container.
manager                               image  The driver manager, which unloads an old driver.
"""

POLICY_DRIVER: t.Final = """
use_nvidia_driver_crd                 bool   Whether NVIDIADriver objects bring the driver; backend V(nvidiadriver) sets it.
repo_config                           dict   Package repositories.
repo_config.config_map_name           str    ConfigMap in O(namespace).
virtual_topology                      dict   Topology of a vGPU host.
virtual_topology.config               str    ConfigMap in O(namespace).
"""

COMPONENTS: t.Final = """
toolkit                               component  The container toolkit.
toolkit.install_dir                   str    Directory on the host.
device_plugin                         component  The device plugin.
device_plugin.config                  dict   ConfigMap with its configurations.
device_plugin.config.name             str    Its name, in O(namespace).
device_plugin.config.default          str    Key for nodes without a label of their own.
device_plugin.mps                     dict   Sharing by MPS.
device_plugin.mps.root                str    Directory on the host.
dcgm                                  component  The Data Center GPU Manager.
dcgm.host_port                        int    Port of the host that its engine listens on.
dcgm_exporter                         component  The exporter of metrics.
dcgm_exporter.config                  dict   ConfigMap with the list of metrics.
dcgm_exporter.config.name             str    Its name, in O(namespace).
dcgm_exporter.service_monitor         dict   The ServiceMonitor of the exporter.
dcgm_exporter.service_monitor.enabled             bool  Whether there is one.
dcgm_exporter.service_monitor.interval            str   How often it is scraped.
dcgm_exporter.service_monitor.scrape_timeout      str   For how long at most; GPU operator 26.7 and later.
dcgm_exporter.service_monitor.honor_labels        bool  Whether labels of the metrics win.
dcgm_exporter.service_monitor.additional_labels   map   Labels of the ServiceMonitor.
dcgm_exporter.service_monitor.relabelings         maps  Rules for its labels.
dcgm_exporter.service                 dict   The Service of the exporter.
dcgm_exporter.service.type            str    Its type.
dcgm_exporter.service.internal_traffic_policy     Cluster|Local  Where its traffic goes.
dcgm_exporter.hpc_job_mapping         dict   Jobs of a batch system in the metrics.
dcgm_exporter.hpc_job_mapping.enabled bool   Whether they are there.
dcgm_exporter.hpc_job_mapping.directory           str   Directory with the mapping.
dcgm_exporter.annotations             map    Annotations of its pods; GPU operator 26.7 and later.
dcgm_exporter.pod_label_allowlist_regex           strs  Which pods' labels metrics have; GPU operator 26.7 and later.
dcgm_exporter.host_pid                bool   Whether it sees the host's processes.
dcgm_exporter.enable_pod_labels       bool   Whether metrics have the pods' labels.
dcgm_exporter.enable_pod_uid          bool   Whether metrics have the pods' uids.
gfd                                   component  GPU feature discovery.
mig                                   dict   Partitioning of GPUs.
mig.strategy                          none|single|mixed  How partitions are offered.
mig_manager                           component  The MIG manager.
mig_manager.config                    dict   ConfigMap with the geometries.
mig_manager.config.name               str    Its name, in O(namespace).
mig_manager.config.default            str    Geometry of nodes without a label of their own.
mig_manager.gpu_clients_config        dict   ConfigMap with the host's services that hold GPUs.
mig_manager.gpu_clients_config.name   str    Its name, in O(namespace).
node_status_exporter                  component  The exporter of the validations' outcome.
validator                             image  The validator; it has an environment for each validation.
validator.args                        strs   Arguments of its container.
validator.resources                   map    Requests and limits, as in a container.
validator.host_network                bool   Whether its pods share the host's network; GPU operator 26.7 and later.
validator.plugin                      env    Validation of the device plugin.
validator.toolkit                     env    Validation of the toolkit.
validator.driver                      env    Validation of the driver.
validator.cuda                        env    Validation by a CUDA program.
validator.vfio_pci                    env    Validation of devices for virtual machines.
validator.vgpu_manager                env    Validation of the vGPU manager.
validator.vgpu_devices                env    Validation of vGPU devices.
cdi                                   dict   The container device interface.
cdi.enabled                           bool   Whether it is used.
cdi.default                           bool   Whether it is the default way.
cdi.nri_plugin_enabled                bool   Whether a plugin of the runtime injects devices; GPU operator 26.7 and later.
gds                                   sidecar    GPUDirect Storage.
gdrcopy                               sidecar    The GDRCopy driver.
sandbox_workloads                     dict   GPUs for virtual machines.
sandbox_workloads.enabled             bool   Whether nodes may have them.
sandbox_workloads.default_workload    container|vm-passthrough|vm-vgpu  What nodes without a label of their own are for.
sandbox_workloads.mode                kubevirt|kata  Which virtual machines; GPU operator 26.3 and later.
vgpu_manager                          component  The vGPU manager of the host.
vgpu_manager.driver_manager           image  Unloads an old driver.
vgpu_manager.kernel_module_config     dict   Parameters of its kernel modules.
vgpu_manager.kernel_module_config.name            str   ConfigMap in O(namespace).
vgpu_device_manager                   component  Makes vGPU devices.
vgpu_device_manager.config            dict   ConfigMap with the devices.
vgpu_device_manager.config.name       str    Its name, in O(namespace).
vgpu_device_manager.config.default    str    Key for nodes without a label of their own.
vfio_manager                          component  Gives whole GPUs to virtual machines.
vfio_manager.driver_manager           image  Unloads an old driver.
sandbox_device_plugin                 component  The device plugin for virtual machines.
kata_sandbox_device_plugin            component  The device plugin for Kata; GPU operator 26.3 and later.
kata_manager                          component  Makes runtime classes of Kata; GPU operator 26.7 and later ignore it.
kata_manager.config                   dict   Its runtime classes.
kata_manager.config.artifacts_dir     str    Directory on the host for what they are made of.
kata_manager.config.runtime_classes   maps   Each with C(name), C(nodeSelector) and C(artifacts) (C(url), C(pullSecret)).
cc_manager                            component  Confidential computing.
cc_manager.default_mode               on|off|devtools  Its mode on nodes without a label of their own.
host_paths                            dict   Directories of the host.
host_paths.root_fs                    str    Root of its file system.
host_paths.driver_install_dir         str    Where the driver is.
host_paths.kubelet_root_dir           str    Where the kubelet keeps its files; GPU operator 26.7 and later.
operator                              dict   The operator itself.
operator.runtime_class                str    The runtime class that it makes.
operator.use_ocp_driver_toolkit       bool   Whether drivers are built in OpenShift's Driver Toolkit.
operator.init_container               dict   First container of operands.
operator.init_container.repository    str    Registry and path of its image.
operator.init_container.image         str    Name of its image.
operator.init_container.version       str    Tag or digest of its image.
operator.init_container.image_pull_policy         Always|IfNotPresent|Never  When its image is pulled.
operator.init_container.image_pull_secrets        strs  Secrets in O(namespace) for its registry.
operator.labels                       map    Labels of what it makes.
operator.annotations                  map    Annotations of what it makes.
operator.metrics                      dict   Its own metrics.
operator.metrics.service_monitor      dict   Their ServiceMonitor; GPU operator 26.7 and later.
operator.metrics.service_monitor.enabled          bool  Whether there is one.
operator.metrics.service_monitor.interval         str   How often it is scraped.
operator.metrics.service_monitor.scrape_timeout   str   For how long at most.
operator.metrics.service_monitor.honor_labels     bool  Whether labels of the metrics win.
operator.metrics.service_monitor.additional_labels  map   Labels of the ServiceMonitor.
operator.metrics.service_monitor.relabelings      maps  Rules for its labels.
daemonsets                            dict   What all operands share. Tolerations have an option of their own.
daemonsets.labels                     map    Labels of their pods.
daemonsets.annotations                map    Annotations of their pods.
daemonsets.priority_class_name        str    Priority of their pods.
daemonsets.pod_security_context       map    Security of their pods, as in a pod; GPU operator 26.7 and later.
daemonsets.update_strategy            RollingUpdate|OnDelete  How they are updated.
daemonsets.rolling_update             dict   With RollingUpdate.
daemonsets.rolling_update.max_unavailable         str   Number or percentage of nodes at a time.
"""
