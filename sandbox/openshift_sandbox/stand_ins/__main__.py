# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All stand-ins of a sandbox in one process: python -m openshift_sandbox.stand_ins --dir D."""

from __future__ import annotations

import argparse
import importlib
import logging
from pathlib import Path

from openshift_sandbox.stand_ins.core.loop import Reconciler, serve

MODULES = (
    "olm.bundle_unpack",
    "machine_api.machine_sets",
    "machine_api.machines",
    "clouds.bare_metal_hosts",
    "machine_api.node_certificates",
    "machine_api.nodelink",
    "machine_config.pools",
    "machine_config.daemon",
    "machine_config.boot_images",
    "machine_api.machine_health",
    "autoscaler.machine_autoscalers",
    "autoscaler.cluster_autoscaler",
    "nfd.operator",
    "nfd.master",
    "nfd.worker",
    "gpu_operator.operator",
    "gpu_operator.nvidia_driver",
    "gpu_operator.gpu_cluster",
    "gpu_operator.operand_pods",
    "gpu_operator.driver_upgrade",
    "gpu_operator.feature_discovery",
    "gpu_operator.mig",
    "gpu_operator.node",
    "gpu_operator.dra_node",
    "gpu_operator.logs",
    "gpu_operator.workloads",
    "network_operator.operator",
    "network_operator.node",
    "network_operator.driver_upgrade",
    "device_plugins.any_vendor",
    "device_plugins.fpga_operator",
    "kmm.operator",
    "kmm.worker",
    "kmm.dra",
    "kmm.preflight",
    "sro.operator",
    "people.taints",
    "people.edits",
    "people.quotas",
    "api_server.outage",
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
