# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this plugin util is for the collection's own plugins and can change without notice.
"""The texts of options that stand in tables (option_table.py): only the documentation needs them."""

from __future__ import annotations

import typing as t

Data = dict[str, t.Any]

# Options of each image and component, wherever they are.
_COMMON: t.Final = """
enabled  Whether the operator deploys the component.
repository  Registry and path of the image.
image  Name of the image.
version  Tag or digest of the image.
image_pull_policy  When nodes pull the image.
image_pull_secrets  Secrets in O(namespace) for the registry of the image.
env  Environment variables, as in a container.
args  Arguments of the container.
resources  Requests and limits, as in a container.
host_network  Whether the pods use the host's network; GPU operator 26.7 and later.
"""

_DRIVER: t.Final = """
kernel_module_type  Flavour of the kernel modules.
use_precompiled  Whether to use precompiled drivers. Each kernel needs an image.
rdma  GPUDirect RDMA with C(nvidia-peermem). DMA-BUF with open modules does not need it.
rdma.enabled  Whether to load C(nvidia-peermem).
rdma.use_host_mofed  Whether the NIC driver comes from the host.
upgrade_policy  How nodes get a new driver.
upgrade_policy.auto_upgrade  Whether the operator replaces driver pods, node by node.
upgrade_policy.max_parallel_upgrades  Number of nodes at a time; 0 means no limit.
upgrade_policy.max_unavailable  Number or percentage of nodes that may be cordoned, for whatever reason.
upgrade_policy.wait_for_completion  Jobs that the upgrade of a node waits for.
upgrade_policy.wait_for_completion.pod_selector  Labels of the pods of these jobs.
upgrade_policy.wait_for_completion.timeout_seconds  How long to wait; 0 means without limit.
upgrade_policy.pod_deletion  What to do with pods with GPUs.
upgrade_policy.pod_deletion.force  Whether to delete pods without a controller too.
upgrade_policy.pod_deletion.timeout_seconds  How long to wait for the deletion.
upgrade_policy.pod_deletion.delete_empty_dir  Whether to delete pods with an emptyDir too.
upgrade_policy.drain  Whether and how to drain the whole node.
upgrade_policy.drain.enable  Whether to drain the node.
upgrade_policy.drain.force  Whether to delete pods without a controller too.
upgrade_policy.drain.pod_selector  Drains only pods with these labels.
upgrade_policy.drain.timeout_seconds  How long to wait for the drain.
upgrade_policy.drain.delete_empty_dir  Whether to delete pods with an emptyDir too.
cert_config  Certificates of package mirrors.
cert_config.name  Name of the ConfigMap in O(namespace).
licensing_config  Licence of a vGPU driver.
licensing_config.secret_name  Name of the Secret in O(namespace). The module does not show its content.
licensing_config.nls_enabled  Whether to use the NVIDIA License System.
kernel_module_config  Parameters of the kernel modules.
kernel_module_config.name  Name of the ConfigMap in O(namespace).
secret_env  Name of the Secret in O(namespace). Its keys become environment variables.
startup_probe  As in a container.
liveness_probe  As in a container.
readiness_probe  As in a container.
manager  The driver manager, which unloads an old driver.
"""

_POLICY_DRIVER: t.Final = """
use_nvidia_driver_crd  Whether NVIDIADriver objects install the driver. Backend V(nvidiadriver) sets it.
repo_config  Package repositories.
repo_config.config_map_name  Name of the ConfigMap in O(namespace).
virtual_topology  Topology of a vGPU host.
virtual_topology.config  Name of the ConfigMap in O(namespace).
"""

_COMPONENTS: t.Final = """
toolkit  The container toolkit.
toolkit.install_dir  Directory on the host.
device_plugin  The device plugin.
device_plugin.config  ConfigMap with the configurations of the device plugin.
device_plugin.config.name  Name of the ConfigMap in O(namespace).
device_plugin.config.default  Key for nodes without their own label.
device_plugin.mps  Sharing by MPS.
device_plugin.mps.root  Directory on the host.
dcgm  The Data Center GPU Manager.
dcgm.host_port  Port of the host on which its engine listens.
dcgm_exporter  The metrics exporter.
dcgm_exporter.config  ConfigMap with the list of metrics.
dcgm_exporter.config.name  Name of the ConfigMap in O(namespace).
dcgm_exporter.service_monitor  The ServiceMonitor of the exporter.
dcgm_exporter.service_monitor.enabled  Whether to create a ServiceMonitor.
dcgm_exporter.service_monitor.interval  How often Prometheus scrapes the exporter.
dcgm_exporter.service_monitor.scrape_timeout  How long a scrape may take; GPU operator 26.7 and later.
dcgm_exporter.service_monitor.honor_labels  Whether labels of the metrics override those of the target.
dcgm_exporter.service_monitor.additional_labels  Labels of the ServiceMonitor.
dcgm_exporter.service_monitor.relabelings  Rules that change labels of the target.
dcgm_exporter.service  The Service of the exporter.
dcgm_exporter.service.type  Type of the Service.
dcgm_exporter.service.internal_traffic_policy  Endpoints that get the Service's traffic from inside the \
cluster.
dcgm_exporter.hpc_job_mapping  Adds jobs of a batch system to the metrics.
dcgm_exporter.hpc_job_mapping.enabled  Whether to add these jobs.
dcgm_exporter.hpc_job_mapping.directory  Directory with the mapping.
dcgm_exporter.annotations  Annotations of the exporter's pods; GPU operator 26.7 and later.
dcgm_exporter.pod_label_allowlist_regex  Regular expressions of the pod labels in the metrics; GPU operator \
26.7 and later.
dcgm_exporter.host_pid  Whether the exporter sees the processes of the host.
dcgm_exporter.enable_pod_labels  Whether metrics have the labels of pods.
dcgm_exporter.enable_pod_uid  Whether metrics have the uids of pods.
gfd  GPU feature discovery.
mig  Partitioning of GPUs.
mig.strategy  How nodes offer partitions of GPUs.
mig_manager  The MIG manager.
mig_manager.config  ConfigMap with the geometries.
mig_manager.config.name  Name of the ConfigMap in O(namespace).
mig_manager.config.default  Geometry of nodes without their own label.
mig_manager.gpu_clients_config  ConfigMap with the services of the host that use GPUs.
mig_manager.gpu_clients_config.name  Name of the ConfigMap in O(namespace).
node_status_exporter  The exporter of the results of the validations.
validator  The validator. It has environment variables for each validation.
validator.args  Arguments of its container.
validator.resources  Requests and limits, as in a container.
validator.host_network  Whether its pods use the host's network; GPU operator 26.7 and later.
validator.plugin  Validation of the device plugin.
validator.toolkit  Validation of the toolkit.
validator.driver  Validation of the driver.
validator.cuda  Validation by a CUDA program.
validator.vfio_pci  Validation of devices for virtual machines.
validator.vgpu_manager  Validation of the vGPU manager.
validator.vgpu_devices  Validation of vGPU devices.
cdi  The container device interface.
cdi.enabled  Whether to use CDI.
cdi.default  Whether CDI is the default.
cdi.nri_plugin_enabled  Whether a runtime plugin injects devices; GPU operator 26.7 and later.
gds  GPUDirect Storage.
gdrcopy  The GDRCopy driver.
sandbox_workloads  GPUs for virtual machines.
sandbox_workloads.enabled  Whether nodes may run virtual machines with GPUs.
sandbox_workloads.default_workload  Kind of workload for nodes without their own label.
sandbox_workloads.mode  Kind of virtual machines; GPU operator 26.3 and later.
vgpu_manager  The vGPU manager of the host.
vgpu_manager.driver_manager  Unloads an old driver.
vgpu_manager.kernel_module_config  Parameters of its kernel modules.
vgpu_manager.kernel_module_config.name  Name of the ConfigMap in O(namespace).
vgpu_device_manager  Creates vGPU devices.
vgpu_device_manager.config  ConfigMap with the devices.
vgpu_device_manager.config.name  Name of the ConfigMap in O(namespace).
vgpu_device_manager.config.default  Key for nodes without their own label.
vfio_manager  Gives whole GPUs to virtual machines.
vfio_manager.driver_manager  Unloads an old driver.
sandbox_device_plugin  The device plugin for virtual machines.
kata_sandbox_device_plugin  The device plugin for Kata; GPU operator 26.3 and later.
kata_manager  Creates runtime classes for Kata. GPU operator 26.7 and later ignores it.
kata_manager.config  Runtime classes of Kata.
kata_manager.config.artifacts_dir  Directory on the host for their artifacts.
kata_manager.config.runtime_classes  Runtime classes, each with C(name), C(nodeSelector) and C(artifacts) \
(C(url), C(pullSecret)).
cc_manager  The manager of confidential computing.
cc_manager.default_mode  Mode of nodes without their own label.
host_paths  Directories of the host.
host_paths.root_fs  Root of the host's file system.
host_paths.driver_install_dir  Directory of the driver.
host_paths.kubelet_root_dir  Directory of the kubelet's files; GPU operator 26.7 and later.
operator  The operator itself.
operator.runtime_class  Name of the runtime class that the operator creates.
operator.use_ocp_driver_toolkit  Whether to build drivers in OpenShift's Driver Toolkit.
operator.init_container  First container of the operands.
operator.init_container.repository  Registry and path of the image.
operator.init_container.image  Name of the image.
operator.init_container.version  Tag or digest of the image.
operator.init_container.image_pull_policy  When nodes pull the image.
operator.init_container.image_pull_secrets  Secrets in O(namespace) for the registry of the image.
operator.labels  Labels of the objects that the operator creates.
operator.annotations  Annotations of the objects that the operator creates.
operator.metrics  Metrics of the operator.
operator.metrics.service_monitor  ServiceMonitor of the operator; GPU operator 26.7 and later.
operator.metrics.service_monitor.enabled  Whether to create a ServiceMonitor.
operator.metrics.service_monitor.interval  How often Prometheus scrapes the operator.
operator.metrics.service_monitor.scrape_timeout  How long a scrape may take.
operator.metrics.service_monitor.honor_labels  Whether labels of the metrics override those of the target.
operator.metrics.service_monitor.additional_labels  Labels of the ServiceMonitor.
operator.metrics.service_monitor.relabelings  Rules that change labels of the target.
daemonsets  Settings that all operands share. O(tolerations) is an option of its own.
daemonsets.labels  Labels of the operands' pods.
daemonsets.annotations  Annotations of the operands' pods.
daemonsets.priority_class_name  Priority class of the operands' pods.
daemonsets.pod_security_context  Security context of the operands' pods, as in a pod; GPU operator 26.7 and \
later.
daemonsets.update_strategy  How DaemonSets update their pods.
daemonsets.rolling_update  Settings for V(RollingUpdate).
daemonsets.rolling_update.max_unavailable  Number or percentage of nodes at a time.
"""

_NVIDIA_DRIVER: t.Final = """
default  Whether it is for all nodes that no other NVIDIADriver selects. It has no selector then.
driver_type  Kind of driver. It cannot change later.
node_selector  Labels of the nodes. The default is the selector of the pool with this name.
priority_class_name  Priority class of the pods.
host_network  Whether the pods use the host's network.
labels  Labels of the pods.
annotations  Annotations of the pods.
repo_config  Package repositories.
repo_config.name  Name of the ConfigMap in O(namespace).
virtual_topology_config  Topology of a vGPU host.
virtual_topology_config.name  Name of the ConfigMap in O(namespace).
gds  GPUDirect Storage.
gdrcopy  The GDRCopy driver.
name  Name of the NVIDIADriver.
state  V(absent) deletes it if this collection created it. Its nodes have no driver then, unless another \
one selects them.
spec  Raw part of C(spec), merged last. Its keys are those of the API.
"""

_GPU_CLUSTER: t.Final = """
gpu_cluster  Components that O(backend=dra) runs beside the driver.
gpu_cluster.dra_driver  The DRA driver, which publishes GPUs as ResourceSlices.
gpu_cluster.dra_driver.feature_gates  Features of the DRA driver, each a name and a boolean.
gpu_cluster.dra_driver.compute_domains  Whether to offer domains of multi-node NVLink too. By default the \
operator offers them.
gpu_cluster.dcgm  The Data Center GPU Manager as a separate service. Without it, the exporter runs one inside.
gpu_cluster.dcgm.enabled  Whether the operator deploys it.
gpu_cluster.dcgm_exporter  The metrics exporter.
gpu_cluster.dcgm_exporter.enabled  Whether the operator deploys it.
"""


def _read(table: str, prefix: str = "") -> dict[str, t.Any]:
    """Return path -> text."""
    lines = (line.split(None, 1) for line in table.splitlines() if line)
    return {prefix + path: text for path, text in lines}


COMMON: t.Final = _read(_COMMON)
CLUSTER_POLICY: t.Final = {
    "driver": "The driver. Version, repository and image are given together or not at all.",
    **_read(_DRIVER + _POLICY_DRIVER, "driver."),
    **_read(_COMPONENTS),
    "driver_files": [
        "Files of the driver's pods: name -> content. The module makes ConfigMaps of them, and the driver "
        "names these.",
        "Another content is another ConfigMap, so the operator replaces the driver's pods. O(on_busy) "
        "decides about pods that end.",
    ],
    "driver_files.kernel_module_config": "Options of kernel modules, such as C(nvidia.conf).",
    "driver_files.repo_config": "Repositories of packages, such as C(local.repo).",
    "driver_files.cert_config": "Certificates of the repositories' servers.",
    "only_requested_gpus": [
        "Whether only pods that request GPUs get them. Without it, a container whose image or environment "
        "sets C(NVIDIA_VISIBLE_DEVICES) may see all GPUs of its node. Privileged containers still do.",
        "The toolkit restarts, and without CDI the device plugin too. O(on_busy) decides about pods that "
        "end.",
    ],
    "registry": [
        "Registry that mirrors the images of the driver and of every operand, such as "
        "V(mirror.example.com:5000/gpu).",
        "It takes the place of each image's host; the path below it, and tag or digest, stay. What an "
        "ImageDigestMirrorSet or ImageTagMirrorSet of the cluster covers is left as it is, since the nodes "
        "go to the mirror by themselves.",
    ],
}
NVIDIA_DRIVERS: t.Final = {
    "nvidia_drivers": [
        "NVIDIADriver objects, each with its own nodes. By default each of O(pools) has one, with the name "
        "of the pool.",
        "An option that an entry does not set comes from O(driver), then from the ClusterPolicy and the "
        "installed operator's example.",
    ],
    **_read(_NVIDIA_DRIVER + _DRIVER, "nvidia_drivers."),
}
GPU_CLUSTER: t.Final = _read(_GPU_CLUSTER)


def documented(
    options: t.Mapping[str, Data], texts: t.Mapping[str, t.Any], path: str = ""
) -> dict[str, Data]:
    """Return the options as DOCUMENTATION has them. texts: path of an option -> its description.

    Raise KeyError for an option without a text.
    """
    found: dict[str, Data] = {}
    for name, option in options.items():
        here = path + name
        shown = {key: value for key, value in option.items() if key not in ("no_log", "options")}
        found[name] = {**shown, "description": texts[here] if here in texts else COMMON[name]}
        if "options" in option:
            found[name]["suboptions"] = documented(option["options"], texts, f"{here}.")
    return found
