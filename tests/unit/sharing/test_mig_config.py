# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The MIG manager's file: lines of this collection come and go, and those of others stay as they are."""

from __future__ import annotations

import typing as t

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import mig_config, mig_name

SEVEN: t.Final = [{"devices": "all", "mig-enabled": True, "mig-devices": {"1g.5gb": 7}}]
TWO: t.Final = [{"devices": "all", "mig-enabled": True, "mig-devices": {"3g.20gb": 2}}]
THEIRS: t.Final = """# Do not touch.
version: v1
mig-configs:
    team-x:  # four inches
      - devices: [0]
        mig-enabled: true
        mig-devices:
          "1g.5gb": 7
other: 1
"""


def test_the_name_follows_the_content() -> None:
    one, other = mig_name.name("a", SEVEN), mig_name.name("a", TWO)
    assert one != other
    assert mig_name.name("a", list(SEVEN)) == one
    assert mig_name.pool_prefix(one) == mig_name.prefix("a") == "gpu-a"
    assert mig_name.pool_prefix("all-1g.5gb") == ""
    assert mig_name.labels("a", SEVEN) == {"nvidia.com/mig.config": one}
    assert mig_name.labels("a", []) == {}


def test_a_file_of_our_own_has_the_usual_names_too() -> None:
    text = mig_config.written("", {"gpu-a-00000000": SEVEN}, "gpu-mig")
    found = yaml.safe_load(text)
    assert found["version"] == "v1"
    assert sorted(found["mig-configs"]) == ["all-disabled", "all-enabled", "gpu-a-00000000"]
    assert found["mig-configs"]["gpu-a-00000000"] == SEVEN
    assert mig_config.ours(text) == {"gpu-a-00000000": SEVEN}
    assert mig_config.theirs(text) == {"all-disabled", "all-enabled"}
    assert not mig_config.has_others(text)
    assert mig_config.written(text, mig_config.ours(text), "gpu-mig") == text


def test_a_file_of_others_keeps_every_line() -> None:
    text = mig_config.written(THEIRS, {"gpu-a-00000000": SEVEN}, "theirs")
    assert yaml.safe_load(text)["mig-configs"]["gpu-a-00000000"] == SEVEN
    assert yaml.safe_load(text)["mig-configs"]["team-x"][0]["devices"] == [0]
    assert mig_config.theirs(text) == {"team-x"}
    assert mig_config.has_others(text)
    assert mig_config.written(text, {}, "theirs") == THEIRS


def test_a_file_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(AcceleratorError) as raised:
        mig_config.written("{version: v1, mig-configs: {}}", {"gpu-a-00000000": SEVEN}, "theirs")
    assert raised.value.code == "GPU-MIG-FILE"
    assert "theirs" in raised.value.remedy
    assert mig_config.written("{version: v1}", {}, "theirs") == "{version: v1}"
