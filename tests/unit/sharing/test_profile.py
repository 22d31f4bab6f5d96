# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a profile is what the device plugin reads."""

from __future__ import annotations

import typing as t

import pytest
import yaml
from unit.sharing.builders import FOUR, MPS

from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import profile

SLICED: t.Final = {
    "version": "v1",
    "sharing": {
        "timeSlicing": {
            "renameByDefault": False,
            "failRequestsGreaterThanOne": True,
            "resources": [{"name": "nvidia.com/gpu", "replicas": 4}],
        }
    },
}


def test_time_slicing_refuses_a_pod_with_two_shares() -> None:
    assert yaml.safe_load(profile.text(FOUR)) == SLICED


def test_every_option_of_time_slicing() -> None:
    asked = {"replicas": 2, "rename": True, "fail_requests_greater_than_one": False}
    found = yaml.safe_load(profile.text({"time_slicing": asked}))["sharing"]["timeSlicing"]
    assert found == {
        "renameByDefault": True,
        "failRequestsGreaterThanOne": False,
        "resources": [{"name": "nvidia.com/gpu", "replicas": 2}],
    }


def test_mps_has_no_field_that_older_plugins_do_not_know() -> None:
    found = yaml.safe_load(profile.text(MPS))["sharing"]
    assert found == {
        "mps": {"renameByDefault": False, "resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}
    }


@pytest.mark.parametrize(
    ("sharing", "replicas", "resource", "labels"),
    [
        ({}, 1, "nvidia.com/gpu", {}),
        ({"mig": {"slices": 7}}, 1, "nvidia.com/gpu", {}),
        (FOUR, 4, "nvidia.com/gpu", {"nvidia.com/device-plugin.config": "gpu-a"}),
        (
            {"mps": {"replicas": 3, "rename": True}},
            3,
            "nvidia.com/gpu.shared",
            {"nvidia.com/device-plugin.config": "gpu-a"},
        ),
    ],
)
def test_what_a_node_offers_and_how_it_is_labelled(
    sharing: dict[str, t.Any], replicas: int, resource: str, labels: dict[str, str]
) -> None:
    assert profile.replicas(sharing) == replicas
    assert profile.resource(sharing) == resource
    assert profile.labels("a", sharing) == labels


def test_mps_lets_a_pod_have_two_shares_when_asked() -> None:
    asked = {"replicas": 4, "fail_requests_greater_than_one": False}
    found = yaml.safe_load(profile.text({"mps": asked}))["sharing"]["mps"]
    assert found["failRequestsGreaterThanOne"] is False
    refusing = {**asked, "fail_requests_greater_than_one": True}
    assert profile.text({"mps": refusing}) == profile.text(MPS)


SHARES: t.Final = "resources: [{name: nvidia.com/gpu, replicas: 4}]"


@pytest.mark.parametrize(
    "content",
    [
        profile.text(MPS),
        'version: v1\nsharing: \n  "mps": {}\n',
        f"version: v1\nsharing: {{mps: {{{SHARES}}}}}\n",
        f"{{version: v1, sharing: {{'mps': {{{SHARES}}}}}}}",
        '{"version": "v1", "sharing": {"mps": {"resources": [{"name": "nvidia.com/gpu", "replicas": 4}]}}}',
        '{\n  "sharing" : { "mps" :\n {"resources": []}}}',
        f"base: &mps {{{SHARES}}}\nsharing:\n  mps: *mps\n",
        f"sharing:\n  ? mps\n  : {{{SHARES}}}\n",
        f"sharing: {{timeSlicing: {{{SHARES}}}, MPS: {{{SHARES}}}}}",
        "sharing: {mps: [",
    ],
)
def test_mps_is_found_however_a_profile_is_written(content: str) -> None:
    assert profile.uses_mps(content)


@pytest.mark.parametrize(
    "content",
    [
        "",
        profile.text(FOUR),
        profile.WHOLE_TEXT,
        "sharing: {mps: null}",
        "# mps: {}\nsharing: {timeSlicing: {resources: []}}\n",
        "version: v1\nflags: {mps: true}\n",
        "flags:\n  note: |\n    mps: is not used\n",
        "- mps: {}",
        "sharing: {timeSlicing: [",
    ],
)
def test_a_word_elsewhere_is_no_mps(content: str) -> None:
    assert not profile.uses_mps(content)


def test_partitions_are_shared_under_their_own_names() -> None:
    sharing = {"mig": {"layout": {"1g.5gb": 7}}, "time_slicing": {"replicas": 3}}
    devices = {"nvidia.com/gpu": 1, "nvidia.com/mig-1g.5gb": 7}
    offers = {"nvidia.com/gpu": 3, "nvidia.com/mig-1g.5gb": 21}
    assert profile.shared(devices, sharing) == offers
    assert profile.once(offers, sharing) == devices
    renamed = {**sharing, "time_slicing": {"replicas": 3, "rename": True}}
    offers = {f"{name}.shared": number for name, number in offers.items()}
    assert profile.shared(devices, renamed) == offers
    assert profile.once(offers, renamed) == devices
    entries = "".join(f"    - name: {name}\n      replicas: 3\n" for name in sorted(devices))
    assert profile.text(sharing, sorted(devices)).endswith(f"    resources:\n{entries}")
    assert profile.offered({"nvidia.com/gpu": 8}, sharing) == {"nvidia.com/gpu": 8}
