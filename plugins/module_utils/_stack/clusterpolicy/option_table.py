# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The options that are a ClusterPolicy's own: path, type and meaning, one a line.

Options, documentation and the spec's keys come from here.
"""

from __future__ import annotations

import typing as t

# component: `enabled`, resources and what an image has; sidecar: without resources; image: only that;
# map: as the API has it; a|b: one of these.
DRIVER: t.Final = (
    """
kernel_module_type                    auto|open|proprietary  Flavour of the kernel modules.
use_precompiled                       bool   Whether to use precompiled drivers. Each kernel needs an image.
rdma                                  dict   GPUDirect RDMA with C(nvidia-peermem). """
    "DMA-BUF with open modules does not need it."
    """
rdma.enabled                          bool   Whether to load C(nvidia-peermem).
rdma.use_host_mofed                   bool   Whether the NIC driver comes from the host.
upgrade_policy                        dict   How nodes get a new driver.
upgrade_policy.auto_upgrade           bool   Whether the operator replaces driver pods, node by node.
upgrade_policy.max_parallel_upgrades  int    Number of nodes at a time; 0 means no limit.
upgrade_policy.max_unavailable        str    Number or percentage of nodes that may be cordoned, """
    "for whatever reason."
    """
upgrade_policy.wait_for_completion    dict   Jobs that the upgrade of a node waits for.
upgrade_policy.wait_for_completion.pod_selector     str   Labels of the pods of these jobs.
upgrade_policy.wait_for_completion.timeout_seconds  int   How long to wait; 0 means without limit.
upgrade_policy.pod_deletion           dict   What to do with pods with GPUs.
upgrade_policy.pod_deletion.force            bool  Whether to delete pods without a controller too.
upgrade_policy.pod_deletion.timeout_seconds  int   How long to wait for the deletion.
upgrade_policy.pod_deletion.delete_empty_dir bool  Whether to delete pods with an emptyDir too.
upgrade_policy.drain                  dict   Whether and how to drain the whole node.
upgrade_policy.drain.enable           bool   Whether to drain the node.
upgrade_policy.drain.force            bool   Whether to delete pods without a controller too.
upgrade_policy.drain.pod_selector     str    Drains only pods with these labels.
upgrade_policy.drain.timeout_seconds  int    How long to wait for the drain.
upgrade_policy.drain.delete_empty_dir bool   Whether to delete pods with an emptyDir too.
cert_config                           dict   Certificates of package mirrors.
cert_config.name                      str    Name of the ConfigMap in O(namespace).
licensing_config                      dict   Licence of a vGPU driver.
licensing_config.secret_name          str    Name of the Secret in O(namespace). """
    "The module does not show its content."
    """
licensing_config.nls_enabled          bool   Whether to use the NVIDIA License System.
kernel_module_config                  dict   Parameters of the kernel modules.
kernel_module_config.name             str    Name of the ConfigMap in O(namespace).
secret_env                            str    Name of the Secret in O(namespace). """
    "Its keys become environment variables."
    """
startup_probe                         map    As in a container.
liveness_probe                        map    As in a container.
readiness_probe                       map    As in a container.
manager                               image  The driver manager, which unloads an old driver.
"""
)

POLICY_DRIVER: t.Final = (
    """
use_nvidia_driver_crd                 bool   Whether NVIDIADriver objects install the driver. """
    "Backend V(nvidiadriver) sets it."
    """
repo_config                           dict   Package repositories.
repo_config.config_map_name           str    Name of the ConfigMap in O(namespace).
virtual_topology                      dict   Topology of a vGPU host.
virtual_topology.config               str    Name of the ConfigMap in O(namespace).
"""
)

COMPONENTS: t.Final = (
    """
toolkit                               component  The container toolkit.
toolkit.install_dir                   str    Directory on the host.
device_plugin                         component  The device plugin.
device_plugin.config                  dict   ConfigMap with the configurations of the device plugin.
device_plugin.config.name             str    Name of the ConfigMap in O(namespace).
device_plugin.config.default          str    Key for nodes without their own label.
device_plugin.mps                     dict   Sharing by MPS.
device_plugin.mps.root                str    Directory on the host.
dcgm                                  component  The Data Center GPU Manager.
dcgm.host_port                        int    Port of the host on which its engine listens.
dcgm_exporter                         component  The metrics exporter.
dcgm_exporter.config                  dict   ConfigMap with the list of metrics.
dcgm_exporter.config.name             str    Name of the ConfigMap in O(namespace).
dcgm_exporter.service_monitor         dict   The ServiceMonitor of the exporter.
dcgm_exporter.service_monitor.enabled             bool  Whether to create a ServiceMonitor.
dcgm_exporter.service_monitor.interval            str   How often Prometheus scrapes the exporter.
dcgm_exporter.service_monitor.scrape_timeout      str   How long a scrape may take; """
    "GPU operator 26.7 and later."
    """
dcgm_exporter.service_monitor.honor_labels        bool  Whether labels of the metrics override """
    "those of the target."
    """
dcgm_exporter.service_monitor.additional_labels   map   Labels of the ServiceMonitor.
dcgm_exporter.service_monitor.relabelings         maps  Rules that change labels of the target.
dcgm_exporter.service                 dict   The Service of the exporter.
dcgm_exporter.service.type            str    Type of the Service.
dcgm_exporter.service.internal_traffic_policy     Cluster|Local  Endpoints that get the Service's """
    "traffic from inside the cluster."
    """
dcgm_exporter.hpc_job_mapping         dict   Adds jobs of a batch system to the metrics.
dcgm_exporter.hpc_job_mapping.enabled bool   Whether to add these jobs.
dcgm_exporter.hpc_job_mapping.directory           str   Directory with the mapping.
dcgm_exporter.annotations             map    Annotations of the exporter's pods; GPU operator 26.7 and later.
dcgm_exporter.pod_label_allowlist_regex           strs  Regular expressions of the pod labels in """
    "the metrics; GPU operator 26.7 and later."
    """
dcgm_exporter.host_pid                bool   Whether the exporter sees the processes of the host.
dcgm_exporter.enable_pod_labels       bool   Whether metrics have the labels of pods.
dcgm_exporter.enable_pod_uid          bool   Whether metrics have the uids of pods.
gfd                                   component  GPU feature discovery.
mig                                   dict   Partitioning of GPUs.
mig.strategy                          none|single|mixed  How nodes offer partitions of GPUs.
mig_manager                           component  The MIG manager.
mig_manager.config                    dict   ConfigMap with the geometries.
mig_manager.config.name               str    Name of the ConfigMap in O(namespace).
mig_manager.config.default            str    Geometry of nodes without their own label.
mig_manager.gpu_clients_config        dict   ConfigMap with the services of the host that use GPUs.
mig_manager.gpu_clients_config.name   str    Name of the ConfigMap in O(namespace).
node_status_exporter                  component  The exporter of the results of the validations.
validator                             image  The validator. It has environment variables for each validation.
validator.args                        strs   Arguments of its container.
validator.resources                   map    Requests and limits, as in a container.
validator.host_network                bool   Whether its pods use the host's network; """
    "GPU operator 26.7 and later."
    """
validator.plugin                      env    Validation of the device plugin.
validator.toolkit                     env    Validation of the toolkit.
validator.driver                      env    Validation of the driver.
validator.cuda                        env    Validation by a CUDA program.
validator.vfio_pci                    env    Validation of devices for virtual machines.
validator.vgpu_manager                env    Validation of the vGPU manager.
validator.vgpu_devices                env    Validation of vGPU devices.
cdi                                   dict   The container device interface.
cdi.enabled                           bool   Whether to use CDI.
cdi.default                           bool   Whether CDI is the default.
cdi.nri_plugin_enabled                bool   Whether a runtime plugin injects devices; """
    "GPU operator 26.7 and later."
    """
gds                                   sidecar    GPUDirect Storage.
gdrcopy                               sidecar    The GDRCopy driver.
sandbox_workloads                     dict   GPUs for virtual machines.
sandbox_workloads.enabled             bool   Whether nodes may run virtual machines with GPUs.
sandbox_workloads.default_workload    container|vm-passthrough|vm-vgpu  Kind of workload for nodes """
    "without their own label."
    """
sandbox_workloads.mode                kubevirt|kata  Kind of virtual machines; GPU operator 26.3 and later.
vgpu_manager                          component  The vGPU manager of the host.
vgpu_manager.driver_manager           image  Unloads an old driver.
vgpu_manager.kernel_module_config     dict   Parameters of its kernel modules.
vgpu_manager.kernel_module_config.name            str   Name of the ConfigMap in O(namespace).
vgpu_device_manager                   component  Creates vGPU devices.
vgpu_device_manager.config            dict   ConfigMap with the devices.
vgpu_device_manager.config.name       str    Name of the ConfigMap in O(namespace).
vgpu_device_manager.config.default    str    Key for nodes without their own label.
vfio_manager                          component  Gives whole GPUs to virtual machines.
vfio_manager.driver_manager           image  Unloads an old driver.
sandbox_device_plugin                 component  The device plugin for virtual machines.
kata_sandbox_device_plugin            component  The device plugin for Kata; GPU operator 26.3 and later.
kata_manager                          component  Creates runtime classes for Kata. """
    "GPU operator 26.7 and later ignores it."
    """
kata_manager.config                   dict   Runtime classes of Kata.
kata_manager.config.artifacts_dir     str    Directory on the host for their artifacts.
kata_manager.config.runtime_classes   maps   Runtime classes, each with C(name), C(nodeSelector) """
    "and C(artifacts) (C(url), C(pullSecret))."
    """
cc_manager                            component  The manager of confidential computing.
cc_manager.default_mode               on|off|devtools  Mode of nodes without their own label.
host_paths                            dict   Directories of the host.
host_paths.root_fs                    str    Root of the host's file system.
host_paths.driver_install_dir         str    Directory of the driver.
host_paths.kubelet_root_dir           str    Directory of the kubelet's files; GPU operator 26.7 and later.
operator                              dict   The operator itself.
operator.runtime_class                str    Name of the runtime class that the operator creates.
operator.use_ocp_driver_toolkit       bool   Whether to build drivers in OpenShift's Driver Toolkit.
operator.init_container               dict   First container of the operands.
operator.init_container.repository    str    Registry and path of the image.
operator.init_container.image         str    Name of the image.
operator.init_container.version       str    Tag or digest of the image.
operator.init_container.image_pull_policy         Always|IfNotPresent|Never  When nodes pull the image.
operator.init_container.image_pull_secrets        strs  Secrets in O(namespace) for the registry of the image.
operator.labels                       map    Labels of the objects that the operator creates.
operator.annotations                  map    Annotations of the objects that the operator creates.
operator.metrics                      dict   Metrics of the operator.
operator.metrics.service_monitor      dict   ServiceMonitor of the operator; GPU operator 26.7 and later.
operator.metrics.service_monitor.enabled          bool  Whether to create a ServiceMonitor.
operator.metrics.service_monitor.interval         str   How often Prometheus scrapes the operator.
operator.metrics.service_monitor.scrape_timeout   str   How long a scrape may take.
operator.metrics.service_monitor.honor_labels     bool  Whether labels of the metrics override """
    "those of the target."
    """
operator.metrics.service_monitor.additional_labels  map   Labels of the ServiceMonitor.
operator.metrics.service_monitor.relabelings      maps  Rules that change labels of the target.
daemonsets                            dict   Settings that all operands share. """
    "O(tolerations) is an option of its own."
    """
daemonsets.labels                     map    Labels of the operands' pods.
daemonsets.annotations                map    Annotations of the operands' pods.
daemonsets.priority_class_name        str    Priority class of the operands' pods.
daemonsets.pod_security_context       map    Security context of the operands' pods, as in a pod; """
    "GPU operator 26.7 and later."
    """
daemonsets.update_strategy            RollingUpdate|OnDelete  How DaemonSets update their pods.
daemonsets.rolling_update             dict   Settings for V(RollingUpdate).
daemonsets.rolling_update.max_unavailable         str   Number or percentage of nodes at a time.
"""
)
