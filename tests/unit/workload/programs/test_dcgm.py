"""Program dcgm: where its tests run, and what DCGM 3 and 4 say about each GPU."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs import dcgm
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.programs.program import (
    GpuNode,
    Settings,
)

SAMPLES = pathlib.Path(__file__).parent / "samples"
UUIDS = tuple(f"GPU-{number}b2f1c7e-3d0a-4c1b-9a55-0f6e2d7c8a1{number}" for number in range(4))
LIST = "".join(f"GPU {number}: NVIDIA H100 80GB HBM3 (UUID: {uuid})\n" for number, uuid in enumerate(UUIDS))
MIG = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n  MIG 1g.10gb Device 0: (UUID: MIG-2)\n"


def sample(name: str) -> str:
    return (SAMPLES / name).read_text(encoding="utf-8")


def result(gpu: int, status: str, *warnings: dict[str, t.Any]) -> dict[str, t.Any]:
    return {"entity_group": "GPU", "entity_id": gpu, "status": status, "warnings": list(warnings)}


def warning(number: int, severity: int, text: str = "words of DCGM") -> dict[str, t.Any]:
    return {"error_id": number, "error_severity": severity, "error_category": 10, "warning": text}


def document(*memory: dict[str, t.Any]) -> str:
    """Return a run on the four GPUs whose software passed, with these results of the memory test."""
    categories = [
        {
            "category": "Deployment",
            "tests": [{"name": "software", "results": [result(gpu, "Pass") for gpu in range(4)]}],
        },
        {"category": "Hardware", "tests": [{"name": "memory", "results": list(memory)}]},
    ]
    return json.dumps({"DCGM Diagnostic": {"test_categories": categories}}) + "\n"


ALL = tuple(result(gpu, "Pass") for gpu in range(4))


def refusal(text: str) -> str:
    return json.dumps({"DCGM Diagnostic": {"runtime_error": text, "version": "4.6.0"}}) + "\n"


def test_healthy() -> None:
    found = dcgm.parse(sample("dcgm-healthy.log"), Settings("dcgm", level=2))
    assert found.passed
    assert found.findings == ()
    assert found.uuids == UUIDS
    assert found.extra["way"] == "standalone"
    assert (found.extra["dcgm_version"], found.extra["driver_version"]) == ("4.6.0", "580.105.08")
    assert found.extra["serials"][UUIDS[1]] == "1653123001417"
    assert {(one["test"], one["device"], one["state"]) for one in found.extra["tests"]} == {
        (name, uuid, "pass") for name in ("software", "memory", "pcie") for uuid in UUIDS
    }


def test_faulty() -> None:
    found = dcgm.parse(sample("dcgm-faulty.log"), Settings("dcgm", level=3))
    assert not found.passed
    said = {
        (one.test, one.device, one.status, one.action, one.number)
        for one in found.findings
        if one.test not in ("power", "nvbandwidth")
    }
    assert said == {
        ("software", UUIDS[2], "fail", "reset", 85),
        ("memory", UUIDS[3], "fail", "replace", 52),
        ("diagnostic", UUIDS[0], "warn", "", 43),
        ("memory_bandwidth", UUIDS[1], "fail", "", 62),
    }
    skipped = [one for one in found.findings if one.status == "skip"]
    assert [(one.test, one.device, one.text) for one in skipped] == [
        ("nvbandwidth", uuid, "The nvbandwidth test is skipped.") for uuid in UUIDS
    ]
    severities = {one["severity"] for one in found.extra["tests"] if one["state"] == "fail"}
    assert severities == {"reset", "isolate", "triage"}


def test_dcgm_3() -> None:
    found = dcgm.parse(sample("dcgm-3-healthy.log"), Settings("dcgm", level=2))
    assert found.passed
    assert [(one.test, one.status) for one in found.findings] == [("EUD Test", "skip")] * 2
    assert found.extra["way"] == "embedded"
    assert found.extra["dcgm_version"] == "3.3.8"
    assert found.extra["serials"] == dict(zip(found.uuids, ("1320319040517", "1320319040688"), strict=True))


def test_dcgm_3_that_failed() -> None:
    """Its deployment tests have no GPU, and they call the text of an error `warnings`."""
    deployment = {
        "name": "Persistence Mode",
        "results": [
            {
                "gpu_id": 1,
                "status": "Fail",
                "warnings": [{"warnings": "Persistence mode is off", "error_id": 29, "error_severity": 5}],
            }
        ],
    }
    run = {
        "DCGM GPU Diagnostic": {"test_categories": [{"category": "Deployment", "tests": [deployment]}]},
        "version": "3.3.8",
    }
    found = dcgm.parse(LIST + json.dumps(run) + "\nexit code 226\n", Settings("dcgm"))
    (finding,) = found.findings
    assert not found.passed
    assert (finding.device, finding.text, finding.number) == (UUIDS[1], "Persistence mode is off", 29)
    assert found.extra["tests"][0]["severity"] == "configuration"


@pytest.mark.parametrize(
    ("number", "severity", "action"),
    [
        (84, 6, "reset"),
        (125, 6, "reset"),
        (126, 2, "reboot"),
        (120, 2, "reboot"),
        (80, 6, "replace"),
        (13, 2, "replace"),
        (999, 6, "reset"),
        (29, 5, ""),
        (62, 4, ""),
        (24, 2, ""),
    ],
)
def test_what_an_error_asks_for(number: int, severity: int, action: str) -> None:
    log = LIST + document(*ALL[:3], result(3, "Fail", warning(number, severity)))
    failed = [one for one in dcgm.parse(log, Settings("dcgm")).findings if one.status == "fail"]
    assert [(one.device, one.number, one.action) for one in failed] == [(UUIDS[3], number, action)]


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", "measured nothing"),
        (LIST, "measured nothing"),
        (LIST + document(*ALL)[:-40], "measured nothing"),
        (LIST + "/bin/sh: dcgmi: not found\nexit code 127\n", "has no dcgmi"),
        (LIST + document(*ALL) + "exit code 205\n", "out of use"),
        (LIST + document(*ALL) + "exit code 137\n", "signal 9"),
        (LIST + document(*(result(gpu, "Skip") for gpu in range(4))), "no test of the hardware passed"),
        (LIST + document(*ALL[:3]), "no test of the hardware passed"),
        (LIST + document(*ALL[:3], result(3, "Perhaps")), "DCGM says Perhaps"),
        (LIST + document(*ALL[:3], result(3, "Not Run")), "no test of the hardware passed"),
        (LIST + refusal("Error: Diagnostic could not be run while DCGM is paused."), "while DCGM is paused"),
        (LIST + "Error: Unable to start an embedded host engine. Generic error.\n", "Unable to start"),
        (LIST + refusal("Error: Diagnostic can only be performed on a homogeneous group of GPUs."), "homog"),
        (LIST + json.dumps({"DCGM Diagnostic": None}) + "\n", "measured nothing"),
        (LIST + json.dumps({"iterations": [None, {"DCGM Diagnostic": []}]}) + "\n", "measured nothing"),
    ],
)
def test_what_did_not_pass(log: str, words: str) -> None:
    found = dcgm.parse(log, Settings("dcgm"))
    failed = [one for one in found.findings if one.status == "fail"]
    assert not found.passed
    assert not found.not_applicable
    assert words in failed[0].text


def test_an_error_that_belongs_to_no_gpu() -> None:
    run = json.loads(document(*ALL))
    software = run["DCGM Diagnostic"]["test_categories"][0]["tests"][0]
    software["test_summary"] = {"status": "Fail", "warnings": [warning(20, 5, "devices differ")]}
    (finding,) = dcgm.parse(LIST + json.dumps(run), Settings("dcgm")).findings
    assert (finding.test, finding.device, finding.status, finding.text) == (
        "software",
        "",
        "fail",
        "devices differ",
    )


def test_a_pass_with_a_remark_is_a_pass() -> None:
    log = LIST + document(*ALL[:3], result(3, "Pass", warning(56, 4, "Couldn't allocate 75%")))
    found = dcgm.parse(log, Settings("dcgm"))
    assert found.passed
    assert [(one.device, one.status, one.number) for one in found.findings] == [(UUIDS[3], "warn", 56)]


def test_iterations() -> None:
    runs = [json.loads(document(*ALL)), json.loads(document(*ALL[:3], result(3, "Fail")))]
    log = LIST + json.dumps({"Overall Result": "Fail", "iterations": runs})
    found = dcgm.parse(log, Settings("dcgm"))
    assert not found.passed
    assert [(one.device, one.status) for one in found.findings] == [(UUIDS[3], "fail")]


@pytest.mark.parametrize(
    ("log", "why"),
    [
        (MIG, "partitioned"),
        (
            LIST + refusal("Cannot run diagnostic: MIG is enabled, but no compute instances are configured."),
            "part",
        ),
        (
            LIST
            + "Error: Cannot run diagnostic: CUDA does not support enumerating GPUs with MIG mode enabled, "
            "yet GPU 0 is MIG enabled and the diagnostic is attempting to run on 4 GPUs.\nexit code 226\n",
            "partitioned",
        ),
        (
            LIST.replace("H100", "L40S", 1)
            + refusal("Error: Diagnostic can only be performed on a homogeneous group of GPUs."),
            "different models",
        ),
    ],
)
def test_what_is_not_applicable(log: str, why: str) -> None:
    found = dcgm.parse(log, Settings("dcgm"))
    assert why in found.not_applicable
    assert not found.passed
    assert found.findings == ()


def test_partitioned_nodes_are_unfit() -> None:
    assert "partitioned" in dcgm.unfit(Settings("dcgm"), GpuNode(mig=True))
    assert dcgm.unfit(Settings("dcgm"), GpuNode()) == ""


def test_gpus_are_named_by_the_numbers_of_the_host() -> None:
    """The node's DCGM numbers all GPUs, nvidia-smi only those of the pod."""
    rows = f"| 6      | Name: NVIDIA H100 |\n|        | Device UUID: {UUIDS[0]} |\n"
    run = document(result(6, "Fail", warning(52, 2))).replace('"entity_id": 0', '"entity_id": 6')
    log = f"{LIST.splitlines()[0]}\n{rows}dcgm way=standalone gpus=gpu:6: host\n{run}"
    assert [one.device for one in dcgm.parse(log, Settings("dcgm")).findings] == [UUIDS[0]]


DCGMI = """\
#!/bin/sh
echo "$@" >>"$CALLS"
case "$1 $*" in
  "--version"*) echo "dcgmi  version: $VERSION" ;;
  discovery*) [ -n "$FOUND" ] && printf '%b' "$FOUND" ;;
  *--host*) echo "$HOST_SAYS"; exit $HOST_EXIT ;;
  *) echo '{"embedded": 1}'; exit 0 ;;
esac
"""
FOUND = "".join(
    f"| {number} | Name: NVIDIA H100 |\\n| | Device UUID: {uuid} |\\n"
    for number, uuid in enumerate((UUIDS[1], UUIDS[0]))
)


@pytest.mark.parametrize(
    ("found", "version", "says", "code", "lines", "calls"),
    [
        (
            "",
            "4.6.0",
            "",
            0,
            ["dcgm way=embedded gpus=gpu:0: no DCGM answers at {host}"],
            ["-i gpu:0 {options}"],
        ),
        ("", "3.3.8", "", 0, ["dcgm way=embedded gpus=0: no DCGM answers at {host}"], ["-i 0 {options}"]),
        (
            FOUND,
            "4.6.0",
            '{"failed": 1}',
            226,
            ["dcgm way=standalone gpus=gpu:1: {host}", '{"failed": 1}', "exit code 226"],
            ["--host {host} -i gpu:1 {options}"],
        ),
        (
            FOUND,
            "4.6.0",
            "API version mismatch",
            229,
            ["dcgm way=embedded gpus=gpu:0: the DCGM at {host} has another version", '{"embedded": 1}'],
            ["--host {host} -i gpu:1 {options}", "-i gpu:0 {options}"],
        ),
        (
            FOUND.replace(UUIDS[0], "GPU-other"),
            "4.6.0",
            "",
            0,
            ["dcgm way=embedded gpus=gpu:0: {host} does not have the GPUs of this pod"],
            ["-i gpu:0 {options}"],
        ),
    ],
    ids=["no service", "DCGM 3", "service", "another version", "another node"],
)
def test_where_the_tests_run(
    tmp_path: pathlib.Path,
    found: str,
    version: str,
    says: str,
    code: int,
    lines: list[str],
    calls: list[str],
) -> None:
    words = {"host": "nvidia-dcgm.gpus.svc:5555", "options": "--run 3 --json --verbose"}
    for name, text in {
        "dcgmi": DCGMI,
        "nvidia-smi": f"#!/bin/sh\ncat <<'END'\n{LIST.splitlines()[0]}\nEND\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    script = dcgm.functions(GpuNode(operator_namespace="gpus"), words["options"]) + "diagnose" + dcgm.REPORT
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "TMPDIR": str(tmp_path),
        "CALLS": str(tmp_path / "calls"),
        "FOUND": found,
        "VERSION": version,
        "HOST_SAYS": says,
        "HOST_EXIT": str(code),
    }
    ran = subprocess.run(
        ["/bin/sh"], input=script, text=True, env=environment, capture_output=True, check=False
    )
    assert ran.stderr == ""
    printed = ran.stdout.splitlines()
    for line in lines:
        assert line.replace("{host}", words["host"]) in printed
    made = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert [call for call in made if call.startswith("diag ")] == [
        f"diag {call.format(**words)}" for call in calls
    ]
    assert ran.returncode == (code if says.startswith("{") else 0)


def test_the_script_is_valid_and_has_the_level() -> None:
    script = dcgm.script(Settings("dcgm", level=4), GpuNode())
    assert subprocess.run(["/bin/sh", "-n"], input=script, text=True, check=False).returncode == 0
    assert "options='--run 4 --json --verbose'" in script
    assert "host=nvidia-dcgm.nvidia-gpu-operator.svc:5555" in script


def test_a_large_log_is_read_in_a_moment() -> None:
    log = LIST + "{\n" * 400_000 + "Error: no MIG\n" * 100_000
    assert not dcgm.parse(log, Settings("dcgm")).passed
