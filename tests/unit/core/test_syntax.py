# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names, and keys and values of labels, as the API server takes them."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core import syntax


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("gpu-0", ""),
        ("a" * 63, ""),
        ("a" * 64, "is 64 characters long, 63 are allowed"),
        ("GPU", "must be lower-case letters"),
        ("gpu-", "must be lower-case letters"),
        ("", "must be lower-case letters"),
    ],
)
def test_names(text: str, fault: str) -> None:
    found = syntax.name_fault(text)
    assert found.startswith(fault)
    assert bool(found) is bool(fault)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", ""),
        ("Tesla_T4.1", ""),
        ("a/b", "must be letters"),
        ("-a", "must be letters"),
        ("x" * 64, "is 64"),
    ],
)
def test_values(text: str, fault: str) -> None:
    found = syntax.value_fault(text)
    assert found.startswith(fault)
    assert bool(found) is bool(fault)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("team", ""),
        ("nvidia.com/gpu.product", ""),
        ("/gpu", "has nothing before the '/'"),
        ("nvidia.com/", "must be NAME or DOMAIN/NAME"),
        ("a/b/c", "must be NAME or DOMAIN/NAME"),
        (f"{'d' * 254}/a", "is too long"),
    ],
)
def test_keys(text: str, fault: str) -> None:
    found = syntax.key_fault(text)
    assert found.startswith(fault)
    assert bool(found) is bool(fault)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        *(
            (one, "")
            for one in ("nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "amd.com/gpu", "gpu.intel.com/i915")
        ),
        *(
            (one, "")
            for one in ("habana.ai/gaudi", "aws.amazon.com/neuron", "example.com/card", "rdma/rdma_a")
        ),
        *((one, "") for one in ("cpu", "memory", "ephemeral-storage", "pods", "hugepages-2Mi")),
        ("nvidia/gpu", "has no domain before the '/' (did you mean nvidia.com/gpu?)"),
        ("nvida/gpu", "has no domain before the '/' (did you mean nvidia.com/gpu?)"),
        ("amd/gpu", "has no domain before the '/' (did you mean amd.com/gpu?)"),
        ("cards/fast", "has no domain before the '/'"),
        ("nvida.com/gpu", "has an unknown domain (did you mean nvidia.com/gpu?)"),
        ("gpu", "is no resource: devices are DOMAIN/NAME, such as nvidia.com/gpu"),
        ("/gpu", "has nothing before the '/'"),
        ("nvidia.com/", "must be NAME or DOMAIN/NAME"),
        ("nvidia.com/gpu/1", "must be NAME or DOMAIN/NAME"),
        ("NVIDIA.com/gpu", "must be NAME or DOMAIN/NAME"),
    ],
)
def test_names_of_resources(text: str, fault: str) -> None:
    assert syntax.resource_fault(text) == fault
