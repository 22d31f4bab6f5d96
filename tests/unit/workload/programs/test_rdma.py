"""Program rdma: what perftest prints, which memory was used, and why there is no speed."""

from __future__ import annotations

import os
import pathlib
import subprocess
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import rdma
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    Figure,
    Finding,
    GpuNode,
    Settings,
)

LIST: t.Final = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0b2f1c7e-3d0a-4c1b-9a55-0f6e2d7c8a10)\n"
SETTINGS: t.Final = Settings("rdma", network="fast", nodes=2)
UNLIMITED: t.Final = "rdma rights uid=1000810000 memlock=unlimited effective=0000000000000000\n"
LIMITED: t.Final = UNLIMITED.replace("unlimited", "8192")
CAPABLE: t.Final = LIMITED.replace("uid=1000810000", "uid=0").replace("0" * 16, "0000000000004000")
# Two devices' worth of lines: the header and the table of perftest, with its tabulators.
HEADER: t.Final = """\
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF\t\tDevice         : mlx5_0
 Number of qps   : 4\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 PCIe relax order: ON\t\tLock-free      : OFF
 ibv_wr* API     : ON\t\tUsing Enhanced Reorder      : OFF
 TX depth        : 128
 CQ Moderation   : 100
 Mtu             : 4096[B]
 Link type       : IB
 Max inline data : 0[B]
 rdma_cm QPs\t : OFF
 Data ex. method : Ethernet
---------------------------------------------------------------------------------------
 local address: LID 0x2b QPN 0x01ac PSN 0xc76db1 RKey 0x23beb2 VAddr 0x007f26a2c8b000
 remote address: LID 0x2c QPN 0x01a9 PSN 0x2f722 RKey 0x23beaf VAddr 0x007f820b24f000
---------------------------------------------------------------------------------------
"""
CUDA: t.Final = """\
initializing CUDA
Listing all CUDA devices in system:
CUDA device 0: PCIe address is 1B:00

Picking device No. 0
[pid = 7, dev = 0] device name = [NVIDIA H100 80GB HBM3]
creating CUDA Ctx
making it the current CUDA Ctx
"""
DMABUF: t.Final = (
    "using DMA-BUF for GPU buffer address at 0x7f3dfa600000 aligned at 0x7f3dfa600000 with aligned size "
    "8388608\n"
)
ENDS: t.Final = "deallocating GPU buffer 00007f3dfa600000\ndestroying current CUDA Ctx\n"


def device(number: int = 0, **given: t.Any) -> str:
    """Return the line of a device: an InfiniBand card of 400 Gb/s beside its GPU."""
    found = {
        "name": f"mlx5_{number}",
        "link": "InfiniBand",
        "rate": 400,
        "state": "ACTIVE",
        "gid": "-",
        "speed": "32.0",
        "wide": 16,
        "gpu": number,
        "shared": 7,
        "gen": 5,
        "lanes": 16,
        **given,
    }
    return f"rdma device={number} {' '.join(f'{key}={value}' for key, value in found.items())}\n"


def table(speed: float, unit: str = "Gb") -> str:
    return (
        f" #bytes     #iterations    BW peak[{unit}/sec]    BW average[{unit}/sec]   MsgRate[Mpps]\n"
        f" 1048576    104867         0.00               {speed} \t\t     0.046100\n"
        "---------------------------------------------------------------------------------------\n"
    )


def step(memory: str, text: str, number: int = 0) -> str:
    return f"rdma step device={number} memory={memory}\n{text}"


def ran(memory: str, speed: float, number: int = 0) -> str:
    """Return the output of a run that used this memory."""
    cuda = "" if memory == "host" else CUDA + (DMABUF if memory == "dmabuf" else "")
    return step(memory, f"{cuda}{HEADER}{table(speed)}{ENDS if cuda else ''}", number)


def log(*steps: str, rights: str = UNLIMITED, asked: int = 1, found: str | None = None) -> str:
    return (
        f"{LIST}rdma asked={asked}\n{rights}{device() if found is None else found}{''.join(steps)}rdma end\n"
    )


def faults(text: str, settings: Settings = SETTINGS) -> list[tuple[str, str]]:
    found = rdma.parse(text, settings)
    assert not found.passed
    return [(one.code, one.text) for one in found.findings if one.status == "fail"]


def test_host_memory_and_gpu_memory() -> None:
    found = rdma.parse(log(ran("host", 392.1), ran("dmabuf", 388.4)), SETTINGS)
    assert found.passed
    assert found.figures == (
        Figure("host", 392.1, "Gb/s", least=340.0),
        Figure("gpu", 388.4, "Gb/s", least=352.9),
    )
    assert found.findings == ()
    assert dict(found.extra) == {
        "rights": "memlock",
        "gpu_memory": ["dmabuf"],
        "links": ["mlx5_0: InfiniBand 400 Gb/s"],
    }


@pytest.mark.parametrize(("rate", "least"), [(100, 85.0), (200, 170.0), (400, 340.0), (800, 680.0)])
def test_the_least_good_speed_of_a_link(rate: int, least: float) -> None:
    text = log(ran("host", 50), found=device(rate=rate, speed="64.0"))
    (figure,) = rdma.parse(text, Settings("rdma", network="fast", nodes=2, gpu_memory=False)).figures
    assert figure.least == least


def test_a_slow_slot_of_the_card_is_said() -> None:
    found = rdma.parse(log(ran("host", 197.0), ran("dmabuf", 196.0), found=device(speed="16.0")), SETTINGS)
    assert found.passed
    assert found.figures[0].least == 170.0
    assert [one.text for one in found.findings] == [
        "the PCIe slot of mlx5_0 carries 200 of the 400 Gb/s of its link"
    ]


def test_the_pcie_link_of_the_gpu_is_no_fault() -> None:
    found = rdma.parse(log(ran("host", 392.0), ran("dmabuf", 195.0), found=device(gen=4)), SETTINGS)
    assert found.passed
    assert found.figures[1].least == 180.0
    assert [one.text for one in found.findings] == [
        "the PCIe link of GPU 0 carries 200 Gb/s at most, which is no fault"
    ]


@pytest.mark.parametrize(
    ("shared", "words"),
    [
        (3, "GPU 0, the nearest one, is under another PCIe root than mlx5_0"),
        (4, "GPU 0, the nearest one, is under another PCIe switch than mlx5_0"),
        (7, "is under the same PCIe switch as mlx5_0: ACS or the IOMMU"),
    ],
)
def test_half_of_the_speed_is_the_way_over_the_processor(shared: int, words: str) -> None:
    text = log(ran("host", 392.0), ran("dmabuf", 190.0), found=device(shared=shared))
    found = rdma.parse(text, SETTINGS)
    (finding,) = found.findings
    assert (finding.test, finding.status, finding.code) == ("gpu", "warn", "WORK-RDMA-RAIL")
    assert words in finding.text
    assert found.figures[1].value < found.figures[1].least


def test_peermem_where_the_gpu_has_no_dma_buf() -> None:
    refused = step("dmabuf", f"{CUDA}DMA-BUF is not supported on this GPU\n Couldn't create IB resources\n")
    found = rdma.parse(
        log(ran("host", 97.0), refused, ran("peermem", 95.0), found=device(rate=100)), SETTINGS
    )
    assert found.passed
    assert found.extra["gpu_memory"] == ["peermem"]


def test_a_perftest_without_dma_buf_is_seen_in_its_output() -> None:
    silent = step(
        "dmabuf", f"{CUDA}cuMemAlloc() of a 2097152 bytes GPU buffer\n{HEADER}{table(181.46)}{ENDS}"
    )
    found = rdma.parse(log(ran("host", 185.0), silent, found=device(rate=200)), SETTINGS)
    assert found.passed
    assert found.extra["gpu_memory"] == ["peermem"]


def test_gpu_memory_that_was_not_used() -> None:
    silent = step("dmabuf", HEADER + table(392.0))
    ((code, text),) = faults(log(ran("host", 392.0), silent))
    assert code == "WORK-RDMA-GPU"
    assert "did not use the memory of the GPU" in text


NO_MR: t.Final = (
    "Couldn't allocate MR\nfailed to create mr\nFailed to create MR\n Couldn't create IB resources\n"
)


@pytest.mark.parametrize(
    ("dmabuf", "peermem", "words"),
    [
        (f"{CUDA}DMA-BUF is not supported on this GPU\n", CUDA + NO_MR, "nvidia-peermem is not loaded"),
        (
            f"{CUDA}{DMABUF}Couldn't allocate MR with error=95\nOFED stack does not support DMA-BUF\n",
            CUDA + NO_MR,
            "dmabuf: the driver of the NIC has no DMA-BUF; peermem: nvidia-peermem",
        ),
        (f"{CUDA}{DMABUF}cuMemGetHandleForAddressRange error=801\n", CUDA + NO_MR, "gave no DMA-BUF"),
        (f"{CUDA}{DMABUF}Couldn't allocate MR with error=14\n", CUDA + NO_MR, "the NIC took no DMA-BUF"),
    ],
)
def test_gpu_memory_that_the_nic_does_not_reach(dmabuf: str, peermem: str, words: str) -> None:
    ((code, text),) = faults(log(ran("host", 392.0), step("dmabuf", dmabuf), step("peermem", peermem)))
    assert code == "WORK-RDMA-GPU"
    assert text.startswith("mlx5_0: dmabuf: ")
    assert words in text


def test_a_host_that_must_not_lock_memory() -> None:
    text = log(step("host", HEADER + NO_MR), rights=LIMITED)
    assert faults(text) == [("WORK-RDMA-RIGHTS", "mlx5_0: the pod may not lock memory")]


@pytest.mark.parametrize("rights", [UNLIMITED, CAPABLE])
def test_a_right_that_does_not_help(rights: str) -> None:
    ((code, text),) = faults(log(step("host", HEADER + NO_MR), rights=rights))
    assert code == "WORK-RDMA-PATH"
    assert "host: Couldn't create IB resources" in text


def test_the_right_that_was_needed() -> None:
    found = rdma.parse(log(ran("host", 392.0), ran("dmabuf", 390.0), rights=CAPABLE), SETTINGS)
    assert found.extra["rights"] == "IPC_LOCK"
    assert rdma.rights(LIMITED) == rdma.rights("") == ""


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("IB device mlx5_9 not found\n Unable to find the Infiniband/RoCE device\n", "DEVICE", "cannot open"),
        ("timeout: failed\nib_write_bw: not found\n", "IMAGE", "is not there"),
        (
            f"{HEADER}Failed to modify QP 4521 to RTR\n Unable to Connect the HCA's through the link\n",
            "PATH",
            "found no way",
        ),
        (
            f"{HEADER} Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\n",
            "PATH",
            "no way",
        ),
        ("Couldn't connect to g0-r0.peers-a.gpu-validation.svc:18516\n", "PATH", "did not answer"),
        ("Unable to open\n", "PATH", "host: Unable to open"),
        ("", "PATH", "it printed nothing"),
    ],
)
def test_what_perftest_says(text: str, code: str, words: str) -> None:
    ((found, said),) = faults(log(step("host", text)))
    assert found == f"WORK-RDMA-{code}"
    assert words in said


def test_a_perftest_without_cuda() -> None:
    refused = step(
        "dmabuf", "ib_write_bw: unrecognized option '--use_cuda=0'\n Parser function exited with Error\n"
    )
    assert [code for code, _text in faults(log(ran("host", 392.0), refused))] == ["WORK-RDMA-IMAGE"]
    host = Settings("rdma", network="fast", nodes=2, gpu_memory=False)
    assert rdma.parse(log(ran("host", 392.0)), host).passed


@pytest.mark.parametrize(
    ("asked", "found", "code"),
    [
        (1, device() + device(1), "WORK-RDMA-EXTRA"),
        (2, device(), "WORK-RDMA-DEVICE"),
        (1, "", "WORK-RDMA-DEVICE"),
        (0, "", "WORK-RDMA-DEVICE"),
        (0, device(state="DOWN"), "WORK-RDMA-PATH"),
        (0, device(), ""),
        (0, device() + device(1), ""),
        (2, device() + device(1), ""),
    ],
)
def test_the_devices_of_the_pod_are_those_that_it_asked_for(asked: int, found: str, code: str) -> None:
    text = log(asked=asked, found=found)
    assert [one.code for one in rdma.device_faults(text)] == ([code] if code else [])


def test_several_rails() -> None:
    runs = [ran("host", 392.0), ran("dmabuf", 390.0), ran("host", 391.0, 1), ran("dmabuf", 150.0, 1)]
    found = rdma.parse(log(*runs, asked=2, found=device() + device(1)), SETTINGS)
    assert [(one.name, one.device, one.value) for one in found.figures] == [
        ("host", "rail 0", 392.0),
        ("gpu", "rail 0", 390.0),
        ("host", "rail 1", 391.0),
        ("gpu", "rail 1", 150.0),
    ]
    assert found.findings == (
        Finding(
            "gpu",
            "warn",
            "GPU 1, the nearest one, is under the same PCIe switch as mlx5_1: ACS or the IOMMU sends "
            "the data away",
            "rail 1",
            code="WORK-RDMA-RAIL",
        ),
    )


@pytest.mark.parametrize(("unit", "value"), [("Gb", 92.39), ("MiB", 0.78), ("MB", 0.78)])
def test_the_units_of_a_table(unit: str, value: float) -> None:
    assert rdma.Step(0, "host", table(92.39, unit)).speed == value


def test_an_empty_log_and_a_large_one() -> None:
    assert faults("") == [("WORK-RDMA-DEVICE", "the pod asked for some of the RDMA devices, and has 0")]
    long = log(ran("host", 392.0) + "Couldn't connect to x\n" * 50_000 + " 1 1 1.1 1\n" * 50_000)
    assert not rdma.parse(long, SETTINGS).passed


def test_unfit() -> None:
    assert "partitioned" in rdma.unfit(SETTINGS, GpuNode(mig=True, devices=7))
    assert rdma.unfit(SETTINGS, GpuNode(devices=1)) == ""


def tools(folder: pathlib.Path, **programs: str) -> dict[str, str]:
    """Return an environment with these programs, each a shell script."""
    for name, text in programs.items():
        path = folder / name.replace("_smi", "-smi")
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "TMPDIR": str(folder)}


def sysfs(root: pathlib.Path) -> None:
    """Write what the kernel shows of two cards: InfiniBand beside GPU 1, and Ethernet alone."""
    slots = root / "sys/devices"
    gpus = ["pci0000:15/0000:15:01.0/0000:1b:00.0", "pci0000:37/0000:37:01.0/0000:38:00.0/0000:3a:00.0"]
    cards = ["pci0000:37/0000:37:01.0/0000:39:00.0/0000:3b:00.0", "pci0000:80/0000:80:01.0/0000:81:00.0"]
    (root / "sys/bus/pci/devices").mkdir(parents=True)
    for path in gpus:
        (slots / path).mkdir(parents=True)
        (root / "sys/bus/pci/devices" / path.rpartition("/")[2]).symlink_to(slots / path)
    for number, (path, link) in enumerate(zip(cards, ("InfiniBand", "Ethernet"), strict=True)):
        port = root / f"sys/class/infiniband/mlx5_{number}/ports/1"
        (port / "gids").mkdir(parents=True)
        (port / "gid_attrs/types").mkdir(parents=True)
        (slots / path).mkdir(parents=True)
        (port.parents[1] / "device").symlink_to(slots / path)
        verbs = root / f"sys/class/infiniband_verbs/uverbs{number}"
        verbs.mkdir(parents=True)
        written = {
            slots / path / "current_link_speed": "32.0 GT/s PCIe",
            slots / path / "current_link_width": "16",
            port / "link_layer": link,
            port / "rate": "400 Gb/sec (4X NDR)",
            port / "state": "4: ACTIVE",
            verbs / "ibdev": f"mlx5_{number}",
        }
        gids = ["fe80::1", "c0a80263", "c0a80201", "c0a80201"]
        for index, gid in enumerate(gids):
            text = gid if "::" in gid else f"0000:0000:0000:0000:0000:ffff:{gid[:4]}:{gid[4:]}"
            written[port / f"gids/{index}"] = text.replace(
                "fe80::1", "fe80:0000:0000:0000:0000:0000:0000:0001"
            )
            written[port / f"gid_attrs/types/{index}"] = "IB/RoCE v1" if index == 2 else "RoCE v2"
        for place, text in written.items():
            place.write_text(f"{text}\n", encoding="utf-8")
    for folder in ("dev/infiniband", "proc/net"):
        (root / folder).mkdir(parents=True)
    for name in ("uverbs0", "uverbs1", "rdma_cm"):
        (root / "dev/infiniband" / name).touch()
    (root / "proc/net/fib_trie").write_text("           |-- 192.168.2.1\n              /32 host LOCAL\n")
    (root / "proc/net/if_inet6").write_text("")


SMI: t.Final = """case $1 in
  --query-gpu*) printf '0, 5, 16, 00000000:1B:00.0\\n1, 5, 16, 00000000:3A:00.0\\n' ;;
esac"""


def moved(script: str, root: pathlib.Path) -> str:
    """Return a script that reads below the root, with the steps alone."""
    begin, _, rest = script.partition("readings() {")
    assert "\nmeasure\ncode=$?" in rest
    for folder in ("/sys/", "/dev/infiniband", "/proc/net/"):
        begin = begin.replace(folder, f"{root}{folder}")
    return f"{begin}measure"


def run(script: str, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["/bin/sh"], input=script, text=True, env=environment, capture_output=True, check=False
    )
    assert done.returncode in (0, 1, 127), done.stderr
    return done.stdout


def test_the_devices_that_the_script_finds(tmp_path: pathlib.Path) -> None:
    sysfs(tmp_path)
    master = "g0-r0.peers-a.gpu-validation.svc"
    node = GpuNode(devices=2, rank=1, nodes=2, master=master, rdma=2)
    environment = tools(tmp_path, nvidia_smi=SMI, getent="true", ib_write_bw='echo "told $*"')
    text = run(moved(rdma.script(SETTINGS, node), tmp_path), environment)
    assert [rail[:6] for rail in rdma.rails(text)] == [
        (0, "mlx5_0", "InfiniBand", "ACTIVE", 400.0, 400.0),
        (1, "mlx5_1", "Ethernet", "ACTIVE", 400.0, 400.0),
    ]
    assert [(rail.gpu, rail.gpu_slot) for rail in rdma.rails(text)] == [(1, 400.0), (0, 400.0)]
    assert "rdma asked=2" in text
    assert [line for line in text.splitlines() if line.startswith(("rdma step", "told"))] == [
        "rdma step device=0 memory=host",
        f"told -F --report_gbits -D 3 -q 4 -s 1048576 -d mlx5_0 -p 18516 {master}",
        "rdma step device=0 memory=dmabuf",
        "told -F --report_gbits -D 3 -q 4 -s 1048576 -d mlx5_0 --use_cuda=1 --use_cuda_dmabuf -p 18517 "
        + master,
        "rdma step device=1 memory=host",
        f"told -F --report_gbits -D 3 -q 4 -s 1048576 -d mlx5_1 -x 3 -p 18519 {master}",
        "rdma step device=1 memory=dmabuf",
        "told -F --report_gbits -D 3 -q 4 -s 1048576 -d mlx5_1 -x 3 --use_cuda=0 --use_cuda_dmabuf -p 18520 "
        + master,
    ]


def test_peermem_is_tried_where_dma_buf_fails(tmp_path: pathlib.Path) -> None:
    sysfs(tmp_path)
    (tmp_path / "dev/infiniband/uverbs1").unlink()
    fails = 'echo "told $*"\ncase "$*" in *dmabuf*) exit 1 ;; esac'
    environment = tools(tmp_path, nvidia_smi=SMI, getent="true", ib_write_bw=fails)
    master = "g0-r0.peers-a.gpu-validation.svc"
    node = GpuNode(devices=2, rank=0, nodes=2, master=master, rdma=1)
    text = run(moved(rdma.script(SETTINGS, node), tmp_path), environment)
    asked = [line for line in text.splitlines() if line.startswith("told")]
    assert [line.rpartition("-p ")[2] for line in asked] == [
        f"{port} g0-r1.peers-a.gpu-validation.svc" for port in (18516, 18517, 18518)
    ]
    only = Settings("rdma", network="fast", nodes=2, gpu_memory=False)
    assert "memory=dmabuf" not in run(moved(rdma.script(only, node), tmp_path), environment)


def test_a_pod_without_the_program_or_a_device(tmp_path: pathlib.Path) -> None:
    sysfs(tmp_path)
    node = GpuNode(devices=2, rank=0, nodes=2, master="g0-r0.peers-a.gpu-validation.svc", rdma=1)
    environment = tools(tmp_path, nvidia_smi=SMI, getent="true")
    script = moved(rdma.script(SETTINGS, node), tmp_path)
    without = run(script, environment)
    assert without.endswith("ib_write_bw: not found\n")
    assert ("WORK-RDMA-IMAGE") in [code for code, _text in faults(without)]
    for name in ("uverbs0", "uverbs1"):
        (tmp_path / "dev/infiniband" / name).unlink()
    environment = tools(tmp_path, ib_write_bw="true")
    assert "WORK-RDMA-DEVICE" in [code for code, _text in faults(run(script, environment))]
