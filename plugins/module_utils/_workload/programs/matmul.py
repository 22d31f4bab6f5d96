# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Program matmul: matrix multiplication on all GPUs of a node at once. Its TFLOPS show a slow GPU.

A GPU warms up for 2 s and is measured for 10 s, in windows of about half a second; its figure is the median
of the windows. 8192^3 fills the tensor cores; libraries reach 80 to 90 % of the best known shapes with it.
"""

from __future__ import annotations

import re
import statistics
import typing as t

from . import devices, images, readings
from .program import Figure, Finding, GpuNode, Program, Result, Settings

# Type -> least compute capability.
TYPES: t.Final = {"fp32": (0, 0), "tf32": (8, 0), "bf16": (8, 0), "fp16": (5, 3), "fp8": (8, 9)}
SECONDS: t.Final = 10
_WORKER: t.Final = """\
import statistics, sys, time, torch
number, seconds, types = sys.argv[1], float(sys.argv[2]), sys.argv[3].split(",")
size = 8192
DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
def product_of(name):
    torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
    if name != "fp8":
        left, right = (torch.randn(size, size, device="cuda").to(DTYPES[name]) for _ in range(2))
        return lambda: left @ right
    left, right = (torch.randn(size, size, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    one, turned = torch.ones((), device="cuda"), right.t()
    return lambda: torch._scaled_mm(left, turned, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
def run(multiply, rounds):
    start = time.perf_counter()
    for _ in range(rounds):
        product = multiply()
    torch.cuda.synchronize()
    return time.perf_counter() - start, product
for name in types:
    multiply = product_of(name)
    run(multiply, 1)
    rounds = max(1, int(0.5 / max(run(multiply, 3)[0] / 3, 1e-6)))
    print("ready", flush=True)
    sys.stdin.readline()
    end = time.perf_counter() + 2
    while time.perf_counter() < end:
        run(multiply, rounds)
    windows, total = [], 0.0
    while total < seconds:
        spent, product = run(multiply, rounds)
        total += spent
        windows.append(2 * size ** 3 * rounds / spent / 1e12)
    finite = bool(torch.isfinite(product.float()).all())
    print(f"matmul gpu={number} type={name} size={size} windows={len(windows)} seconds={total:.1f} "
          f"median={statistics.median(windows):.1f} least={min(windows):.1f} "
          f"greatest={max(windows):.1f} finite={str(finite).lower()}", flush=True)
"""
# One process for each device, because a process can use only one MIG device. All begin at the same moment.
_PROGRAM: t.Final = f"""\
{devices.IN_PYTHON}WORKER = '''{_WORKER}'''
types = sys.argv[2].split(",")
workers = [
    subprocess.Popen([sys.executable, "-c", WORKER, str(number), *sys.argv[1:3]], text=True,
                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                     env={{**os.environ, "CUDA_VISIBLE_DEVICES": uuid, "HOME": "/tmp"}})
    for number, uuid in enumerate(uuids)
]
def until(worker, word):
    for line in worker.stdout:
        if line.startswith(word):
            return line
        print(line, end="", flush=True)
    return ""
for name in types:
    if not all([until(worker, "ready") for worker in workers]):
        break
    for worker in workers:
        worker.stdin.write("go\\n")
        worker.stdin.flush()
    for worker in workers:
        print(until(worker, "matmul "), end="", flush=True)
for worker in workers:
    worker.stdin.close()
    print(worker.stdout.read(), end="", flush=True)
sys.exit(max([worker.wait() != 0 for worker in workers], default=True))
"""
_LINE = re.compile(
    r"^matmul gpu=(?P<gpu>\d+) type=(?P<type>\w+) size=(?P<size>\d+) windows=(?P<windows>\d+) "
    r"seconds=(?P<seconds>[\d.]+) median=(?P<median>[\d.]+) least=(?P<least>[\d.]+) "
    r"greatest=(?P<greatest>[\d.]+) finite=(?P<finite>\w+)",
    re.MULTILINE,
)


def types(settings: Settings, node: GpuNode) -> tuple[str, ...]:
    """Return the types to measure: those of the settings, else the one that training uses on such a GPU."""
    if settings.types:
        return settings.types
    return ("bf16",) if node.compute is not None and node.compute >= TYPES["bf16"] else ("fp16",)


def unfit(settings: Settings, node: GpuNode) -> str:
    """Return why the GPU cannot multiply in the wanted types, empty if it can or if its kind is unknown."""
    lacking = [name for name in settings.types if node.compute is not None and node.compute < TYPES[name]]
    return f"{node.product or 'the GPU'} has no {', '.join(lacking)}" if lacking else ""


def script(settings: Settings, node: GpuNode) -> str:
    """Return the script of a pod that has all devices of the node."""
    command = (
        f"python3 - {settings.seconds or SECONDS} {','.join(types(settings, node))} "
        f"<<'PROGRAM'\n{_PROGRAM}PROGRAM"
    )
    return f"{devices.LIST}\n{readings.beside(command)}"


def parse(log: str, settings: Settings) -> Result:
    """Return the median of each device and type in TFLOPS. A device without a figure did not pass."""
    uuids = tuple(devices.uuids(log))
    lines = list(_LINE.finditer(log))
    figures = tuple(
        Figure(line["type"], float(line["median"]), "TFLOPS", devices.at(uuids, int(line["gpu"])))
        for line in lines
        if line["finite"] == "true" and float(line["median"]) > 0
    )
    wanted = set(settings.types) or {figure.name for figure in figures}
    missing = [uuid for uuid in uuids if {one.name for one in figures if one.device == uuid} < wanted]
    wrong = [line for line in lines if line["finite"] != "true"]
    texts = {
        devices.at(uuids, int(line["gpu"])): "a product has values that are not finite" for line in wrong
    }
    texts = texts or dict.fromkeys(missing, "it measured nothing")
    findings = [Finding("matmul", "fail", text, uuid) for uuid, text in texts.items()]
    findings += readings.parse(log)
    return Result(
        passed=bool(figures) and bool(uuids) and not any(one.status == "fail" for one in findings),
        uuids=uuids,
        figures=figures,
        findings=tuple(findings),
        extra={"tflops": statistics.median(one.value for one in figures)} if figures else {},
    )


PROGRAM: t.Final = Program(
    "node",
    image=images.pytorch,
    script=script,
    parse=parse,
    unfit=unfit,
    cpu=1,
    memory=8192,
    shared_memory=1,
    takes_shares=True,
)
