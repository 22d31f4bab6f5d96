# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stand-in for the DRA driver publishes for a node, with whole GPUs and with partitions."""

from __future__ import annotations

import json
import typing as t

from openshift_sandbox.hardware import instance_types
from openshift_sandbox.stand_ins.gpu_operator import dra_node, output
from openshift_sandbox.stand_ins.gpu_operator.sharing import geometry


def devices(layout: list[dict[str, int] | None]) -> list[dict[str, t.Any]]:
    """Return the devices of a node of eight A100 whose first GPUs are partitioned so."""
    annotations = {geometry.LAYOUT: json.dumps(layout)}
    labels = {"node.kubernetes.io/instance-type": "p4d.24xlarge"}
    node = {"metadata": {"name": "gpu-a", "uid": "u", "annotations": annotations, "labels": labels}}
    made_of = instance_types.of_node(node)
    assert made_of is not None
    found: list[dict[str, t.Any]] = dra_node.resource_slice(node, made_of, 0)["spec"]["devices"]
    return found


def test_whole_gpus_are_published_with_their_memory() -> None:
    found = devices([])
    assert [one["name"] for one in found] == [f"gpu-{index}" for index in range(8)]
    assert found[0]["attributes"]["type"] == {"string": "gpu"}
    assert found[0]["capacity"]["memory"]["value"] == "40960Mi"


def test_the_parts_of_a_gpu_take_its_place() -> None:
    found = devices([{"1g.5gb": 2}])
    assert len(found) == 9
    assert "gpu-0" not in {one["name"] for one in found}
    part = found[1]["attributes"]
    assert (part["type"], part["profile"]) == ({"string": "mig"}, {"string": "1g.5gb"})
    assert part["parentUUID"] == {"string": output.device_uuid("gpu-a", 0)}
    # The UUID is the one that nvidia-smi prints in a container.
    assert part["uuid"] == {"string": output.part_uuid("gpu-a", "0:1g.5gb:1")}
