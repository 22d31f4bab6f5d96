# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Program dcgm: NVIDIA's diagnostics of levels 1 to 4 on all GPUs of a node.

The tests run in the standalone DCGM of the node if its Service answers, which has the rights that they need;
the pod only reserves the GPUs. Else they run in the pod, which has no privileges, and some tests skip.
"""

from __future__ import annotations

import re
import typing as t

from . import devices, documents, images, readings
from .program import Finding, GpuNode, Program, Result, Settings

# The Service sends requests only to the DCGM of the same node; a GPU that this pod does not have is left out
# anyway. GPUs are named, because DCGM hangs on machines of clouds whose NVSwitches it cannot see.
# DCGM 3 names a GPU 0, DCGM 4 gpu:0.
FUNCTIONS: t.Final = """\
cd "$(mktemp -d)" || exit
export HOME="$PWD" DCGM_HOME_DIR="$PWD"
kind=gpu:
case "$(dcgmi --version 2>/dev/null)" in *"version: "[0-3].*) kind= ;; esac
mine=$(nvidia-smi -L)
ids_of_host() {
  ids= number=
  while IFS='|' read -r _ left right _; do
    case $right in
      *Name:*) number=${left## }; number=${number%% *} ;;
      *"Device UUID: GPU-"*)
        uuid=${right#*UUID: }
        case $mine in *"${uuid%% *}"*) ids="${ids:+$ids,}$kind$number" ;; esac ;;
    esac
  done <<FOUND
$1
FOUND
}
ids_of_pod() {
  ids= number=0
  while read -r word _; do
    case $word in GPU) ids="${ids:+$ids,}$kind$number" number=$((number + 1)) ;; esac
  done <<FOUND
$mine
FOUND
}
embedded() {
  ids_of_pod
  echo "dcgm way=embedded gpus=$ids: $1"
  dcgmi diag -i "$ids" $options >dcgm.out
}
diagnose() {
  if ! found=$(dcgmi discovery --host "$host" -l); then
    embedded "no DCGM answers at $host"
  else
    printf '%s\\n' "$found"
    ids_of_host "$found"
    if [ -z "$ids" ]; then
      embedded "$host does not have the GPUs of this pod"
    else
      echo "dcgm way=standalone gpus=$ids: $host"
      dcgmi diag --host "$host" -i "$ids" $options >dcgm.out
      code=$?
      case $(cat dcgm.out) in
        *ersion\\ mismatch*) embedded "the DCGM at $host has another version" ;;
        *) (exit $code) ;;
      esac
    fi
  fi
}
"""
# After the readings have ended, so that none of them comes between the lines of the document.
REPORT: t.Final = """
code=$?
cat dcgm.out
echo "exit code $code"
(exit $code)"""
DEPLOYMENT: t.Final = "deployment"
ROOTS: t.Final = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
_STATES: t.Final = ("pass", "fail", "warn", "skip")
_SEVERITIES: t.Final = ("none", "monitor", "isolate", "unknown", "triage", "configuration", "reset")
_Action = t.Literal["", "reset", "reboot", "replace"]
# DCGM's numbers of errors -> what its advice or NVIDIA's catalogue of Xids asks for.
_ACTIONS: t.Final[dict[int, _Action]] = {
    **dict.fromkeys((4, 6, 57, 81, 83, 84, 85, 103, 125, 127, 128, 129), "reset"),
    **dict.fromkeys((15, 109, 120, 126), "reboot"),
    **dict.fromkeys((7, 8, 52, 79, 80, 95, 132), "replace"),
    # Libraries, and the daemon of memory between nodes: no fault of a GPU, though DCGM isolates it.
    **dict.fromkeys((24, 122), ""),
}
_OF_SEVERITY: t.Final[dict[str, _Action]] = {"isolate": "replace", "reset": "reset"}
# Exit codes are dcgmReturn_t in eight bits.
_EXITS: t.Final = {
    226: "a test failed",
    205: "DCGM asks to take the GPU out of use",
    204: "the image has no diagnostics (nvvs)",
    203: "the diagnostics were killed",
    198: "the image does not know the tests",
    127: "the image has no dcgmi",
}
_EXIT: t.Final = re.compile(r"^exit code (\d+)\s*$", re.MULTILINE)
_WAY: t.Final = re.compile(r"^dcgm way=(\w+)", re.MULTILINE)
_ERROR: t.Final = re.compile(r"^(?:Error: *|(?=Cannot run diagnostic))(\S.*)$", re.MULTILINE)
_GPU_ROW: t.Final = re.compile(r"^\| {0,9}(\d{0,4}) {0,9}\| {0,9}(Name|Device UUID): *(\S+)", re.MULTILINE)
_MIG: t.Final = re.compile(r"diagnostic.*\bMIG\b.*\b(enabled|configured)", re.IGNORECASE)
_UNLIKE: t.Final = "homogeneous group"


class Test(t.NamedTuple):
    """What one test says about one GPU. state: pass, fail, warn or skip."""

    test: str
    category: str
    device: str
    state: str
    text: str = ""
    number: int = 0
    severity: str = ""
    action: _Action = ""

    def as_result(self) -> dict[str, t.Any]:
        """Return it as the module returns it."""
        return self._asdict()

    def as_finding(self) -> Finding:
        """Return it as a finding; of a test that passed, what DCGM noticed."""
        state = t.cast("t.Literal['fail', 'warn', 'skip']", self.state if self.state != "pass" else "warn")
        return Finding(self.test, state, self.text, self.device, self.action, self.number)


def unfit(_settings: Settings, node: GpuNode) -> str:
    """Return why DCGM cannot test the GPUs."""
    return "its GPUs are partitioned, and DCGM tests whole ones" if node.mig else ""


def script(settings: Settings, node: GpuNode) -> str:
    """Return the script of a pod that has all GPUs of the node."""
    options = f"--run {settings.level} --json --verbose"
    return f"{devices.LIST}\n{functions(node, options)}{readings.beside('diagnose')}{REPORT}"


def functions(node: GpuNode, options: str) -> str:
    """Return shell functions; `diagnose` runs `dcgmi diag` with these options in the best place."""
    host = f"nvidia-dcgm.{node.operator_namespace}.svc:5555"
    return f"host={host}\noptions='{options}'\n{FUNCTIONS}"


def parse(log: str, settings: Settings) -> Result:
    """Return what each test says about each GPU. A GPU of which no test passed did not pass."""
    uuids, names = tuple(devices.uuids(log)), names_of(log)
    found = documents.find(log, "iterations", *ROOTS)
    runs = [run for one in found for run in documents.mappings(one.get("iterations", [one]))]
    tests = [test for run in runs for test in tests_of(run, names)]
    refused = [text for run in runs for text in refusals(run)] or (
        [] if tests else documents.texts(_ERROR.findall(log)[:3])
    )
    extra = {**_facts(runs, names), "way": way(log), "tests": [test.as_result() for test in tests]}
    if why := _not_applicable(log, uuids, [*refused, *(test.text for test in tests)]):
        return Result(passed=False, uuids=uuids, not_applicable=why, extra=extra)
    findings = [test.as_finding() for test in tests if test.text or test.state != "pass"]
    findings += [Finding("dcgm", "fail", text) for text in dict.fromkeys(refused)]
    findings += _ending(log, findings)
    if not any(one.status == "fail" for one in findings):
        findings += _untested(tests, uuids, settings.level)
    findings += readings.parse(log)
    return Result(
        passed=not any(one.status == "fail" for one in findings),
        uuids=uuids,
        findings=tuple(dict.fromkeys(findings)),
        extra=extra,
    )


def way(log: str) -> str:
    """Return where the tests ran: standalone or embedded; empty if the log does not say it."""
    said = _WAY.findall(log)
    return str(said[-1]) if said else ""


def exit_code(log: str) -> int:
    """Return how the program ended; 0 also if the log does not say it."""
    ended = _EXIT.findall(log)
    return int(ended[-1]) if ended else 0


def names_of(log: str) -> dict[int, str]:
    """Return DCGM's number of a GPU -> its UUID. Without DCGM's list its numbers are those of nvidia-smi."""
    known, number = dict(enumerate(devices.uuids(log))), -1
    listed: dict[int, str] = {}
    for row in _GPU_ROW.finditer(log):
        number = int(row[1]) if row[1] else number
        if row[2] == "Device UUID":
            listed[number] = row[3]
    return listed if listed and way(log) != "embedded" else known


def tests_of(run: t.Mapping[str, t.Any], names: t.Mapping[int, str]) -> list[Test]:
    """Return the tests of a run of DCGM 3 or 4."""
    return [
        one
        for root in ROOTS
        for category in documents.mappings((_mapping(run.get(root))).get("test_categories"))
        for test in documents.mappings(category.get("tests"))
        for entry in _entries(test)
        for device in _devices_of(entry, names)
        for one in _read(str(test.get("name", "")), str(category.get("category", "")), device, entry)
    ]


def _mapping(value: t.Any) -> dict[str, t.Any]:
    return value if isinstance(value, dict) else {}


def _entries(test: t.Mapping[str, t.Any]) -> list[dict[str, t.Any]]:
    """Return the results of a test, and its summary if that is worse: an error may belong to no GPU."""
    results, summary = documents.mappings(test.get("results")), _mapping(test.get("test_summary"))
    states = {_state(entry) for entry in results}
    if summary and (not results or (_state(summary) in ("fail", "warn") and _state(summary) not in states)):
        return [*results, summary]
    return results


def _state(entry: t.Mapping[str, t.Any]) -> str:
    """Return the state of a result. What is not known is no pass."""
    text = str(entry.get("status", "")).lower()
    if text == "not run":
        return "skip"
    return next((state for state in _STATES if text.startswith(state)), "fail")


def _devices_of(entry: t.Mapping[str, t.Any], names: t.Mapping[int, str]) -> list[str]:
    """Return the GPUs of a result: entity_id in DCGM 4, gpu_id or gpu_ids before; empty for the node."""
    if entry.get("entity_group", "GPU") != "GPU":
        return [""]
    given = next((entry[key] for key in ("entity_id", "gpu_id", "gpu_ids") if key in entry), "")
    numbers = [int(number) for number in re.findall(r"\d+", str(given))]
    return [names.get(number, f"GPU {number}") for number in numbers] or [""]


def _read(name: str, category: str, device: str, entry: t.Mapping[str, t.Any]) -> t.Iterator[Test]:
    """Yield a test for each warning of a result, or one without."""
    state, given = _state(entry), entry.get("warnings")
    warnings = given if isinstance(given, list) else [given]
    said = [one for one in warnings if isinstance(one, dict) or documents.texts(one)]
    for one in said:
        warning = _mapping(one)
        # DCGM 3 calls the text of its deployment tests `warnings` too.
        texts = documents.texts(warning.get("warning", warning.get("warnings", one)))
        number, degree = _number(warning.get("error_id")), _number(warning.get("error_severity"))
        severity = _SEVERITIES[degree] if 0 < degree < len(_SEVERITIES) else ""
        action = _ACTIONS.get(number, _OF_SEVERITY.get(severity, "")) if state != "skip" else ""
        text = " ".join(texts) or _reason(state, entry)
        yield Test(name, category, device, state, text, number, severity, action)
    if not said:
        text = "" if state == "pass" else _reason(state, entry)
        yield Test(name, category, device, state, text)


def _number(value: t.Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _reason(state: str, entry: t.Mapping[str, t.Any]) -> str:
    told = " ".join(documents.texts(entry.get("info")))
    return told or {"skip": "DCGM did not run it", "warn": "DCGM warns and gives no reason"}.get(
        state, f"DCGM says {entry.get('status') or 'nothing'} and gives no reason"
    )


def refusals(run: t.Mapping[str, t.Any]) -> list[str]:
    """Return why DCGM ran no test, in its words."""
    said = [_mapping(run.get(root)).get("runtime_error") for root in ROOTS] + [run.get("runtime_error")]
    return [re.sub(r"^Error: *", "", text) for one in said for text in documents.texts(one)]


def _ending(log: str, findings: t.Sequence[Finding]) -> list[Finding]:
    """Return what the exit code says beyond the tests."""
    code = exit_code(log)
    failed = [one for one in findings if one.status == "fail"]
    if not code or (failed and (code != 205 or any(one.action for one in failed))):
        return []
    meaning = _EXITS.get(code, f"signal {code - 128}" if 128 < code < 160 else "")
    text = f"dcgmi ended with exit code {code}{f' ({meaning})' if meaning else ''}"
    return [Finding("dcgm", "fail", text, action="replace" if code == 205 else "")]


def _untested(tests: t.Sequence[Test], uuids: t.Sequence[str], level: int) -> list[Finding]:
    """Return the GPUs of which nothing passed. From level 2 on it has to be a test of the hardware."""
    passed = [
        one
        for one in tests
        if one.state in ("pass", "warn") and (level == 1 or one.category.lower() != DEPLOYMENT)
    ]
    what = "no test passed" if level == 1 else "no test of the hardware passed"
    if not passed:
        return [Finding("dcgm", "fail", f"DCGM measured nothing: {what}")]
    named = {one.device for one in passed}
    if named == {""}:
        return []
    return [Finding("dcgm", "fail", what, uuid) for uuid in uuids if uuid not in named]


def _not_applicable(log: str, uuids: t.Sequence[str], said: t.Sequence[str]) -> str:
    """Return why DCGM does not fit the GPUs, from their list or from DCGM's words; empty if it does."""
    if any(uuid.startswith("MIG-") for uuid in uuids) or any(_MIG.search(text) for text in said):
        return "its GPUs are partitioned, and DCGM tests whole ones"
    models = set(re.findall(r"^GPU \d+: (.+?) \(UUID:", log, re.MULTILINE))
    if len(models) > 1 and any(_UNLIKE in text for text in said):
        return "its GPUs are of different models, and DCGM tests only GPUs that are alike"
    return ""


def _facts(runs: t.Sequence[t.Mapping[str, t.Any]], names: t.Mapping[int, str]) -> dict[str, t.Any]:
    """Return versions, and the serial numbers by UUID, as DCGM 3 or 4 gives them."""
    facts: dict[str, t.Any] = {"dcgm_version": "", "driver_version": "", "serials": {}}
    for run in runs:
        about = {**run, **_mapping(run.get("metadata"))}
        roots = [_mapping(run.get(root)) for root in ROOTS]
        version = next((one["version"] for one in (about, *roots) if one.get("version")), "")
        facts["dcgm_version"] = str(version) or facts["dcgm_version"]
        facts["driver_version"] = str(about.get("Driver Version Detected") or facts["driver_version"])
        serials = dict(_mapping(run.get("GPU Device Serials")))
        for group in documents.mappings(run.get("entity_groups")):
            if group.get("entity_group") == "GPU":
                entities = documents.mappings(group.get("entities"))
                serials |= {str(one.get("entity_id")): one.get("serial_num") for one in entities}
        facts["serials"] |= {
            names.get(int(number), f"GPU {number}"): str(serial)
            for number, serial in serials.items()
            if number.isdigit() and serial
        }
    return facts


def seconds(settings: Settings) -> int:
    """Return for how long a level usually runs, three times as long as DCGM's own figure."""
    return {1: 90, 2: 360, 3: 2700, 4: 21600}[settings.level]


PROGRAM: t.Final = Program(
    "node",
    image=images.dcgm,
    script=script,
    parse=parse,
    seconds=seconds,
    unfit=unfit,
    cpu=1,
    memory=2048,
)
