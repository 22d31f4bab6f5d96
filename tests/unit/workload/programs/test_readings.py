"""What nvidia-smi says beside a program: the reasons why a GPU is slow."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import readings
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import Finding

UUID = "GPU-0b2f1c7e-3d0a-4c1b-9a55-0f6e2d7c8a10"
OTHER = "GPU-1b2f1c7e-3d0a-4c1b-9a55-0f6e2d7c8a11"


def line(
    reasons: str = "0x0000000000000001", errors: str = "0", width: str = "16", widest: str = "16"
) -> str:
    return f"reading gpu {UUID}, {reasons}, 61, 655.12, {errors}, {width}, {widest}\n"


@pytest.mark.parametrize(
    ("reasons", "tests"),
    [
        ("0x0000000000000000", []),
        ("0x0000000000000001", []),
        ("0x0000000000000004", ["power"]),
        ("0x0000000000000044", ["power", "heat"]),
        ("0x0000000000000020", ["heat"]),
        ("0x0000000000000088", ["slowdown", "power brake"]),
        ("[N/A]", []),
        ("Not", []),
    ],
)
def test_the_reasons_of_slow_clocks(reasons: str, tests: list[str]) -> None:
    found = readings.parse(line(reasons))
    assert [one.test for one in found] == tests
    assert {(one.status, one.device) for one in found} <= {("warn", UUID)}


@pytest.mark.parametrize(
    ("text", "test", "words", "action"),
    [
        (line(errors="3"), "ECC", "could not be corrected", "reset"),
        (line(width="8"), "PCIe", "its PCIe link has 8 of 16 lanes", ""),
        (f"reading rows {UUID}, Yes, No\n", "remapped rows", "at the next reset", "reset"),
        (f"reading rows {UUID}, 1, 0\n", "remapped rows", "at the next reset", "reset"),
    ],
)
def test_a_warning_explains(text: str, test: str, words: str, action: str) -> None:
    (found,) = readings.parse(text)
    assert (found.test, found.status, found.device, found.action) == (test, "warn", UUID, action)
    assert words in found.text


def test_a_row_that_could_not_be_remapped_fails_the_gpu() -> None:
    assert readings.parse(f"reading rows {UUID}, Yes, Yes\n") == (
        Finding("remapped rows", "fail", "a memory row could not be remapped", UUID, "replace"),
    )


def test_a_card_without_ecc_or_pcie_fields_says_nothing() -> None:
    text = line(errors="[N/A]", width="[N/A]", widest="[N/A]")
    assert readings.parse(f"{text}reading rows {UUID}, [N/A], [N/A]\nNo devices were found\n") == ()


def test_the_same_reading_many_times_is_one_finding() -> None:
    assert len(readings.parse(line("0x0000000000000020") * 200)) == 1


def test_nvlinks_that_are_down_are_named_where_others_are_up() -> None:
    text = (
        f"reading link GPU 0: NVIDIA H100 80GB HBM3 (UUID: {UUID})\n"
        "reading link \t Link 0: 26.562 GB/s\nreading link \t Link 1: <inactive>\n"
        f"reading link GPU 1: NVIDIA H100 PCIe (UUID: {OTHER})\nreading link \t Link 0: <inactive>\n"
    )
    assert [(one.device, one.text) for one in readings.parse(text)] == [(UUID, "NVLinks 1 are down")]


@pytest.mark.parametrize("code", [0, 3])
def test_the_script_ends_as_its_command_does_and_prints_the_readings(code: int, tmp_path: Path) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(
        '#!/bin/sh\ncase "$1" in\n'
        f"--query-remapped-rows=*) echo '{UUID}, Yes, No' ;;\n"
        f"nvlink) echo 'GPU 0: H100 (UUID: {UUID})'; echo '  Link 0: 26.5 GB/s' ;;\nesac\n"
    )
    tool.chmod(0o755)
    script = readings.beside(f"(exit {code})")
    shell = shutil.which("sh") or "/bin/sh"
    path = f"{tmp_path}:/usr/bin:/bin"
    ran = subprocess.run(
        [shell, "-c", script], env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == code
    assert f"reading rows {UUID}, Yes, No" in ran.stdout
    assert "reading link   Link 0: 26.5 GB/s" in ran.stdout
    assert [one.action for one in readings.parse(ran.stdout)] == ["reset"]


@pytest.mark.parametrize(
    ("state", "status", "words"),
    [
        ("Completed", "Success", ""),
        ("N/A", "N/A", ""),
        ("In Progress", "N/A", "state In Progress, status N/A"),
        ("Completed", "Insufficient Resources", "status Insufficient Resources"),
    ],
)
def test_a_gpu_that_did_not_join_the_nvlink_fabric(
    state: str, status: str, words: str, tmp_path: Path
) -> None:
    said = f"""\
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H200
    GPU UUID                              : {UUID}
    GPU Fabric GUID                       : 0x6d9419000347bb4c
    Inforom Version
        State                             : Other
    Fabric
        State                             : {state}
        Status                            : {status}
        CliqueId                          : 0
        ClusterUUID                       : 00000000-0000-0000-0000-000000000000
        Health
            Bandwidth                     : N/A
    Processes                             : None
"""
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\ncase $* in -q) cat <<'END'\n{said}END\nesac\n", encoding="utf-8")
    tool.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    script = f"{readings.FUNCTIONS}links\n"
    ran = subprocess.run(
        ["/bin/sh"], input=script, text=True, env=environment, capture_output=True, check=False
    )
    assert ran.stdout == f"reading fabric {UUID}, {state}, {status}\n"
    found = readings.parse(ran.stdout)
    assert [(one.status, one.code, one.device) for one in found] == (
        [("fail", "WORK-FABRIC", UUID)] if words else []
    )
    assert all(words in one.text for one in found)
