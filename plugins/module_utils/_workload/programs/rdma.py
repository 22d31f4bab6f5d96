# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Program rdma: how fast two nodes write into each other's memory over a network of the pool.

It is `ib_write_bw` of perftest between the pods of two nodes, from each to the other, for each RDMA device of
the pods: first from host memory to host memory, then between the GPUs that are nearest to the devices. What
was used is read from the output, never from the flags.
"""

from __future__ import annotations

import re
import typing as t

from . import devices, images, readings
from .program import Figure, Finding, GpuNode, Program, Result, Settings

PORT: t.Final = 18515
DEVICE: t.Final = "WORK-RDMA-DEVICE"
GPU: t.Final = "WORK-RDMA-GPU"
IMAGE: t.Final = "WORK-RDMA-IMAGE"
PATH: t.Final = "WORK-RDMA-PATH"
RIGHTS: t.Final = "WORK-RDMA-RIGHTS"
# Share of the line rate below which a link is slow: 85 of 100, 170 of 200, 340 of 400, 680 of 800 Gb/s.
_GOOD: t.Final = 0.85
# Share of the speed from host memory that GPU memory gives, and that the way over the processor gives.
_NEAR, _FAR = 0.9, 0.5
# Gb/s that a PCIe link carries for each GT/s of each lane: 100 for 16 lanes of 8 GT/s.
_PCIE: t.Final = 100 / 128
# `rdma_devices` prints the RDMA devices whose files the pod has, and writes `devices`: a line for each with
# number, name, index of its address or -, and number of the nearest GPU. The table of addresses of a device
# has those of other pods too, so only one of this pod counts.
FUNCTIONS: t.Final = """\
first_line() { head -n 1 "$1" 2>/dev/null; }
own_gid() {
  other=-
  for index in $(ls "$1/gids" 2>/dev/null | sort -n); do
    hex=$(first_line "$1/gids/$index" | tr -d :)
    case $hex in ''|fe80*|00000000000000000000000000000000) continue ;; esac
    [ "$(first_line "$1/gid_attrs/types/$index")" = "RoCE v2" ] || continue
    bytes=$(echo "$hex" | sed 's/.*\\(..\\)\\(..\\)\\(..\\)\\(..\\)$/0x\\1 0x\\2 0x\\3 0x\\4/')
    case $hex in
      00000000000000000000ffff*)
        if grep -q -- "|-- $(printf '%d.%d.%d.%d' $bytes)\\$" /proc/net/fib_trie; then
          echo "$index"
          return
        fi ;;
      *) if grep -q "^$hex" /proc/net/if_inet6; then other=$index; fi ;;
    esac
  done
  echo "$other"
}
nearest_gpu() {
  awk -v path="$1" '{
    n = split($4, own, "/"); m = split(path, its, "/")
    for (i = 1; i <= n && i <= m && own[i] == its[i]; i++);
    if (i > most) { most = i; line = "gpu=" $1 " shared=" i - 1 " gen=" $2 " lanes=" $3 }
  } END { print line ? line : "gpu=0 shared=0 gen=0 lanes=0" }' gpus
}
rdma_devices() {
  echo "rdma rights uid=$(id -u) memlock=$(ulimit -l)" \\
    "effective=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)"
  nvidia-smi --query-gpu=index,pcie.link.gen.max,pcie.link.width.max,pci.bus_id --format=csv,noheader |
    tr -d , | tr A-F a-f | while read -r index gen lanes bus; do
      echo "$index $gen $lanes $(readlink -f "/sys/bus/pci/devices/${bus#0000}")"
    done >gpus
  number=0
  : >devices
  for verbs in $(ls /dev/infiniband 2>/dev/null | grep '^uverbs' | sort -V); do
    name=$(first_line "/sys/class/infiniband_verbs/$verbs/ibdev")
    [ -n "$name" ] || continue
    at=/sys/class/infiniband/$name
    link=$(first_line "$at/ports/1/link_layer") rate=$(first_line "$at/ports/1/rate") gid=-
    state=$(first_line "$at/ports/1/state") slot=$at/device
    if [ "$link" = Ethernet ]; then gid=$(own_gid "$at/ports/1"); fi
    if [ -e "$slot/physfn" ]; then slot=$slot/physfn; fi
    speed=$(first_line "$slot/current_link_speed") wide=$(first_line "$slot/current_link_width")
    near=$(nearest_gpu "$(readlink -f "$at/device")")
    echo "rdma device=$number name=$name link=$link rate=${rate%% *} state=${state#*: } gid=$gid" \\
      "speed=${speed%% *} wide=$wide $near"
    near=${near#gpu=}
    echo "$number $name $gid ${near%% *}" >>devices
    number=$((number + 1))
  done
}
"""
_FOLDER: t.Final = 'cd "$(mktemp -d)" || exit\nexport HOME="$PWD" CUDA_DEVICE_ORDER=PCI_BUS_ID\n'
# Each pod serves all its ports from the beginning, so that no pod misses the other one. The pod with number 1
# measures first; a connection to the first port says that it is done, and the other one measures.
_MEASURE: t.Final = f"""\
TOOL="ib_write_bw -F --report_gbits -D 3 -q 4 -s 1048576"
flags() {{
  echo "-d $1"
  if [ "$2" != - ]; then echo "-x $2"; fi
  case $4 in
    dmabuf) echo "--use_cuda=$3 --use_cuda_dmabuf" ;;
    peermem) echo "--use_cuda=$3" ;;
  esac
}}
serve() {{
  read -r number name gid gpu <devices
  timeout 500 $TOOL $(flags "$name" "$gid" "$gpu" host) -p {PORT} >/dev/null 2>&1 </dev/null &
  signal=$!
  while read -r number name gid gpu; do
    port=$(({PORT} + number * 3))
    for memory in $MEMORIES; do
      port=$((port + 1))
      timeout 500 $TOOL $(flags "$name" "$gid" "$gpu" $memory) -p $port >"served-$port" 2>&1 </dev/null &
    done
  done <devices
}}
ask() {{
  target=$1 tries=$2
  shift 2
  while :; do
    timeout 60 $TOOL "$@" -p "$target" "$PEER" >asked 2>&1 </dev/null
    code=$?
    if [ $code -eq 0 ] || [ "$tries" -le 0 ] || ! grep -q "Couldn't connect to" asked; then break; fi
    tries=$((tries - 1))
    sleep 2
  done
  cat asked
  return $code
}}
ask_all() {{
  most=150
  while read -r number name gid gpu; do
    port=$(({PORT} + number * 3)) used=
    for memory in $MEMORIES; do
      port=$((port + 1))
      if [ "$memory $used" = "peermem dmabuf" ]; then continue; fi
      echo "rdma step device=$number memory=$memory"
      if ask $port $most $(flags "$name" "$gid" "$gpu" $memory); then used=$memory; fi
      most=5
    done
  done <devices
  read -r number name gid gpu <devices
  ask {PORT} 5 $(flags "$name" "$gid" "$gpu" host) >/dev/null
}}
is_there() {{ getent hosts "$PEER" >/dev/null || (sleep 10; getent hosts "$PEER" >/dev/null); }}
wait_for_peer() {{ while kill -0 $signal 2>/dev/null && is_there; do sleep 1; done; }}
measure() {{
  rdma_devices
  if ! command -v ib_write_bw; then echo "ib_write_bw: not found"; return 127; fi
  if [ ! -s devices ]; then echo "No IB devices found"; return 1; fi
  tries=0
  until getent hosts "$PEER" || [ $tries -ge 150 ]; do sleep 2; tries=$((tries + 1)); done
  serve
  if [ "$NODE_RANK" = 0 ]; then wait_for_peer; fi
  ask_all
  if [ "$NODE_RANK" != 0 ]; then wait_for_peer; fi
  echo "rdma end"
  for file in served-*; do grep -H . "$file" | tail -n 4; done
  return 0
}}
"""


class Rail(t.NamedTuple):
    """An RDMA device of the pod, with the GPU that is nearest to it.

    rate: Gb/s of the link. slot, gpu_slot: Gb/s that the PCIe links of both carry, 0 if nobody says it; a
    lane of generation 3 has 8 GT/s, and each generation twice as many. shared: how many parts of their paths
    in sysfs are the same; the fourth is the PCIe root.
    """

    number: int
    name: str
    link: str
    state: str
    rate: float
    slot: float
    gpu: int
    shared: int
    gpu_slot: float

    @property
    def most(self) -> float:
        """Return Gb/s that the link and the slot carry, 0 if nobody says it."""
        return min(filter(None, (self.rate, self.slot)), default=0.0)

    @property
    def way(self) -> str:
        """Return how the data comes from the NIC to the memory of the GPU, as far as the paths say it."""
        where = f"GPU {self.gpu}, the nearest one,"
        if self.shared > 4:
            return (
                f"{where} is under the same PCIe switch as {self.name}: ACS or the IOMMU sends the data away"
            )
        place = "root" if self.shared < 4 else "switch"
        return f"{where} is under another PCIe {place} than {self.name}"


class Step(t.NamedTuple):
    """One run of ib_write_bw. asked: host, dmabuf or peermem. used: the same, as its output says it."""

    device: int
    asked: str
    text: str

    @property
    def used(self) -> str:
        if "using DMA-BUF for GPU buffer" in self.text:
            return "dmabuf"
        return "peermem" if _CUDA.search(self.text) else "host"

    @property
    def speed(self) -> float:
        """Return Gb/s of the last line of its table, 0 without one."""
        unit, rows = _UNIT.search(self.text), _ROW.findall(self.text)
        if not unit or not rows:
            return 0.0
        factor = {"Gb": 1.0, "MiB": 8 * (1 << 20) / 1e9, "MB": 8 * (1 << 20) / 1e9}[unit[1]]
        return round(float(rows[-1]) * factor, 2)


_DEVICE: t.Final = re.compile(
    r"^rdma device=(?P<number>\d+) name=(?P<name>\S+) link=(?P<link>\S*) rate=(?P<rate>\S*) "
    r"state=(?P<state>\S*) gid=\S* speed=(?P<speed>\S*) wide=(?P<wide>\S*) gpu=(?P<gpu>\d+) "
    r"shared=(?P<shared>\d+) gen=(?P<gen>\S*) lanes=(?P<lanes>\S*)$",
    re.MULTILINE,
)
_RIGHTS: t.Final = re.compile(
    r"^rdma rights uid=\d+ memlock=(\w+) effective=([0-9a-fA-F]{1,16})$", re.MULTILINE
)
_ASKED: t.Final = re.compile(r"^rdma asked=(\d+)$", re.MULTILINE)
_STEP: t.Final = re.compile(r"^rdma (?:step device=(\d+) memory=(\w+)|end)$", re.MULTILINE)
_CUDA: t.Final = re.compile(r"^(?:Picking device No\.|allocated GPU buffer|cuMemAlloc\(\) of)", re.MULTILINE)
_UNIT: t.Final = re.compile(r"BW average\[(Gb|MiB|MB)/sec\]")
_ROW: t.Final = re.compile(
    r"^[ \t]*\d+[ \t]+\d+[ \t]+[\d.]+[ \t]+(\d+(?:\.\d+)?)[ \t]+[\d.]+[ \t]*$", re.MULTILINE
)
_NO_MEMORY: t.Final = re.compile(
    r"Couldn't (?:allocate|create)|Unable to create|[Ff]ailed to create [mM][rR]"
)
# What perftest says -> code and cause. The first one that fits counts.
_TEXTS: t.Final = tuple(
    (re.compile(pattern), code, why)
    for pattern, code, why in (
        (
            r"ib_write_bw: (?:command )?not found|unrecognized option '?--use_cuda|invalid option -- ",
            IMAGE,
            "its ib_write_bw is not there, or was built without CUDA",
        ),
        (
            r"IB device \S+ not found|No IB devices found|Unable to find the Infiniband/RoCE device"
            r"|Couldn't get context for the device",
            DEVICE,
            "the pod cannot open an RDMA device",
        ),
        (r"OFED stack does not support DMA-BUF", GPU, "the driver of the NIC has no DMA-BUF"),
        (r"DMA-BUF is not supported|cuMemGetHandle\w+ error=", GPU, "the driver of the GPU gave no DMA-BUF"),
        (
            r"Failed to modify QP \d+ to RT[RS]|Unable to Connect the HCA's|[Cc]ompletion with error"
            r"|Failed status \d+",
            PATH,
            "the devices found no way to each other",
        ),
        (
            r"Couldn't connect to |Name or service not known|Failed to exchange data"
            r"|Unable to (?:read|write)",
            PATH,
            "the pod on the other node did not answer",
        ),
    )
)


def unfit(_settings: Settings, node: GpuNode) -> str:
    """Return why a NIC cannot reach the memory of the GPUs."""
    return "its GPUs are partitioned, and NICs reach whole ones" if node.mig else ""


def script(settings: Settings, node: GpuNode) -> str:
    """Return the script of one of two pods that write into each other's memory."""
    peer = node.master if node.rank else node.master.replace("-r0.", "-r1.", 1)
    memories = "host dmabuf peermem" if settings.gpu_memory else "host"
    top = f"NODE_RANK={node.rank}\nNODES={node.nodes}\nMASTER_ADDR={node.master}\nPEER={peer}\n"
    top += f'MEMORIES="{memories}"\n{_FOLDER}{asked(node)}'
    return f"{devices.LIST}\n{top}{FUNCTIONS}{_MEASURE}{readings.beside('measure')}"


def asked(node: GpuNode) -> str:
    """Return the line that says how many RDMA devices the pod asked for."""
    return f"echo rdma asked={node.rdma}\n"


def rails(log: str) -> list[Rail]:
    """Return the RDMA devices that the pod could open."""
    return [
        Rail(
            int(found["number"]),
            found["name"],
            found["link"],
            found["state"],
            rate=_number(found["rate"]),
            slot=_number(found["speed"]) * _number(found["wide"]) * _PCIE,
            gpu=int(found["gpu"]),
            shared=int(found["shared"]),
            gpu_slot=2 ** _number(found["gen"]) * _number(found["lanes"]) * _PCIE,
        )
        for found in _DEVICE.finditer(log)
    ]


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"\d{1,6}(\.\d{1,6})?", text) else 0.0


def rights(log: str) -> str:
    """Return by which right the pod locked memory: memlock, IPC_LOCK, or an empty text if it may not."""
    found = _RIGHTS.search(log)
    if found and int(found[2], 16) & 1 << 14:  # CAP_IPC_LOCK
        return "IPC_LOCK"
    return "memlock" if found and found[1] == "unlimited" else ""


def device_faults(log: str) -> t.Iterator[Finding]:
    """Yield what is wrong with the RDMA devices of the pod: too many, too few, or a link that is down."""
    said, found = _ASKED.search(log), rails(log)
    wanted = int(said[1]) if said else 0
    if not found or (wanted and len(found) != wanted):
        words = f"the pod asked for {wanted or 'some'} of the RDMA devices, and has {len(found)}"
        yield Finding("rdma", "fail", words, code="WORK-RDMA-EXTRA" if len(found) > wanted else DEVICE)
    for rail in found:
        if rail.state not in ("", "ACTIVE"):
            yield Finding("rdma", "fail", f"the link of {rail.name} is {rail.state}", code=PATH)


def parse(log: str, settings: Settings) -> Result:
    """Return the speed of each RDMA device, from host memory and from GPU memory, and what was used."""
    found, steps = rails(log), _steps(log)
    findings, figures, memory = list(device_faults(log)), list[Figure](), set[str]()
    for rail in found:
        device = f"rail {rail.number}" if len(found) > 1 else ""
        mine = [step for step in steps if step.device == rail.number]
        speed, said = _host(rail, mine or [Step(rail.number, "host", log)], log)
        if speed:
            figures.append(Figure("host", speed, "Gb/s", device, least=round(rail.most * _GOOD, 1)))
        if speed and settings.gpu_memory:
            most = min(filter(None, (speed, rail.gpu_slot)))
            step, notes = _gpu(rail, mine, most)
            if most < speed:
                words = f"the PCIe link of GPU {rail.gpu} carries {most:.0f} Gb/s at most, which is no fault"
                notes.append(Finding("gpu", "warn", words))
            said += notes
            if step:
                figures.append(Figure("gpu", step.speed, "Gb/s", device, least=round(most * _NEAR, 1)))
                memory.add(step.used)
        findings += [one._replace(device=device) for one in said]
    links = [f"{rail.name}: {rail.link} {rail.rate:g} Gb/s" for rail in found]
    return Result(
        passed=bool(figures) and not any(one.status == "fail" for one in findings),
        uuids=tuple(devices.uuids(log)),
        figures=tuple(figures),
        findings=tuple(dict.fromkeys([*findings, *readings.parse(log)])),
        extra={"rights": rights(log), "gpu_memory": sorted(memory), "links": links},
    )


def _steps(log: str) -> list[Step]:
    """Return the runs in which this pod wrote into the other one."""
    found = list(_STEP.finditer(log))
    ends = [mark.start() for mark in found[1:]] + [len(log)]
    return [
        Step(int(mark[1]), mark[2], log[mark.end() : ends[index]])
        for index, mark in enumerate(found)
        if mark[1]
    ]


def _host(rail: Rail, steps: t.Sequence[Step], log: str) -> tuple[float, list[Finding]]:
    """Return the speed from host memory, 0 without one, and what is said of it."""
    step = next((one for one in steps if one.asked == "host"), Step(rail.number, "host", ""))
    if step.speed:
        words = f"the PCIe slot of {rail.name} carries {rail.most:.0f} of the {rail.rate:g} Gb/s of its link"
        return step.speed, [Finding("host", "warn", words)] if rail.most < rail.rate else []
    if _NO_MEMORY.search(step.text) and not rights(log):
        return 0.0, [Finding("host", "fail", f"{rail.name}: the pod may not lock memory", code=RIGHTS)]
    return 0.0, [_fault("host", rail, [step])]


def _gpu(rail: Rail, steps: t.Sequence[Step], most: float) -> tuple[Step | None, list[Finding]]:
    """Return the run that used GPU memory, and what is said of it. most: Gb/s that it could have."""
    tried = [one for one in steps if one.asked != "host"]
    step = next((one for one in tried if one.speed and one.used != "host"), None)
    if step:
        is_far = step.speed <= most * _FAR
        return step, [Finding("gpu", "warn", rail.way, code="WORK-RDMA-RAIL")] if is_far else []
    if any(one.speed for one in tried):
        words = f"{rail.name}: ib_write_bw did not use the memory of the GPU, although it was told to"
        return None, [Finding("gpu", "fail", words, code=GPU)]
    return None, [_fault("gpu", rail, tried)]


def _fault(test: str, rail: Rail, steps: t.Sequence[Step]) -> Finding:
    """Return why the runs gave no speed, by the words of perftest."""
    reasons, codes = list[str](), list[str]()
    for step in steps:
        code, why = next(((code, why) for one, code, why in _TEXTS if one.search(step.text)), ("", ""))
        if not code and step.asked != "host" and _NO_MEMORY.search(step.text):
            why = "nvidia-peermem is not loaded" if step.asked == "peermem" else "the NIC took no DMA-BUF"
        codes.append(code)
        reasons.append(f"{step.asked}: {why or _last(step.text)}")
    code = next((one for one in (IMAGE, DEVICE, GPU, PATH) if one in codes), GPU if test == "gpu" else PATH)
    return Finding(test, "fail", f"{rail.name}: {'; '.join(reasons)}", code=code)


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it printed nothing"


PROGRAM: t.Final = Program(
    "node", images.perftest, script, parse, lambda _settings: 600, unfit, cpu=1, memory=2048
)
