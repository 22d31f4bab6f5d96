# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Program gpu_burn: minutes of full load on all GPUs. It finds wrong results and GPUs that get too hot.

Source of the output: wilicc/gpu-burn. The image is the one of NVIDIA's tests on OpenShift; it runs as an
ordinary user.
"""

from __future__ import annotations

import re
import typing as t

from . import devices, images, readings
from .program import Figure, Finding, GpuNode, Program, Result, Settings

SECONDS: t.Final = 120
# The tool writes one line over itself: `10.0%  proc'd: 12 (900 Gflop/s)   errors: 0   temps: 55 C`; of
# several GPUs each part has several numbers with ` - ` between them.
_PROGRESS: t.Final = re.compile(
    r"[\d.]+%\s+proc'd:(?P<speeds>[^\r\n]*?)\s+errors:(?P<errors>[^\r\n]*?)\s+temps:(?P<heat>[^\r\n]*)"
)
_SPEED: t.Final = re.compile(r"\(([\d.]+) Gflop/s\)")
_VERDICT: t.Final = re.compile(r"^\s*GPU (\d+): (OK|FAULTY)\s*$", re.MULTILINE)


def script(settings: Settings, _node: GpuNode) -> str:
    """Return the script of a pod that has all devices of the node."""
    seconds = burning(settings)
    find = "burn=$(command -v gpu_burn || ls /app/gpu_burn /gpu_burn ./gpu_burn 2>/dev/null | head -n 1)"
    run = f'{find}\n(cd "$(dirname "$burn")" && ./gpu_burn {seconds})'
    return f"{devices.LIST}\n{readings.beside(f'{{ {run}; }}')}"


def parse(log: str, _settings: Settings) -> Result:
    """Return the last speed of each GPU. Errors, a faulty GPU, or a GPU without a verdict did not pass."""
    uuids = tuple(devices.uuids(log))
    lines = list(_PROGRESS.finditer(log))
    verdicts = {int(found[1]): found[2] for found in _VERDICT.finditer(log)}
    last = lines[-1] if lines else None
    speeds = [float(one) for one in _SPEED.findall(last["speeds"])] if last else []
    heat = [int(one) for one in re.findall(r"(\d+) C", last["heat"])] if last else []
    errors = [sum(numbers) for numbers in zip(*(_errors(line) for line in lines), strict=False)]
    findings = list(readings.parse(log))
    for number, uuid in enumerate(uuids):
        if verdicts.get(number) == "FAULTY" or (number < len(errors) and errors[number]):
            text = f"{errors[number] if number < len(errors) else 'some'} wrong results under load"
            findings.append(Finding("gpu_burn", "fail", text, uuid, "replace"))
        elif number not in verdicts:
            findings.append(Finding("gpu_burn", "fail", "it measured nothing: no verdict on the GPU", uuid))
    figures = [
        Figure("burn", speed, "GFLOPS", devices.at(uuids, number)) for number, speed in enumerate(speeds)
    ]
    figures += [
        Figure("heat", float(one), "C", devices.at(uuids, index), "lower") for index, one in enumerate(heat)
    ]
    is_good = bool(uuids) and bool(figures) and not any(one.status == "fail" for one in findings)
    return Result(is_good, uuids, tuple(figures), tuple(findings))


def _errors(line: re.Match[str]) -> list[int]:
    return [int(one) for one in re.findall(r"\d+", line["errors"].replace("(WARNING!)", ""))]


def unfit(_settings: Settings, node: GpuNode) -> str:
    """Return why the program says nothing about MIG devices: a process sees one of them."""
    return "gpu_burn loads whole GPUs, and the node has MIG devices" if node.mig else ""


def burning(settings: Settings) -> int:
    """Return for how long the GPUs are loaded."""
    return settings.seconds or SECONDS


PROGRAM: t.Final = Program(
    "node",
    image=images.gpu_burn,
    script=script,
    parse=parse,
    seconds=burning,
    unfit=unfit,
    cpu=1,
    memory=2048,
)
