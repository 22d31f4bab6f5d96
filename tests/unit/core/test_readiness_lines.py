"""Progress lines of many nodes: counts, each with an example."""

from __future__ import annotations

from ansible_collections.accelerators.openshift.plugins.module_utils._core import readiness


def test_few_lines_stay_as_they_are() -> None:
    lines = [f"Node gpu-{number}: the driver is not ready" for number in range(20)]
    assert list(readiness.short(lines).values()) == lines


def test_many_lines_are_counts_per_state_with_an_example_each() -> None:
    lines = [f"Node ip-10-0-{number}.internal: the driver is not ready" for number in range(400)]
    lines += [f"Node ip-10-1-{number}.internal: label pci is missing for {number} s" for number in range(99)]
    lines += ["machine set a: quota exceeded"]
    assert list(readiness.short(lines).values()) == [
        "400 such as: Node ip-10-0-0.internal: the driver is not ready",
        "99 such as: Node ip-10-1-0.internal: label pci is missing for 0 s",
        "machine set a: quota exceeded",
    ]


def test_a_state_keeps_its_key_while_its_number_changes() -> None:
    before = [f"Node n{number}: pending" for number in range(50)]
    assert readiness.short(before).keys() == readiness.short(before[5:]).keys() == {"Node * pending"}
