# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which RDMA devices a pod has, and what ib_write_bw prints between two pods."""

from __future__ import annotations

import json
import re
import typing as t

import pytest

from openshift_sandbox.hardware.gpus import GPUS, NICS
from openshift_sandbox.scenario import Scenario
from openshift_sandbox.stand_ins.core.cluster import Cluster
from openshift_sandbox.stand_ins.gpu_operator.measured import Place
from openshift_sandbox.stand_ins.gpu_operator.traffic import devices, may_lock, rdma

SCRIPT: t.Final = 'MEMORIES="host dmabuf peermem"\necho rdma asked=1\nrdma_devices\n'
LOCKS: t.Final = {"runAsUser": 0, "capabilities": {"add": ["IPC_LOCK"]}}


class Troubled:
    """A cluster that has only troubles."""

    def __init__(self, *troubles: str) -> None:
        self._scenario = Scenario("test", troubles=[{"type": one} for one in troubles])

    def troubles(self, kind: str, **match: t.Any) -> list[dict[str, t.Any]]:
        return self._scenario.troubles_of(kind, **match)


def node(name: str, gpu: str, nic: str) -> dict[str, t.Any]:
    annotations = {"sandbox.openshift/hardware": f"8x32x2x{gpu}+2x{nic}"}
    return {"metadata": {"name": name, "labels": {}, "annotations": annotations}, "status": {}}


def on(
    *troubles: str,
    gpu: str = "H100",
    nics: tuple[str, str] = ("CX7", "CX7"),
    requests: dict[str, str] | None = None,
    networks: t.Sequence[str] = (),
    context: dict[str, t.Any] | None = None,
) -> Place:
    """Return a pod with both GPUs of a node and a partner. networks: RDMA devices of its attachments."""
    nodes = [node(name, gpu, nic) for name, nic in zip("ab", nics, strict=True)]
    entries = [{"name": "work/lan", "device-info": {"pci": {"rdma-device": one}}} for one in networks]
    container = {
        "resources": {"requests": {"openshift.io/rail": "1"} if requests is None else requests},
        "securityContext": LOCKS if context is None else context,
    }
    pod = {
        "metadata": {"annotations": {"k8s.v1.cni.cncf.io/network-status": json.dumps(entries)}},
        "spec": {"containers": [container]},
    }
    cluster = t.cast(Cluster, Troubled(*troubles))
    return Place(cluster, nodes[0], GPUS[gpu], (0, 1), (), SCRIPT, "", NICS[nics[0]], nodes, pod)


def steps(place: Place) -> dict[str, str]:
    """Return the output of each run by its memory."""
    text = "\n".join(rdma(place).lines)
    parts = re.split(r"^rdma (?:step device=0 memory=(\w+)|end)$", text, flags=re.MULTILINE)
    return {memory: part for memory, part in zip(parts[1::2], parts[2::2], strict=True) if memory}


def speed(text: str) -> float:
    found = re.search(r"^ 1048576 +\d+ +[\d.]+ +([\d.]+)", text, re.MULTILINE)
    return float(found[1]) if found else 0.0


class TestDevices:
    @pytest.mark.parametrize(
        ("given", "names"),
        [
            ({}, ["mlx5_2"]),
            ({"networks": ["mlx5_7"]}, ["mlx5_7"]),
            ({"requests": {"openshift.io/rail": "2"}}, ["mlx5_2", "mlx5_3"]),
            ({"requests": {"rdma/shared": "1"}}, ["mlx5_0", "mlx5_1"]),
            ({"requests": {"nvidia.com/gpu": "2"}}, []),
        ],
    )
    def test_a_pod_has_what_it_requested(self, given: dict[str, t.Any], names: list[str]) -> None:
        assert [device.name for device in devices(on(**given))] == names

    def test_an_old_device_plugin_gives_all_devices(self) -> None:
        assert [one.name for one in devices(on("extra_rdma_devices"))] == ["mlx5_2", "mlx5_0", "mlx5_1"]

    @pytest.mark.parametrize(
        ("context", "troubles", "may"),
        [
            (LOCKS, (), True),
            ({"capabilities": {"add": ["IPC_LOCK"]}}, (), False),
            ({"privileged": True}, (), True),
            ({}, (), False),
            ({}, ("memlock_unlimited",), True),
        ],
    )
    def test_who_may_lock_memory(
        self, context: dict[str, t.Any], troubles: tuple[str, ...], may: bool
    ) -> None:
        assert may_lock(on(*troubles, context=context)) is may


class TestRdma:
    def test_host_memory_and_gpu_memory(self) -> None:
        found = steps(on())
        assert {memory: speed(text) for memory, text in found.items()} == {"host": 392.0, "dmabuf": 384.16}
        assert "Link type       : Ethernet" in found["host"]
        assert "using DMA-BUF for GPU buffer" in found["dmabuf"]
        assert "CUDA" not in found["host"]

    def test_infiniband_has_no_gid(self) -> None:
        text = steps(on(nics=("CX7-IB", "CX7-IB")))["host"]
        assert "Link type       : IB" in text
        assert "GID" not in text

    def test_an_old_gpu_has_peermem_and_a_slow_slot(self) -> None:
        found = steps(on(gpu="V100-16", nics=("CX6", "CX6")))
        assert "DMA-BUF is not supported on this GPU" in found["dmabuf"]
        assert {memory: speed(text) for memory, text in found.items()} == {
            "host": 196.0,
            "dmabuf": 0.0,
            "peermem": 98.0,
        }

    @pytest.mark.parametrize(
        ("trouble", "memory", "value", "words"),
        [
            ("slow_network", "host", 196.0, "RDMA_Write BW Test"),
            ("gpu_far_from_nic", "dmabuf", 176.4, "using DMA-BUF"),
            ("no_dmabuf", "dmabuf", 0.0, "DMA-BUF is not supported on this GPU"),
            ("gpu_memory_unused", "dmabuf", 392.0, "RDMA_Write BW Test"),
            ("link_down", "host", 0.0, "state is Down"),
        ],
    )
    def test_troubles(self, trouble: str, memory: str, value: float, words: str) -> None:
        text = steps(on(trouble))[memory]
        assert speed(text) == value
        assert words in text

    def test_nothing_reaches_the_gpu(self) -> None:
        found = steps(on("no_dmabuf", "no_peermem"))
        assert "Couldn't allocate MR" in found["peermem"]

    def test_an_ordinary_user_locks_no_memory(self) -> None:
        place = on(context={})
        assert "Failed to create MR" in steps(place)["host"]
        assert "rdma rights uid=1000680000 memlock=8192 effective=0000000000000000" in rdma(place).lines

    def test_ethernet_and_infiniband_do_not_meet(self) -> None:
        assert "Failed to modify QP 4521 to RTR" in steps(on(nics=("CX7", "CX7-IB")))["host"]

    def test_a_pod_without_devices(self) -> None:
        printed = rdma(on(requests={}))
        assert (printed.lines[-1], printed.code) == ("No IB devices found", 1)
