# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Program nvbandwidth: copies between the host and each GPU, and between each pair of GPUs.

DCGM's image has the program, and the pod calls it: DCGM's own test of that name says only whether it ran,
and leaves the figures in a file of the machine where it ran. If the pod cannot find the program, it runs
that test in itself, and reads the file.
"""

from __future__ import annotations

import re
import typing as t

from . import dcgm, devices, documents, images, readings
from .program import Figure, Finding, GpuNode, Program, Result, Settings

HOST_TO_DEVICE: t.Final = "host_to_device"
DEVICE_TO_HOST: t.Final = "device_to_host"
DEVICE_TO_DEVICE: t.Final = "device_to_device"
# Test case -> figure.
CASES: t.Final = {
    "host_to_device_memcpy_ce": HOST_TO_DEVICE,
    "device_to_host_memcpy_ce": DEVICE_TO_HOST,
    "device_to_device_memcpy_write_ce": DEVICE_TO_DEVICE,
}
# Reading is tried where a log has it; an image's older program may know no other one.
_READ: t.Final = "device_to_device_memcpy_read_ce"
# The build for CUDA 13 has no code for GPUs before Turing, and needs a driver for CUDA 13.
_TURING: t.Final = (7, 5)
PLUGINS: t.Final = "/usr/libexec/datacenter-gpu-manager-4/plugins"
_RUN: t.Final = """\
measure() {
  tool=$(command -v nvbandwidth) || tool=
  for directory in $plugins; do
    if [ -z "$tool" ] && [ -x "$directory/nvbandwidth" ]; then tool=$directory/nvbandwidth; fi
  done
  if [ -z "$tool" ]; then
    ids_of_pod
    echo "nvbandwidth by=dcgm gpus=$ids"
    dcgmi diag -i "$ids" $options >dcgm.out
    code=$?
    cat dcgm_nvbandwidth*.log >>dcgm.out
    return $code
  fi
  echo "nvbandwidth by=$tool"
  export CUDA_DEVICE_ORDER=PCI_BUS_ID
  "$tool" -j $cases >dcgm.out
}
"""
_OPTIONS: t.Final = "--run nvbandwidth --json --verbose -p nvbandwidth.is_allowed=true"
_CASE: t.Final = re.compile(r"^Running (\w+)\.\s*$")
_WAIVED: t.Final = re.compile(r"^Waived\b", re.IGNORECASE)
_NUMBER: t.Final = r"(?:\d+(?:\.\d+)?|N/A)"
_ROW: t.Final = re.compile(rf"^\s*\d+(?:\s+{_NUMBER})+\s*$")
_LONGEST: t.Final = 10_000
_BROKEN: t.Final = re.compile(
    r"^(?:\[CUDA_ERROR|\[cudaError|NVML_ERROR|ASSERT in |ERROR: |Error: | ?Invalid value when checking).*$",
    re.MULTILINE,
)
Matrix = list[list[float]]


def unfit(_settings: Settings, node: GpuNode) -> str:
    """Return why the GPUs cannot be measured."""
    return "its GPUs are partitioned, and their parts share one link to the host" if node.mig else ""


def script(_settings: Settings, node: GpuNode) -> str:
    """Return the script of a pod that has all GPUs of the node."""
    old = node.compute is not None and node.compute < _TURING
    newer = (
        "" if old else f"case $(nvidia-smi) in *'CUDA Version: 1'[3-9]*) plugins={PLUGINS}/cuda13 ;; esac\n"
    )
    cases = " ".join(f"-t {name}" for name in CASES)
    return (
        f"{devices.LIST}\nplugins=\n{newer}plugins=\"$plugins {PLUGINS}/cuda12\"\ncases='{cases}'\n"
        f"{dcgm.functions(node, _OPTIONS)}{_RUN}{readings.beside('measure')}{dcgm.REPORT}"
    )


def parse(log: str, _settings: Settings) -> Result:
    """Return GB/s from and to each GPU, and between each pair: the slower direction counts."""
    uuids = tuple(devices.uuids(log))
    found, findings = _documents(log)
    blocks, unfinished = _blocks(log)
    found, findings = {**blocks, **found}, [*findings, *unfinished]
    figures = tuple(_figures(found, uuids))
    findings += [Finding("nvbandwidth", "fail", line.strip()) for line in _BROKEN.findall(log)[:3]]
    findings += _of_dcgm(log)
    if not any(one.status == "fail" for one in findings):
        findings += _missing(figures, uuids, dcgm.exit_code(log))
    if len(uuids) > 1 and not any(one.name == DEVICE_TO_DEVICE for one in figures):
        text = "no two GPUs can reach one another's memory, so no copy between them was measured"
        findings.append(Finding(DEVICE_TO_DEVICE, "skip", text))
    findings += readings.parse(log)
    return Result(
        passed=bool(figures) and not any(one.status == "fail" for one in findings),
        uuids=uuids,
        figures=figures,
        findings=tuple(dict.fromkeys(findings)),
    )


def _documents(log: str) -> tuple[dict[str, Matrix], list[Finding]]:
    """Return the tables in the program's JSON, and what it says about its test cases."""
    found: dict[str, Matrix] = {}
    findings: list[Finding] = []
    for document in documents.find(log, "nvbandwidth"):
        root = document["nvbandwidth"] if isinstance(document["nvbandwidth"], dict) else {}
        errors = documents.texts(root.get("error"))
        findings += [Finding("nvbandwidth", "fail", text) for text in errors]
        for case in documents.mappings(root.get("testcases")):
            name, status = str(case.get("name")), str(case.get("status"))
            errors = documents.texts(case.get("error"))
            if status not in ("Passed", "Waived") or errors:
                findings.append(Finding(name, "fail", " ".join(errors) or f"nvbandwidth says {status}"))
            elif status == "Passed" and isinstance(case.get("bandwidth_matrix"), list):
                rows = [row for row in case["bandwidth_matrix"] if isinstance(row, list)]
                found[name] = [[_value(cell) for cell in row] for row in rows]
    return found, findings


def _value(cell: t.Any) -> float:
    """Return a cell's number; 0 for one that was not measured."""
    text = str(cell)
    return float(text) if re.fullmatch(r"\d+(\.\d+)?(e[+-]?\d+)?", text) else 0.0


def _blocks(log: str) -> tuple[dict[str, Matrix], list[Finding]]:
    """Return the tables of the program's text: a row of column numbers, then numbered rows.

    A test case without its whole table is a finding.
    """
    found: dict[str, Matrix] = {}
    findings: list[Finding] = []
    name, columns = "", 0
    for line in [*log.splitlines(), "Running end."]:
        if begins := _CASE.match(line):
            if name and not _is_whole(name, found.get(name, []), columns):
                findings.append(Finding(name, "fail", "the log ends before its figures do"))
            name, columns = begins[1], 0
        elif name and len(line) < _LONGEST:
            cells = line.split()
            if not columns and cells and cells == [str(number) for number in range(len(cells))]:
                columns = len(cells)
            elif _WAIVED.match(line):
                name = ""
            elif columns and _ROW.match(line) and len(cells) == columns + 1:
                table = found.setdefault(name, [])
                table += [[_value(cell) for cell in cells[1:]]] if int(cells[0]) == len(table) else []
    return found, findings


def _is_whole(name: str, table: Matrix, columns: int) -> bool:
    return len(table) == (columns if name.startswith(DEVICE_TO_DEVICE) else 1) and columns > 0


def _figures(found: t.Mapping[str, Matrix], uuids: t.Sequence[str]) -> t.Iterator[Figure]:
    for case, name in CASES.items():
        table = found.get(case) or (found.get(_READ, []) if name == DEVICE_TO_DEVICE else [])
        if name == DEVICE_TO_DEVICE:
            yield from _pairs(table)
            continue
        for number, value in enumerate(table[0] if table else []):
            if value > 0:
                yield Figure(name, round(value, 2), "GB/s", _device(uuids, number))


def _device(uuids: t.Sequence[str], number: int) -> str:
    return uuids[number] if number < len(uuids) else f"GPU {number}"


def _pairs(table: Matrix) -> t.Iterator[Figure]:
    for one, row in enumerate(table):
        for other in range(one + 1, len(row)):
            back = table[other][one] if other < len(table) and one < len(table[other]) else 0.0
            if row[other] > 0 and back > 0:
                yield Figure(DEVICE_TO_DEVICE, round(min(row[other], back), 2), "GB/s", f"{one}-{other}")


def _of_dcgm(log: str) -> list[Finding]:
    """Return what DCGM's own test says, if it was asked for."""
    names = dcgm.names_of(log)
    runs = documents.find(log, *dcgm.ROOTS)
    tests = [one for run in runs for one in dcgm.tests_of(run, names)]
    findings = [one.as_finding() for one in tests if one.test == "nvbandwidth" and one.state != "pass"]
    refused = [text for run in runs for text in dcgm.refusals(run)]
    return [*findings, *(Finding("nvbandwidth", "fail", text) for text in refused)]


def _missing(figures: t.Sequence[Figure], uuids: t.Sequence[str], code: int) -> list[Finding]:
    """Return the GPUs that lack a figure."""
    if not figures or code:
        what = "it measured nothing" if not figures else "it did not run to its end"
        return [Finding("nvbandwidth", "fail", f"{what} (exit code {code})" if code else what)]
    return [
        Finding(name, "fail", "it measured nothing", uuid)
        for name in (HOST_TO_DEVICE, DEVICE_TO_HOST)
        for uuid in uuids
        if not any(one.name == name and one.device == uuid for one in figures)
    ]


PROGRAM: t.Final = Program(
    "node", image=images.dcgm, script=script, parse=parse, unfit=unfit, cpu=1, memory=2048
)
