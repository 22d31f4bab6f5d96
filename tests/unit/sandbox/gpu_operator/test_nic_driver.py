# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A GPU driver that loads nvidia-peermem waits for the driver of the network adapters."""

from __future__ import annotations

import typing as t

import pytest
from unit.sandbox.gpu_operator.builders import Object, deployment

from openshift_sandbox.stand_ins.gpu_operator.daemon_sets import HOLD, MOFED, PEERMEM, daemon_set
from openshift_sandbox.stand_ins.gpu_operator.operand_pods import ADAPTER, NIC_WAIT, has_nic_driver
from openshift_sandbox.stand_ins.gpu_operator.operands import DRIVER
from openshift_sandbox.stand_ins.gpu_operator.rules import release


def template(**rdma: bool) -> Object:
    spec = {"driver": {"rdma": rdma} if rdma else {}}
    policy = {"metadata": {"name": "p", "uid": "u"}, "spec": spec}
    made = daemon_set(DRIVER, policy, release.of(deployment()))
    return t.cast(Object, made["spec"]["template"])


def test_only_a_driver_with_rdma_waits() -> None:
    plain, direct = template(), template(enabled=True)
    assert plain["metadata"]["annotations"][HOLD] == "ready"
    assert direct["metadata"]["annotations"][HOLD] == "init"
    assert [one["name"] for one in plain["spec"]["initContainers"]] == ["k8s-driver-manager"]
    assert [one["name"] for one in direct["spec"]["initContainers"]] == ["k8s-driver-manager", MOFED]
    assert PEERMEM in [one["name"] for one in direct["spec"]["containers"]]


@pytest.mark.parametrize(
    ("labels", "of_host", "has"),
    [
        ({}, False, True),
        ({ADAPTER: "true"}, False, False),
        ({ADAPTER: "true", NIC_WAIT: "true"}, False, False),
        ({ADAPTER: "true", NIC_WAIT: "false"}, False, True),
        ({ADAPTER: "true"}, True, True),
    ],
)
def test_for_what_it_waits(labels: dict[str, str], of_host: bool, has: bool) -> None:
    pod = template(enabled=True, useHostMofed=of_host)
    assert has_nic_driver(pod, {"metadata": {"labels": labels}}) is has
