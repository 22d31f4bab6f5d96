# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which labels GPU feature discovery asks for."""

from __future__ import annotations

from unit.sandbox.gpu_operator.builders import NAMESPACE, add_driver, add_operand, make

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.gpu_operator import feature_discovery
from openshift_sandbox.stand_ins.gpu_operator.feature_discovery import GpuFeatureDiscovery


class TestFeatureDiscovery:
    def test_labels(self) -> None:
        made_of = instance_types.instance_type("p4d.24xlarge")
        assert made_of is not None
        labels = feature_discovery.labels(made_of, "595.91.07")
        wanted = {
            "gpu.product": "NVIDIA-A100-SXM4-40GB",
            "gpu.count": "8",
            "gpu.memory": "40960",
            "gpu.family": "ampere",
            "mig.capable": "true",
        }
        wanted |= {
            "cuda.driver-version.full": "595.91.07",
            "cuda.driver-version.revision": "07",
            "gpu.compute.major": "8",
            "gpu.compute.minor": "0",
        }
        assert (
            wanted.items()
            <= {key.removeprefix("nvidia.com/"): value for key, value in labels.items()}.items()
        )

    def test_a_node_feature_with_the_version_that_runs(self) -> None:
        world = make(GpuFeatureDiscovery())
        add_driver(world, ready=True)
        add_operand(world, "gpu-feature-discovery", ready=True)
        world.settle()
        feature = world.api.get("NodeFeature", "nvidia-features-for-gpu-0", NAMESPACE)
        assert feature["metadata"]["labels"] == {"nfd.node.kubernetes.io/node-name": "gpu-0"}
        assert feature["spec"]["labels"]["nvidia.com/cuda.driver-version.full"] == "580.1"
