# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a pool that a queue gets, and the limits of borrowing and lending."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._queue import amounts

GPU: t.Final = "nvidia.com/gpu"
SMALL, LARGE = "nvidia.com/mig-1g.5gb", "nvidia.com/mig-3g.20gb"
P: t.Final = "gpu_queues[0].pools[0]"


def quota(
    gpus: int | None = None, resources: dict[str, t.Any] | None = None, **more: t.Any
) -> dict[str, str]:
    given: dict[str, t.Any] = {"devices": {GPU: 8}, "nodes": 2, "is_shared": False} | more
    return amounts.quota(P, gpus, resources, **given)


def test_amounts() -> None:
    assert quota() == {GPU: "16"}
    assert quota(4) == {GPU: "4"}
    assert quota(0) == {GPU: "0"}
    assert quota(4, {"cpu": "64000m", "memory": "512Gi"}) == {"cpu": "64", "memory": "512Gi", GPU: "4"}
    assert quota(devices={SMALL: 7, LARGE: 1}) == {SMALL: "14", LARGE: "2"}
    assert quota(None, {SMALL: 3}, devices={SMALL: 7, LARGE: 1}) == {SMALL: "3", LARGE: "0"}
    assert quota(None, {"rdma/hca": 8}) == {"rdma/hca": "8", GPU: "16"}


@pytest.mark.parametrize(
    ("given", "start", "code"),
    [
        pytest.param(
            {"gpus": 4, "devices": {SMALL: 7, LARGE: 1}}, f"{P}.gpus", "QUEUE-QUOTA", id="several devices"
        ),
        pytest.param({"is_shared": True}, f"{P}: other queues", "QUEUE-QUOTA", id="shared pool"),
        pytest.param({"nodes": 0}, f"{P}: how many nodes", "QUEUE-QUOTA", id="unknown number of nodes"),
        pytest.param({"devices": {}}, f"{P}.name", "QUEUE-QUOTA", id="unknown devices"),
        pytest.param(
            {"resources": {SMALL: 1, GPU: 1}}, f"{P}.resources[{SMALL}]", "QUEUE-QUOTA", id="not offered"
        ),
        pytest.param({"gpus": -1}, f"{P}.resources[{GPU}]", "QUOTA-QUANTITY", id="negative"),
        pytest.param(
            {"resources": {GPU: "500m"}}, f"{P}.resources[{GPU}]", "QUOTA-QUANTITY", id="half a GPU"
        ),
        pytest.param(
            {"gpus": 1, "resources": {"cpu": "many"}},
            f"{P}.resources[cpu]",
            "QUOTA-QUANTITY",
            id="no quantity",
        ),
    ],
)
def test_wrong_amounts(given: dict[str, t.Any], start: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        quota(**given)
    assert caught.value.code == code
    assert caught.value.message.startswith(start)


@pytest.mark.parametrize(
    ("borrow", "lend", "code", "start"),
    [
        pytest.param(
            1, None, "QUEUE-NO-COHORT", f"{P}.borrow: the queue is in no cohort", id="borrow without cohort"
        ),
        pytest.param(
            None, 1, "QUEUE-NO-COHORT", f"{P}.lend: the queue is in no cohort", id="lend without cohort"
        ),
        pytest.param(-1, None, "QUEUE-COHORT", f"{P}.borrow is -1", id="negative"),
        pytest.param(None, 9, "QUEUE-COHORT", f"{P}.lend is 9", id="more than it has"),
    ],
)
def test_wrong_limits(borrow: int | None, lend: int | None, code: str, start: str) -> None:
    cohort = "" if code == "QUEUE-NO-COHORT" else "gpus"
    with pytest.raises(InputError) as caught:
        amounts.check_limits(P, borrow, lend, cohort, {GPU: "8"}, {GPU: 8})
    assert caught.value.code == code
    assert caught.value.message.startswith(start)


def test_right_limits() -> None:
    amounts.check_limits(P, 0, 8, "gpus", {GPU: "8"}, {GPU: 8})
    amounts.check_limits(P, None, None, "", {GPU: "8"}, {GPU: 8})
