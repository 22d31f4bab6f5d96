# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All stand-ins of a sandbox in one process: python -m openshift_sandbox.stand_ins --dir D."""

from __future__ import annotations

import argparse
import importlib
import logging
from pathlib import Path

from openshift_sandbox.stand_ins.loop import Reconciler, serve

MODULES = (
    "bundle_unpack",
    "machine_sets",
    "machines",
    "bare_metal_hosts",
    "node_certificates",
    "nodelink",
    "machine_config_pools",
    "machine_config_daemon",
    "boot_images",
    "machine_health",
    "machine_autoscalers",
    "cluster_autoscaler",
    "nfd_operator",
    "nfd_master",
    "nfd_worker",
    "gpu_operator",
    "gpu_nvidia_driver",
    "gpu_cluster",
    "gpu_operand_pods",
    "gpu_driver_upgrade",
    "gpu_feature_discovery",
    "gpu_mig",
    "gpu_node",
    "dra_node",
    "gpu_logs",
    "gpu_workloads",
    "network_operator",
    "nic_node",
    "nic_driver_upgrade",
    "device_plugins",
    "fpga_operator",
    "kmm_operator",
    "kmm_worker",
    "kmm_dra",
    "kmm_preflight",
    "sro_operator",
    "foreign_taints",
    "foreign_edits",
    "foreign_quotas",
    "api_outage",
)
"""In the order in which a change travels; each names its classes in RECONCILERS."""


def reconcilers() -> list[Reconciler]:
    found: list[Reconciler] = []
    for name in MODULES:
        module = importlib.import_module(f"openshift_sandbox.stand_ins.{name}")
        found += [make() for make in module.RECONCILERS]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m openshift_sandbox.stand_ins", description=__doc__)
    parser.add_argument("--dir", type=Path, required=True, help="directory of the sandbox")
    directory = parser.parse_args().dir.resolve()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("kopf").setLevel(logging.ERROR)  # it warns of every CRD that is yet to come
    serve(directory, reconcilers())


if __name__ == "__main__":
    main()
