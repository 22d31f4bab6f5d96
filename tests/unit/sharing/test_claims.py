# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared claims: what is refused, the object, and what differs from it."""

from __future__ import annotations

import re
import typing as t

import pytest
from unit.sharing.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._catalogue.gpus import GPUS
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing import claims, options
from ansible_collections.accelerators.openshift.plugins.module_utils._sharing.claims import Devices
from openshift_sandbox.hardware.gpus import GPUS as PRODUCTS

ONE: t.Final = {"name": "shared-gpu", "namespace": "team-a"}
PART: t.Final = {**ONE, "device_class": "mig.nvidia.com", "profile": "1g.5gb"}


@pytest.mark.parametrize(
    ("entries", "code", "path"),
    [
        ([], "POOL-EMPTY", ""),
        ({"name": "a"}, "POOL-TYPE", ""),
        ([{"name": "a"}], "POOL-REQUIRED", "[0].namespace"),
        ([{"namespace": "team-a"}], "POOL-REQUIRED", "[0].name"),
        ([{**ONE, "name": "Shared"}], "POOL-VALUE", "[0].name"),
        ([{**ONE, "counts": 2}], "POOL-UNKNOWN-KEY", "[0].counts"),
        ([{**ONE, "count": 0}], "POOL-VALUE", "[0].count"),
        ([{**ONE, "count": 33}], "POOL-VALUE", "[0].count"),
        ([{**ONE, "count": "two"}], "POOL-TYPE", "[0].count"),
        ([{**ONE, "namespace": "openshift-nfd"}], "POOL-VALUE", "[0].namespace"),
        ([{**ONE, "device_class": "vfio.gpu.nvidia.com"}], "POOL-VALUE", "[0].device_class"),
        ([{**ONE, "device_class": "mig.nvidia.com"}], "POOL-REQUIRED", "[0].profile"),
        ([{**ONE, "profile": "1g.5gb"}], "POOL-CONFLICT", "[0].profile"),
        ([{**PART, "profile": "small"}], "POOL-VALUE", "[0].profile"),
        ([{**ONE, "models": ['A100"']}], "POOL-VALUE", "[0].models[0]"),
        ([ONE, {**ONE, "count": 2}], "POOL-DUPLICATE", "[1].name"),
    ],
)
def test_bad_claims_are_refused_with_their_path(entries: t.Any, code: str, path: str) -> None:
    with pytest.raises(InputError) as raised:
        options.read(params(("a", {"claims": entries}))["pools"], claims_devices=True)
    assert raised.value.code == code
    assert raised.value.message.startswith(f"pools[0].sharing.claims{path}: ")
    assert raised.value.remedy


@pytest.mark.parametrize(
    ("sharing", "claims_devices", "code", "path"),
    [
        ({"claims": [ONE]}, False, "POOL-NO-DRA", "pools[0].sharing.claims"),
        ({"time_slicing": {"replicas": 4}}, True, "POOL-DRA", "pools[0].sharing.time_slicing"),
        ({"mig": {"profile": "1g.5gb"}}, True, "POOL-DRA", "pools[0].sharing.mig"),
    ],
)
def test_a_way_of_the_other_stack_is_refused(
    sharing: t.Any, claims_devices: bool, code: str, path: str
) -> None:
    with pytest.raises(InputError) as raised:
        options.read(params(("a", sharing))["pools"], claims_devices)
    assert raised.value.code == code
    assert raised.value.message.startswith(f"{path}: ")


def test_two_pools_cannot_have_the_same_claim() -> None:
    pools = options.read(params(("a", {"claims": [ONE]}), ("b", {"claims": [ONE]}))["pools"], True)
    with pytest.raises(
        InputError, match=r"pools\[1\].sharing.claims: claim team-a/shared-gpu is listed twice"
    ):
        options.claims_of(pools)


def test_the_claim_of_whole_gpus() -> None:
    (claim,) = claims.of("inference", [ONE])
    assert claim.manifest == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "name": "shared-gpu",
            "namespace": "team-a",
            "labels": {"accelerators.openshift/pool": "inference"},
        },
        "spec": {
            "devices": {
                "requests": [
                    {
                        "name": "gpu",
                        "exactly": {
                            "deviceClassName": "gpu.nvidia.com",
                            "allocationMode": "ExactCount",
                            "count": 1,
                        },
                    }
                ]
            }
        },
    }


def expressions(wanted: Devices) -> list[str]:
    """Return the CEL expressions of the claim."""
    (request,) = wanted.spec["devices"]["requests"]
    return [one["cel"]["expression"] for one in request["exactly"].get("selectors") or []]


def test_a_partition_is_chosen_by_its_profile_and_model() -> None:
    assert expressions(claims.devices_of({**PART, "models": ["A100", "H100-NVL"]})) == [
        'device.attributes["gpu.nvidia.com"].profile == "1g.5gb"',
        'device.attributes["gpu.nvidia.com"].productName.matches("(^|[ -])(A100|H100[ -]NVL)([ -]|$)")',
    ]


@pytest.mark.parametrize("key", sorted(PRODUCTS))
def test_the_expression_finds_the_products_of_a_model_alone(key: str) -> None:
    """The sandbox has the names of products as NVIDIA writes them, so each has to belong to one model."""
    product = PRODUCTS[key].name
    models = {one.model for one in GPUS.values() if one.vendor == "nvidia"}
    found = set()
    for model in models:
        (expression,) = expressions(Devices(models=(model,)))
        pattern = expression.partition('matches("')[2].removesuffix('")')
        if re.search(pattern, product):
            found.add(model)
    known = {model for model in models if key == model or key.startswith(f"{model}-")}
    assert known <= found
    # An H100 NVL is an H100 too. No other product has two models.
    assert len(found - {"H100"}) <= 1


def live(wanted: Devices, **exactly: t.Any) -> dict[str, t.Any]:
    """Return a claim as the API server has it. exactly: further fields of its request."""
    (claim,) = claims.of("inference", [ONE])
    found = {**claim.manifest, "spec": wanted.spec}
    found["spec"]["devices"]["requests"][0]["exactly"] |= exactly
    return found


def test_only_another_request_makes_another_claim() -> None:
    assert claims.is_as(Devices(), live(Devices()))
    assert claims.is_as(Devices(), live(Devices(), tolerations=[]))
    assert not claims.is_as(Devices(count=2), live(Devices()))
    assert not claims.is_as(Devices(models=("T4",)), live(Devices()))
    assert not claims.is_as(Devices(), live(Devices(), adminAccess=True))
    constrained = live(Devices())
    constrained["spec"]["devices"]["constraints"] = [{"matchAttribute": "x/y"}]
    assert not claims.is_as(Devices(), constrained)


def test_claims_of_pools_that_are_not_named_stay() -> None:
    (wanted,) = claims.of("a", [{**ONE, "name": "new"}])
    ours = [
        {"metadata": {"namespace": "t", "name": name, "labels": {"accelerators.openshift/pool": pool}}}
        for name, pool in (("old", "a"), ("theirs", "b"))
    ]
    work = claims.compare([wanted], ours, ["a"])
    assert [one.name for one in work.create] == ["new"]
    assert [one["metadata"]["name"] for one in work.remove] == ["old"]
    assert work.keep == []
