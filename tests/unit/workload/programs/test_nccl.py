"""Program nccl: its scripts, the table of nccl-tests, and the ways that NCCL took."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import types
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import nccl
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    Figure,
    GpuNode,
    Settings,
)

SAMPLES = pathlib.Path(__file__).parent / "samples"
UUIDS = tuple(f"GPU-{number}b2f1c7e-3d0a-4c1b-9a55-0f6e2d7c8a1{number}" for number in range(2))
LIST = "".join(f"GPU {number}: NVIDIA H100 80GB HBM3 (UUID: {uuid})\n" for number, uuid in enumerate(UUIDS))
SETTINGS = Settings("nccl")
END = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 123.456 \n#\n"
GIB = 1 << 30
OLD = """\
# nThread 1 nGpus 2 minBytes 8 maxBytes 2147483648 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#   Rank  0 Pid  17754 on ml-0 device  0 [0x06] Tesla V100-SXM2-32GB
#   Rank  1 Pid  17754 on ml-0 device  1 [0x07] Tesla V100-SXM2-32GB
#
#                                                     out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
  1073741824     268435456   float     sum    8400.1  127.82  127.82  5e-07   8399.0  127.84  127.84  5e-07
  2147483648     536870912   float     sum   16700.2  128.59  128.59  5e-07  16710.0  128.51  128.51  0e+00
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 41.2
"""


def sample(name: str) -> str:
    return (SAMPLES / name).read_text(encoding="utf-8")


def row(size: int = GIB, busbw: str = "457.39", wrong: str = "0") -> str:
    both = f"35213.1  243.94  {busbw}  {wrong}  35198.0  244.05  1.5  {wrong}"
    return f"  {size}  {size // 4}  float  sum  -1  {both}\n"


def test_healthy() -> None:
    found = nccl.parse(sample("nccl-healthy.log"), SETTINGS)
    assert found.passed
    assert [(one.name, one.unit, one.device) for one in found.figures] == [
        ("all_reduce", "GB/s", ""),
        ("loopback", "GB/s", ""),
    ]
    assert found.figures[0].value == pytest.approx(478, abs=1)
    assert found.figures[1].value == pytest.approx(48.5, abs=0.5)
    assert found.findings == ()
    assert found.extra["transports"] == {"all_reduce": ["NVLS", "P2P"], "loopback": ["NET/IB/GDRDMA"]}
    assert found.extra["sizes"] == {"all_reduce": 8 * GIB, "loopback": 4 * GIB}
    assert found.extra["network"] == "IB"


def test_wrong_values_fail() -> None:
    found = nccl.parse(sample("nccl-faulty.log"), SETTINGS)
    assert not found.passed
    assert [(one.test, one.status, one.text) for one in found.findings] == [
        ("all_reduce", "fail", "3 values are wrong at 2147483648 bytes")
    ]


def test_sockets_although_there_is_rdma() -> None:
    found = nccl.parse(sample("nccl-socket.log"), Settings("nccl", nodes=2))
    assert found.passed
    assert found.figures == (Figure("all_reduce", 2.61, "GB/s"),)
    (finding,) = found.findings
    assert (finding.test, finding.status) == ("all_reduce", "warn")
    assert "TCP sockets, although there are RDMA devices: mlx5_0 mlx5_1" in finding.text
    assert "the pod has none of them" in finding.text
    assert found.extra["transports"]["all_reduce"] == ["NET/Socket", "P2P"]


def test_an_old_release() -> None:
    found = nccl.parse(LIST + OLD, SETTINGS)
    assert found.passed
    assert found.figures == (Figure("all_reduce", 128.59, "GB/s"),)


def test_small_sizes_do_not_count_if_there_are_large_ones() -> None:
    log = LIST + row(1 << 20, "999") + row(GIB, "400") + row(2 * GIB, "390") + END
    assert nccl.parse(log, SETTINGS).figures == (Figure("all_reduce", 400.0, "GB/s"),)


def test_a_table_of_small_sizes_says_so() -> None:
    found = nccl.parse(LIST + row(1 << 20, "9") + row(1 << 28, "80") + END, SETTINGS)
    assert found.passed
    assert found.figures == (Figure("all_reduce", 80.0, "GB/s"),)
    assert [(one.status, "256 MiB" in one.text) for one in found.findings] == [("warn", True)]


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", "measured nothing"),
        (LIST, "measured nothing"),
        (LIST + row(), "did not run to its end"),
        (LIST + row()[:50] + "\n" + END, "measured nothing"),
        (LIST + END, "measured nothing"),
        (LIST + row(busbw="0.00").replace("1.5", "0.00") + END, "measured nothing"),
        (LIST + row(busbw="nan") + END, "measured nothing"),
        (LIST + row(wrong="N/A") + END, "nobody checked"),
        (LIST + row(wrong="1e+06") + END, "1e+06 values are wrong"),
        (LIST + row() + END.replace("0 OK", "7 FAILED"), "7 values"),
        (LIST + row() + END + "nccl part=loopback\n", "measured nothing"),
        (
            LIST + "#  Rank  0 Group  0 Pid 41 on node device  0 [0000:1b:00] NVIDIA H100\n" + row() + END,
            "only 1 of 2 GPUs",
        ),
        (
            LIST + "node:41:58 [0] transport/net_ib.cc:788 NCCL WARN NET/IB : Got completion with error 4\n"
            "node: Test NCCL failure all_reduce.cu:44 'unhandled system error'\n",
            "measured nothing; NET/IB : Got completion with error 4; Test NCCL failure all_reduce.cu:44",
        ),
        (
            LIST + "n:1:2 [0] NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory\n",
            "capability IPC_LOCK",
        ),
        (LIST + "Invalid number of GPUs: 8 requested but only 2 were found.\n", "only 2 were found"),
    ],
)
def test_what_did_not_pass(log: str, words: str) -> None:
    found = nccl.parse(log, SETTINGS)
    assert not found.passed
    assert found.findings[0].status == "fail"
    assert words in found.findings[0].text


@pytest.mark.parametrize(
    ("lines", "ways"),
    [
        ("Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA\n", ["NET/IB/GDRDMA"]),
        ("Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0(1)/GDRDMA/Shared\n", ["NET/IB/GDRDMA"]),
        ("Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/4\n", ["NET/IB"]),
        ("Channel 00/0 : 0 -> 1 [send] via NET/AWS Libfabric/0/GDRDMA\n", ["NET/AWS Libfabric/GDRDMA"]),
        ("Channel 00/0 : 0 -> 1 [receive] via NET/IBext_v8/3/GDRDMA\n", ["NET/IBext_v8/GDRDMA"]),
        ("Channel 00 : 0[0] -> 1[1] via P2P/IPC/read\n", ["P2P"]),
        ("Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n", ["SHM"]),
        ("NVLS multicast support is available on dev 0\n", ["NVLS"]),
        ("NVLS multicast support is not available on dev 0\n", []),
        ("NVLS multicast support is available on dev 0\n24 coll channels, 0 nvls channels\n", []),
    ],
)
def test_the_ways_that_the_data_went(lines: str, ways: list[str]) -> None:
    assert nccl.transports("".join(f"node:1:2 [0] NCCL INFO {line}\n" for line in lines.splitlines())) == ways


@pytest.mark.parametrize(
    ("network", "nodes", "words"),
    [
        ("rdma devices:\nx NCCL INFO Using network Socket\n", 2, ["because it found no RDMA device"]),
        ("rdma devices:\nx NCCL INFO Using network Socket\n", 1, []),
        ("x NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE ; OOB e\nx via NET/Socket/0\n", 1, ["devices: mlx5_0"]),
        ("x NET/IB : Using [0]mlx5_0:1/IB\nx NCCL INFO Using network Socket\n", 1, ["devices: mlx5_0"]),
        ("rdma devices: mlx5_0\nrdma verbs: uverbs0\nx NCCL INFO Using network Socket\n", 2, ["mlx5_0"]),
        ("x via NET/IB/0\n", 2, ["without GPUDirect"]),
        ("x via NET/IB/0\nx via NET/IB/1/GDRDMA\n", 2, []),
        ("x NCCL INFO Using network IB\n", 2, []),
        ("rdma devices: mlx5_0\nrdma verbs:\n", 1, ["NIC was not measured: the node has mlx5_0"]),
        ("rdma devices: mlx5_0\nrdma verbs: uverbs0\n", 1, []),
    ],
)
def test_what_is_said_about_the_network(network: str, nodes: int, words: list[str]) -> None:
    found = nccl.parse(LIST + network + row() + END, Settings("nccl", nodes=nodes))
    assert found.passed
    assert len(found.findings) == len(words)
    for finding, word in zip(found.findings, words, strict=True):
        assert word in finding.text
        assert finding.status != "fail"


def test_nodes_that_are_unfit() -> None:
    assert "partitioned" in nccl.unfit(SETTINGS, GpuNode(mig=True, devices=7))
    assert "one GPU" in nccl.unfit(SETTINGS, GpuNode(devices=1))
    assert nccl.unfit(Settings("nccl", nodes=2), GpuNode(devices=1)) == ""
    assert nccl.unfit(SETTINGS, GpuNode(devices=2)) == ""


def made(folder: pathlib.Path, *names: str) -> dict[str, str]:
    """Return an environment in which only these programs exist; they print how they were called."""
    for name in names:
        text = f'#!/bin/sh\necho "{name} $NCCL_P2P_DISABLE $@"\n'
        if name == "nvidia-smi":
            text = f"#!/bin/sh\ncat <<'END'\n{LIST}END\n"
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "TMPDIR": str(folder)}


def steps(script: str) -> str:
    """Return a script without the readings beside it."""
    begin, _, rest = script.partition("readings() {")
    assert "\nmeasure\ncode=$?" in rest
    return f"{begin}measure"


def test_inside_a_node(tmp_path: pathlib.Path) -> None:
    environment = made(tmp_path, "nvidia-smi", "all_reduce_perf_mpi", "python3")
    verbs = tmp_path / "uverbs0"
    script = steps(nccl.script(SETTINGS, GpuNode(devices=2)))
    for present in (False, True):
        if present:
            verbs.touch()
        text = script.replace("/dev/infiniband/uverbs*", f"{tmp_path}/uverbs*")
        ran = subprocess.run(
            ["/bin/sh"], input=text, text=True, env=environment, capture_output=True, check=True
        )
        parts = ran.stdout.partition("nccl part=all_reduce\n")[2].splitlines()
        calls = [line for line in parts if line.startswith(("all_reduce_perf_mpi ", "nccl part"))]
        one = "all_reduce_perf_mpi  -b 8388608 -e 8589934592 -f 2 -g 2 -w 2 -n 10"
        other = "all_reduce_perf_mpi 1 -b 268435456 -e 4294967296 -f 2 -g 2 -w 2 -n 10"
        assert calls == [one, *(["nccl part=loopback", other] if present else [])]


def test_an_image_without_nccl_tests_runs_our_own_script(tmp_path: pathlib.Path) -> None:
    environment = made(tmp_path, "nvidia-smi", "python3")
    text = steps(nccl.script(SETTINGS, GpuNode(devices=2))).replace("/dev/infiniband/", f"{tmp_path}/none/")
    ran = subprocess.run(["/bin/sh"], input=text, text=True, env=environment, capture_output=True, check=True)
    assert ran.stdout.splitlines()[-1] == (
        "python3  -m torch.distributed.run --nnodes 1 --node_rank 0 --nproc_per_node 2 "
        "--master_addr 127.0.0.1 --master_port 29500 all_reduce.py 8388608 8589934592"
    )


def test_over_nodes(tmp_path: pathlib.Path) -> None:
    environment = made(tmp_path, "nvidia-smi", "python3", "getent")
    script = nccl.script_of_rank(Settings("nccl", nodes=3), GpuNode(devices=2), 2, 3, "nccl-0.nccl.gpus.svc")
    facts = GpuNode(devices=2, rank=2, nodes=3, master="nccl-0.nccl.gpus.svc")
    assert nccl.script(Settings("nccl", nodes=3), facts) == script
    assert script.startswith(
        "nvidia-smi -L\nNODE_RANK=2\nNODES=3\nMASTER_ADDR=nccl-0.nccl.gpus.svc\nMASTER_PORT=29500\n"
    )
    ran = subprocess.run(
        ["/bin/sh"], input=steps(script), text=True, env=environment, capture_output=True, check=True
    )
    lines = ran.stdout.splitlines()
    assert "nccl part=all_reduce rank=2 nodes=3 first=nccl-0.nccl.gpus.svc" in lines
    assert lines[-2:] == [
        "getent  hosts nccl-0.nccl.gpus.svc",
        "python3  -m torch.distributed.run --nnodes 3 --node_rank 2 --nproc_per_node 2 --master_addr "
        "nccl-0.nccl.gpus.svc --master_port 29500 all_reduce.py 8388608 8589934592",
    ]


@pytest.mark.parametrize(
    "script",
    [nccl.script(SETTINGS, GpuNode()), nccl.script_of_rank(SETTINGS, GpuNode(), 0, 2, "first")],
)
def test_the_scripts_are_valid(script: str) -> None:
    assert subprocess.run(["/bin/sh", "-n"], input=script, text=True, check=False).returncode == 0
    compile(nccl.WORKER, "worker", "exec")


class Tensor:
    """A tensor whose values are all the same, as a rank of several sees it."""

    def __init__(self, value: float, count: int) -> None:
        self.value, self.count = value, count

    def fill_(self, value: float) -> None:
        self.value = value

    def item(self) -> float:
        return self.value

    def sum(self) -> Tensor:
        return Tensor(self.value * self.count, 1)

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]
        return Tensor(float(self.value != other), self.count)

    __hash__ = None  # type: ignore[assignment]


def fake(monkeypatch: pytest.MonkeyPatch, broken: bool = False, local: int = 0) -> list[str]:
    """Put a torch of four ranks in place of the real one; each reduction takes a second."""
    world, now, said = 4, [0.0], list[str]()
    distributed = types.ModuleType("torch.distributed")
    torch = types.ModuleType("torch")

    def all_reduce(tensor: Tensor, op: str = "data") -> None:
        now[0] += 1.0 if op == "data" else 0.0
        if op == "data":
            tensor.value = world * (world + 1) / 2 + (1 if broken else 0)

    names: dict[str, t.Any] = {
        "init_process_group": lambda backend, timeout: said.append(backend),
        "destroy_process_group": lambda: said.append("destroyed"),
        "all_reduce": all_reduce,
        "ReduceOp": types.SimpleNamespace(MAX="max", MIN="min", SUM="sum"),
    }
    for name, value in names.items():
        setattr(distributed, name, value)
    cuda = types.SimpleNamespace(
        set_device=lambda number: said.append(f"device {number}"),
        get_device_name=lambda number: "NVIDIA Pretended",
        mem_get_info=lambda: (3 * GIB, 4 * GIB),
        synchronize=lambda: None,
    )
    torch.__dict__.update(
        cuda=cuda,
        distributed=distributed,
        float64="float64",
        tensor=lambda values, dtype, device: Tensor(values[0], 1),
        full=lambda shape, value, device: Tensor(value, shape[0]),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.distributed", distributed)
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    monkeypatch.setattr(sys, "argv", ["all_reduce.py", str(256 << 20), str(8 * GIB)])
    for name, number in (("RANK", local), ("WORLD_SIZE", world), ("LOCAL_RANK", local)):
        monkeypatch.setenv(name, str(number))
    return said


def run_worker() -> t.Any:
    with pytest.raises(SystemExit) as ended:
        exec(compile(nccl.WORKER, "all_reduce.py", "exec"), {"__name__": "worker"})
    return ended.value.code


def test_our_own_script_prints_the_table_of_nccl_tests(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = fake(monkeypatch)
    assert run_worker() == 0
    printed = capsys.readouterr().out
    assert said == ["device 0", "nccl", "destroyed"]
    found = nccl.rows(printed)
    assert [one.size for one in found] == [256 << 20, 512 << 20, 1 << 30]  # half of the free memory
    # 1 GiB in a second is 1.07 GB/s; of four ranks each link carries it 2 * 3 / 4 times.
    assert found[-1] == nccl.Row(GIB, 1.61, 0)
    result = nccl.parse(LIST.splitlines()[0] + "\n" + printed, Settings("nccl", nodes=2))
    assert result.passed
    assert result.figures == (Figure("all_reduce", 1.61, "GB/s"),)
    assert re.search(r"^#  Rank  0 Group  0 Pid .* device  0 \[0000:00:00\] NVIDIA Pretended$", printed, re.M)


def test_our_own_script_counts_wrong_values(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake(monkeypatch, broken=True)
    assert run_worker() == 1
    printed = capsys.readouterr().out
    assert "# Out of bounds values : 3 FAILED" in printed
    assert not nccl.parse(LIST + printed, SETTINGS).passed


def test_only_one_process_of_a_node_prints_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake(monkeypatch, local=1)
    assert run_worker() == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_a_large_log_is_read_in_a_moment() -> None:
    log = LIST + row() * 20_000 + "# Rank 1 device " * 50_000 + "\n" * 50_000 + "NCCL WARN x\n" * 50_000
    assert not nccl.parse(log + "Using network " * 50_000, SETTINGS).passed


def test_over_a_network_of_the_pool(tmp_path: pathlib.Path) -> None:
    settings, facts = (
        Settings("nccl", nodes=2, network="fast"),
        GpuNode(devices=2, rank=1, nodes=2, master="g"),
    )
    script = nccl.script(settings, facts)
    assert "rdma_devices\nexport NCCL_SOCKET_IFNAME=eth0" in script
    assert "rdma_devices" not in nccl.script(Settings("nccl", nodes=2), facts)
    assert subprocess.run(["/bin/sh", "-n"], input=script, text=True, check=False).returncode == 0
    exports = script.partition("rdma_devices\nexport")[2].partition("measure()")[0]
    (tmp_path / "devices").write_text("0 mlx5_2 3 0\n1 mlx5_7 3 1\n", encoding="utf-8")
    show = f"export{exports}\necho $NCCL_IB_HCA $NCCL_IB_GID_INDEX"
    ran = subprocess.run(["/bin/sh"], input=show, text=True, cwd=tmp_path, capture_output=True, check=True)
    assert ran.stdout == "=mlx5_2,mlx5_7 3\n"


def test_sockets_over_a_network_fail() -> None:
    line = (
        "rdma device=0 name=mlx5_0 link=InfiniBand rate=400 state=ACTIVE gid=- speed=32.0 wide=16 gpu=0 "
        "shared=7 gen=5 lanes=16\n"
    )
    log = f"{LIST}rdma asked=1\n{line}rdma devices: mlx5_0\nx NCCL INFO Using network Socket\n{row()}{END}"
    found = nccl.parse(log, Settings("nccl", nodes=2, network="fast"))
    assert not found.passed
    assert [(one.status, one.code) for one in found.findings] == [("fail", "WORK-RDMA-SOCKETS")]
    assert nccl.parse(log.replace("Socket", "IB"), Settings("nccl", nodes=2, network="fast")).passed
    without = nccl.parse(
        log.replace(line, "").replace("Socket", "IB"), Settings("nccl", nodes=2, network="fast")
    )
    assert [one.code for one in without.findings] == ["WORK-RDMA-DEVICE"]
