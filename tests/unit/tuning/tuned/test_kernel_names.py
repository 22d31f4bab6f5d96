# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mistyped sysctls and kernel arguments are found, and no right one is taken for a mistyped one."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.profiles.shipped import SHIPPED
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.tuned import kernel_names


def test_the_settings_of_the_shipped_profiles_are_right() -> None:
    for profile in SHIPPED.values():
        for one in profile.settings:
            if one.section == "sysctl":
                assert kernel_names.near_sysctl(one.key) == ""
                assert kernel_names.taken(one.key, one.value) == ""
        for argument in profile.arguments:
            name, _equals, value = argument.text.partition("=")
            known = kernel_names.values(name)
            assert kernel_names.near_argument(name) == ""
            assert not known or value in known


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("net.core.rmem_maxx", "net.core.rmem_max"),
        ("vm.dirty_ration", "vm.dirty_ratio"),
        ("net.ipv4.tcp_timestamp", "net.ipv4.tcp_timestamps"),
        ("net.core.wmem_max", ""),
        ("net.ipv4.ip_early_demux", ""),
        ("net.ipv4.conf.all.rp_filter", ""),
        ("vm.something_new", ""),
    ],
)
def test_the_sysctl_that_is_meant(name: str, near: str) -> None:
    assert kernel_names.near_sysctl(name) == near


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("intel_iomu", "intel_iommu"),
        ("mitigation", "mitigations"),
        ("intel-iommu", ""),
        ("spectre_v2", ""),
        ("nosmt", ""),
        ("nvidia-drm.modeset", ""),
    ],
)
def test_the_kernel_argument_that_is_meant(name: str, near: str) -> None:
    assert kernel_names.near_argument(name) == near


@pytest.mark.parametrize(
    ("name", "value", "takes"),
    [
        ("vm.dirty_ratio", "101", "a whole number of 0 to 100"),
        ("vm.swappiness", "-1", "a whole number of 0 to 200"),
        ("net.ipv4.tcp_rmem", "4096 many 1", "whole numbers"),
        ("net.ipv4.tcp_rmem", "4096 87380 1", ""),
        ("kernel.sched_rt_runtime_us", "-1", ""),
        ("kernel.panic", "0x10", ""),
        ("net.core.default_qdisc", "fq", ""),
        ("net.ipv4.new_in_this_kernel", "some", ""),
    ],
)
def test_values_that_the_kernel_refuses(name: str, value: str, takes: str) -> None:
    assert kernel_names.taken(name, value) == takes
