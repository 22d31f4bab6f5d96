"""What follows from the workload of a pool: its labels and its provider."""

from __future__ import annotations

from ansible_collections.accelerators.openshift.plugins.module_utils._virtualization import schema


def test_only_virtual_machines_have_labels() -> None:
    assert schema.node_labels("", {}) == schema.node_labels("container", {}) == {}
    assert schema.provider({}) == "operator"


def test_an_arm_node_needs_no_argument_for_its_iommu() -> None:
    class Candidate:
        arch = "arm64"

    pool = {
        "workload": "vm_passthrough",
        "resolved": [Candidate()],
        "virtual_machines": {"device": "10de:2342"},
    }
    assert schema.tuning(pool) == {}
