"""What nfd-worker finds besides PCI devices."""

from __future__ import annotations

import pytest
from unit.sandbox.nfd.builders import node

from openshift_sandbox.stand_ins.nfd.hardware import cpu_of, has_numa, labels_of


@pytest.mark.parametrize(
    ("instance_type", "cpu", "numa", "flag"),
    [
        ("m6i.2xlarge", {"vendor_id": "Intel", "family": "6", "id": "106"}, False, "SHA"),
        ("g4dn.xlarge", {"vendor_id": "Intel", "family": "6", "id": "85"}, False, "AVX512VNNI"),
        ("g5.48xlarge", {"vendor_id": "AMD", "family": "23", "id": "49"}, True, "SHA"),
        ("p5.48xlarge", {"vendor_id": "Intel", "family": "6", "id": "143"}, True, "AMXTILE"),
    ],
)
def test_other_families_than_pci(instance_type: str, cpu: dict[str, str], numa: bool, flag: str) -> None:
    one = node("n", instance_type)
    assert cpu_of(one) == cpu
    assert has_numa(one) is numa
    found = labels_of(one)
    assert {f"cpu-cpuid.{flag}", "storage-nonrotationaldisk", "kernel-config.NO_HZ"} <= set(found)
    assert ("memory-numa" in found) is numa


def test_a_metal_node_has_the_whole_adapter() -> None:
    assert labels_of(node("n", "g4dn.metal"))["network-sriov.capable"] == "true"
    assert "network-sriov.capable" not in labels_of(node("n", "g4dn.xlarge"))
