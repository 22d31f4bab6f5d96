# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of a quota that count devices of a DeviceClass, both ways."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue import device_quota


def test_the_key_of_whole_gpus() -> None:
    assert device_quota.quota_key() == "gpu.nvidia.com.deviceclass.resource.k8s.io/devices"


@pytest.mark.parametrize("name", ["gpu.nvidia.com", "mig.nvidia.com", "team-a"])
def test_a_key_names_its_device_class(name: str) -> None:
    assert device_quota.counted_by(device_quota.quota_key(name)) == name


@pytest.mark.parametrize("key", ["requests.nvidia.com/gpu", "pods", "a.storageclass.storage.k8s.io/requests"])
def test_other_keys_count_no_device_class(key: str) -> None:
    assert device_quota.counted_by(key) == ""
