"""The tuning of one pool: which of its settings reboot nodes."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.options import (
    HugePages,
    Isolation,
    Tuning,
)


@pytest.mark.parametrize(
    ("settings", "reboots"),
    [
        ({"profile": "accelerator", "sysctl": {"vm.swappiness": "1"}, "defer": True}, False),
        ({"kernel_arguments": ("iommu=pt",)}, True),
        ({"isolate": Isolation()}, True),
        ({"huge_pages": (HugePages("1G", 1),)}, True),
        ({"topology": "none"}, True),
    ],
)
def test_what_reboots_nodes(settings: dict[str, t.Any], reboots: bool) -> None:
    assert Tuning("training", {}, **settings).reboots is reboots
