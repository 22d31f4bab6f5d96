"""Program nvbandwidth: which program runs, and the tables of its JSON and of its text."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import (
    dcgm,
    nvbandwidth,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    Figure,
    GpuNode,
    Settings,
)

SAMPLES = pathlib.Path(__file__).parent / "samples"
UUIDS = tuple(f"GPU-{number}b2f1c7e-3d0a-4c1b-9a55-0f6e2d7c8a1{number}" for number in range(4))
LIST = "".join(f"GPU {number}: NVIDIA H100 80GB HBM3 (UUID: {uuid})\n" for number, uuid in enumerate(UUIDS))
SETTINGS = Settings("nvbandwidth")
# The program prints the number of a row at the start of the line; cells on the diagonal were 0.00 once.
OLD = """\
Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
          0         1
0     26.03     25.94

Running device_to_host_memcpy_ce.
memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)
          0         1
0     26.30     26.31

Running device_to_device_memcpy_write_ce.
memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)
          0         1
0      0.00    276.07
1    274.19      0.00
"""


def sample(name: str) -> str:
    return (SAMPLES / name).read_text(encoding="utf-8")


def document(**cases: list[list[str]] | str) -> str:
    """Return the program's JSON with these tables, or with the status of a case that has none."""
    testcases = [
        {"name": f"{name}_ce", "status": "Passed", "bandwidth_matrix": table}
        if isinstance(table, list)
        else {"name": f"{name}_ce", "status": table}
        for name, table in cases.items()
    ]
    return json.dumps({"nvbandwidth": {"version": "v0.8", "testcases": testcases}}) + "\n"


HOST = {"host_to_device_memcpy": [["55"] * 4], "device_to_host_memcpy": [["56"] * 4]}


def test_healthy() -> None:
    found = nvbandwidth.parse(sample("nvbandwidth-healthy.log"), SETTINGS)
    assert found.passed
    assert found.findings == ()
    assert Figure("host_to_device", 55.34, "GB/s", UUIDS[0]) in found.figures
    assert Figure("device_to_host", 55.63, "GB/s", UUIDS[3]) in found.figures
    pairs = {one.device for one in found.figures if one.name == "device_to_device"}
    assert pairs == {"0-1", "0-2", "0-3", "1-2", "1-3", "2-3"}
    assert len(found.figures) == 14


def test_faulty() -> None:
    found = nvbandwidth.parse(sample("nvbandwidth-faulty.log"), SETTINGS)
    assert not found.passed
    assert [one.test for one in found.findings if one.status == "fail"] == [
        "nvbandwidth",
        "device_to_device_memcpy_write_ce",
    ]
    assert "CUDA_ERROR_ECC_UNCORRECTABLE" in found.findings[0].text
    assert Figure("host_to_device", 13.02, "GB/s", UUIDS[1]) in found.figures


def test_the_slower_direction_of_a_pair_counts() -> None:
    found = nvbandwidth.parse(sample("nvbandwidth-text.log"), SETTINGS)
    assert found.passed
    pairs = {one.device: one.value for one in found.figures if one.name == "device_to_device"}
    assert pairs["1-3"] == 41.07
    assert min(value for pair, value in pairs.items() if pair != "1-3") > 390


def test_text_of_an_older_release() -> None:
    found = nvbandwidth.parse("".join(LIST.splitlines(keepends=True)[:2]) + OLD, SETTINGS)
    assert found.passed
    assert found.figures == (
        Figure("host_to_device", 26.03, "GB/s", UUIDS[0]),
        Figure("host_to_device", 25.94, "GB/s", UUIDS[1]),
        Figure("device_to_host", 26.3, "GB/s", UUIDS[0]),
        Figure("device_to_host", 26.31, "GB/s", UUIDS[1]),
        Figure("device_to_device", 274.19, "GB/s", "0-1"),
    )


def test_gpus_that_cannot_reach_one_another() -> None:
    found = nvbandwidth.parse(LIST + document(**HOST, device_to_device_memcpy_write="Waived"), SETTINGS)
    assert found.passed
    assert [(one.test, one.status) for one in found.findings] == [("device_to_device", "skip")]


def test_the_figures_of_dcgm_are_those_of_the_file_that_it_leaves() -> None:
    run = {
        "DCGM Diagnostic": {
            "test_categories": [
                {
                    "category": "Hardware",
                    "tests": [{"name": "nvbandwidth", "results": [{"entity_id": 0, "status": "Pass"}]}],
                }
            ]
        }
    }
    log = f"{LIST.splitlines()[0]}\nnvbandwidth by=dcgm gpus=gpu:0\n{json.dumps(run)}\n"
    assert nvbandwidth.parse(log, SETTINGS).findings[0].text == "it measured nothing"
    file = document(host_to_device_memcpy=[["55"]], device_to_host_memcpy=[["56"]])
    assert nvbandwidth.parse(log + file + "exit code 0\n", SETTINGS).passed


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", "measured nothing"),
        (LIST, "measured nothing"),
        (LIST + document(**HOST)[:-30], "measured nothing"),
        (LIST + document(host_to_device_memcpy=[["55"] * 3], device_to_host_memcpy=[["56"] * 4]), "nothing"),
        (
            LIST + document(host_to_device_memcpy=[["nan"] * 4], device_to_host_memcpy=[["N/A"] * 4]),
            "nothing",
        ),
        (LIST + document(host_to_device_memcpy=[["0"] * 4], device_to_host_memcpy=[["56"] * 4]), "nothing"),
        (LIST + document(**HOST, device_to_device_memcpy_write="Error"), "nvbandwidth says Error"),
        (LIST + document(**HOST) + "exit code 139\n", "(exit code 139)"),
        (LIST + OLD[: OLD.index("1    274")], "ends before its figures"),
        (LIST + OLD[: OLD.index("memcpy CE GPU(row)")], "ends before its figures"),
        (
            LIST + "NVML_ERROR: [GPU is lost] in expression nvmlInit() in int main() : nvbandwidth.cpp:231\n",
            "GPU is lost",
        ),
        (LIST + document(**HOST) + " Invalid value when checking the pattern at 0x7f\n", "Invalid value"),
        (LIST + json.dumps({"nvbandwidth": None}) + "\n", "measured nothing"),
        (
            LIST + "nvbandwidth by=dcgm gpus=gpu:0\n/bin/sh: dcgmi: not found\nexit code 127\n",
            "exit code 127",
        ),
        (
            LIST + json.dumps({"DCGM Diagnostic": {"runtime_error": "Error: no such test"}}) + "\n",
            "no such test",
        ),
    ],
)
def test_what_did_not_pass(log: str, words: str) -> None:
    found = nvbandwidth.parse(log, SETTINGS)
    assert not found.passed
    assert any(words in one.text for one in found.findings if one.status == "fail")


def test_partitioned_gpus_are_unfit() -> None:
    assert "partitioned" in nvbandwidth.unfit(SETTINGS, GpuNode(mig=True))
    assert nvbandwidth.unfit(SETTINGS, GpuNode()) == ""


@pytest.mark.parametrize("has", ["PATH", "plugin", "dcgm"])
def test_which_program_runs(tmp_path: pathlib.Path, has: str) -> None:
    tool = '#!/bin/sh\necho "called $@" >&2\nprintf \'{"nvbandwidth": 1}\\n\'\nexit 3\n'
    dcgmi = (
        '#!/bin/sh\n[ "$1" = diag ] || exit 1\necho "called $@" >&2\necho \'{"DCGM Diagnostic": 1}\'\n'
        "echo '{\"nvbandwidth\": 2}' >dcgm_nvbandwidth.log\nexit 3\n"
    )
    smi = f"#!/bin/sh\necho '{LIST.splitlines()[0]}'\n"
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    files = {tmp_path / "nvidia-smi": smi}
    if has != "dcgm":
        files[(tmp_path if has == "PATH" else plugins) / "nvbandwidth"] = tool
    else:
        files[tmp_path / "dcgmi"] = dcgmi
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    script = nvbandwidth.script(SETTINGS, GpuNode(compute=(9, 0)))
    begin, _, rest = script.partition("readings() {")
    steps = f"{begin}measure{dcgm.REPORT}".replace(f"{nvbandwidth.PLUGINS}/cuda12", str(plugins))
    assert "measure\ncode=$?" in rest
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)}
    ran = subprocess.run(
        ["/bin/sh"], input=steps, text=True, env=environment, capture_output=True, check=False
    )
    assert ran.returncode == 3
    said = {
        "dcgm": "called diag -i gpu:0 --run nvbandwidth --json --verbose -p nvbandwidth.is_allowed=true\n",
    }
    cases = "-j -t host_to_device_memcpy_ce -t device_to_host_memcpy_ce -t device_to_device_memcpy_write_ce"
    assert ran.stderr == said.get(has, f"called {cases}\n")
    assert ran.stdout.endswith(f'{{"nvbandwidth": {2 if has == "dcgm" else 1}}}\nexit code 3\n')


def test_the_build_for_cuda_13_is_left_out_for_old_gpus() -> None:
    for compute, wanted in (((7, 0), False), ((7, 5), True), (None, True)):
        script = nvbandwidth.script(SETTINGS, GpuNode(compute=compute))
        assert subprocess.run(["/bin/sh", "-n"], input=script, text=True, check=False).returncode == 0
        assert ("cuda13" in script) is wanted


def test_a_large_log_is_read_in_a_moment() -> None:
    log = LIST + OLD * 2000 + "Running host_to_device_memcpy_ce.\n" * 50_000 + "0 " * 500_000 + "\n" * 50_000
    assert not nvbandwidth.parse(log, SETTINGS).passed
