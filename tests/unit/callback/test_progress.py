# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person sees of a run, from its events: those of a real run of enable_gpus.yml, and made ones."""

from __future__ import annotations

import io
import json
import os
import types
import typing as t
from pathlib import Path

import pytest
from ansible.plugins.callback.default import CallbackModule as Default
from ansible.utils import color
from terminal import Terminal

from ansible_collections.accelerators.openshift.plugins.callback import progress, verdict
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _screen

TABLE: t.Final = (
    "POOL  NODE                                        TYPE         "
    "GPUS (expected/allocatable/validated)  DRIVER",
    "demo  ip-10-0-1-11.us-east-2.compute.internal     g4dn.xlarge  "
    "1/1/1                                  595.91.07",
    "demo  ip-10-0-102-134.us-east-2.compute.internal  g4dn.xlarge  "
    "1/1/1                                  595.91.07",
)
RECORDED: t.Final = json.loads((Path(__file__).parents[1] / "fixtures/run_of_enable_gpus.json").read_text())
# The attributes of a result: since ansible-core 2.19, and before.
NAMES: t.Final = {"since 2.19": ("result", "host", "task"), "before": ("_result", "_host", "_task")}
FAILURE: t.Final = {
    "failed": True,
    "msg": "MACH-CAPACITY: no g4dn in us-east-2a. Remedy: add a zone",
    "code": "MACH-CAPACITY",
    "message": "no g4dn in us-east-2a",
    "remedy": "add a zone",
    "evidence": ["machine demo-0: InsufficientInstanceCapacity"],
}


class Out(io.StringIO):
    """Standard output that is a terminal."""

    terminal: Terminal

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1

    def write(self, text: str) -> int:
        self.terminal.feed(text)
        return len(text)


class Task:
    """A task, or what includes it, as Ansible has them."""

    def __init__(
        self,
        name: str,
        action: str = "x.y.z",
        role: str = "",
        parent: Task | None = None,
        check: bool = False,
    ) -> None:
        self.name, self.action, self._parent, self.check_mode = name, action, parent, check
        self._uuid, self._role = (
            f"uuid {name}",
            types.SimpleNamespace(get_name=lambda: role) if role else None,
        )
        self.block: list[Task] = []
        self.rescue: list[Task] = []

    def get_name(self) -> str:
        return self.name


class Run:
    """A run on a terminal. now: seconds since its beginning."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, names: tuple[str, str, str], columns: int) -> None:
        self.now, self._names = 0.0, names
        self.terminal = Terminal(columns)
        self._out = Out()
        self._out.terminal = self.terminal
        self._patch = monkeypatch
        monkeypatch.setattr("sys.stdout", self._out)
        monkeypatch.setattr("os.get_terminal_size", self._size)
        monkeypatch.setattr("time.monotonic", lambda: self.now)
        monkeypatch.setattr("atexit.register", lambda _function: None)
        monkeypatch.setattr("threading.Thread", Still)
        monkeypatch.setattr(_screen.Screen, "active", None)
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.delenv("AWX_ISOLATED_DATA_DIR", raising=False)
        monkeypatch.setattr("ansible.context.CLIARGS", {})
        self.callback = progress.CallbackModule()
        self.height = 24
        monkeypatch.setattr(self.callback._display, "verbosity", 0)
        monkeypatch.setattr(self.callback, "_handle_warnings", self._warn)

    def play(self, name: str, check: bool = False) -> None:
        # pytest puts its own there between a fixture and its test.
        self._patch.setattr("sys.stdout", self._out)
        self.callback.v2_playbook_on_play_start(
            types.SimpleNamespace(get_name=lambda: name, check_mode=check)
        )

    def start(self, task: Task, host: str = "localhost") -> None:
        self.callback.v2_playbook_on_task_start(task, False)
        self.callback.v2_runner_on_start(types.SimpleNamespace(get_name=lambda: host), task)

    def result(self, task: Task, facts: dict[str, t.Any] | None = None, host: str = "localhost") -> t.Any:
        of_result, of_host, of_task = self._names
        named = types.SimpleNamespace(get_name=lambda: host)
        return types.SimpleNamespace(**{of_result: dict(facts or {}), of_host: named, of_task: task})

    def ok(self, task: Task, facts: dict[str, t.Any] | None = None, host: str = "localhost") -> None:
        self.start(task, host)
        self.callback.v2_runner_on_ok(self.result(task, facts, host))

    def fail(self, task: Task, host: str = "localhost", **facts: t.Any) -> None:
        self.start(task, host)
        self.callback.v2_runner_on_failed(self.result(task, {**FAILURE, **facts}, host))

    def hear(self, *lines: str, host: str = "localhost", stays: bool = False) -> None:
        self.callback._display.display(f"\x1e{json.dumps([host, lines, stays])}")

    def end(self) -> str:
        self.callback.v2_playbook_on_stats(types.SimpleNamespace(summarize=lambda _host: {}))
        return self.terminal.text

    def _size(self, _descriptor: int = 1) -> os.terminal_size:
        return os.terminal_size((self.terminal.columns, self.height))

    def _warn(self, facts: dict[str, t.Any]) -> None:
        for warning in facts.pop("warnings", []):
            self.callback._display.display(f"[WARNING]: {warning}")


class Still:
    """A thread that does nothing: nobody waits for a second here."""

    def __init__(self, **_options: t.Any) -> None:
        return

    def start(self) -> None:
        return


@pytest.fixture(params=NAMES)
def run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> t.Iterator[Run]:
    found = Run(monkeypatch, NAMES[request.param], 112)
    display = found.callback._display
    yield found
    display.__dict__.pop("display", None)


def recorded_task(number: int) -> Task:
    name, action, role, parent = RECORDED["tasks"][str(number)]
    found = Task(name, f"ansible.builtin.{action}", role, recorded_task(parent) if parent else None)
    found._uuid = str(number)
    return found


def replay(run: Run) -> t.Iterator[str]:
    """Play the recorded run; yield what the screen shows after each event."""
    for at, kind, *rest in RECORDED["events"]:
        run.now = at
        if kind == "play":
            run.play(*rest)
        elif kind == "live":
            run.hear(*rest[0], stays=rest[1])
        elif kind == "stats":
            run.end()
        elif kind == "start":
            run.start(recorded_task(rest[0]))
        else:
            getattr(run.callback, f"v2_runner_on_{kind}")(run.result(recorded_task(rest[0]), *rest[1:]))
        yield run.terminal.text


def test_a_real_run_is_a_line_for_each_step_a_table_and_a_sentence(run: Run) -> None:
    *_before, last = replay(run)
    assert last.splitlines() == [
        "Enable GPUs",
        "ok           0.8 s  Plan the pools",
        "ok           0.6 s  Check the rights",
        "ok           0.6 s  Check the operators",
        "ok           2.0 s  Check what the roles would do",
        "changed       18 s  Ask for everything before anything is waited for",
        "changed      1.3 s  Set quotas and priorities",
        "changed      0.7 s  Wait for the machines",
        "ok           1.4 s  Label the nodes",
        "ok           4.0 s  Bring the GPU stack",
        "changed      3.4 s  Validate the GPUs",
        "",
        *TABLE,
        "figure - ip-10-0-1-11.us-east-2.compute.internal matmul fp16 42.0 TFLOPS (peers 42.0)",
        "figure - ip-10-0-102-134.us-east-2.compute.internal matmul fp16 42.0 TFLOPS (peers 42.0)",
        "quota - team-a/gpu-quota requests.nvidia.com/gpu 0 of 2 used",
        "seconds - operators 13.2, drivers 4.4, validation 2.7",
        "seconds - waited 20.3 for the cluster, own work 2.2",
        "",
        "2 of 2 nodes of 1 pool offer and validated 2 GPUs in 36 s; the cluster took 20 s of it.",
    ]


def live(run: Run) -> str:
    """Return the live lines: all from the first step that is running."""
    return run.terminal.text[run.terminal.text.index("running") :]


def test_the_live_lines_are_the_nodes_that_are_not_ready_yet(run: Run) -> None:
    seen = [screen.splitlines() for screen in replay(run)]
    stack = [
        screen[screen.index(line) + 1 :]
        for screen in seen
        for line in screen
        if "running" in line and "Bring the GPU" in line
    ]
    waits = [[line.strip() for line in lines] for lines in stack]
    one = "GPU stack: ip-10-0-1-11…: operator-validator is not Ready"
    other = "GPU stack: ip-10-0-102-134…: operator-validator is not Ready"
    # A node that is ready leaves the screen, though nothing is said about the others.
    both, alone = waits.index([one, other]), waits.index([one])
    assert both < alone
    assert other not in [line for lines in waits[alone:] for line in lines]


def test_lines_fit_the_terminal_and_follow_its_size(run: Run) -> None:
    run.terminal.columns, run.height = 40, 5
    run.play("Enable GPUs")
    run.start(Task("Bring the GPU stack"))
    run.hear(*(f"GPU stack: node-{number} waits for a driver that is long" for number in range(9)))
    assert run.terminal.text.splitlines() == [
        "Enable GPUs",
        "running      0.0 s  Bring the GPU stack",
        "        GPU stack: node-0 waits for a …",
        "... and 8 lines more",
    ]
    run.terminal.columns, run.height = 60, 24
    run.hear("GPU stack: node-0 waits for a driver that is long")
    assert run.terminal.text.splitlines()[1:] == [
        "running      0.0 s  Bring the GPU stack",
        "        GPU stack: node-0 waits for a driver that is long",
    ]
    assert run.terminal.escapes == {"A", "J", "\x1b[?7l", "\x1b[?7h"}
    assert run.terminal.wraps


def test_lines_of_others_stand_above_the_live_lines(run: Run) -> None:
    run.play("Enable GPUs")
    task = Task("Plan the pools")
    run.start(task)
    run.hear("operator nfd: not ready")
    run.callback._display.display("[WARNING]: somebody else")
    assert run.terminal.text.splitlines()[1:] == [
        "[WARNING]: somebody else",
        "running      0.0 s  Plan the pools",
        "        operator nfd: not ready",
    ]
    run.ok(task, {"warnings": ["of the module"]})
    assert "operator nfd" not in run.terminal.text
    assert run.end().splitlines()[2:] == [
        "[WARNING]: of the module",
        "ok           0.0 s  Plan the pools",
        "",
        "Enable GPUs: nothing changed in 0.0 s.",
    ]


def test_a_line_of_progress_stays_with_v_only(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.play("Enable GPUs")
    run.start(Task("Wait for the machines"))
    run.hear("approved certificate request csr-1 of demo-0", stays=True)
    assert live(run).splitlines()[1] == "        approved certificate request csr-1 of demo-0"
    monkeypatch.setattr(run.callback._display, "verbosity", 1)
    run.hear("    2 s  pool demo: 1 of 2 machines", stays=True)
    assert run.terminal.text.splitlines()[1] == "    2 s  pool demo: 1 of 2 machines"
    # The lines of a wait are live in another way: all that it awaits.
    assert live(run).splitlines()[1] == "        approved certificate request csr-1 of demo-0"


def test_a_worker_sends_what_has_changed_and_prints_through_ansible(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    screen = _screen.Screen.active
    assert screen is not None
    monkeypatch.setattr(screen, "_write", sent.append)
    monkeypatch.setattr(screen, "_pid", -1)
    for lines in (["pool a: \x1b[2J"], ["pool a: \x1b[2J"], ["pool b"]):
        screen.send("west", lines, False)
    screen.send("west", ["pool b"], True)
    messages = [json.loads(text.removeprefix("\x1e")) for text in sent]
    assert messages == [
        ["west", ["pool a: \\x1b[2J"], False],
        ["west", ["pool b"], False],
        ["west", ["pool b"], True],
    ]


def test_a_failure_has_what_was_seen_and_its_remedy_and_the_sentence_is_last(run: Run) -> None:
    run.terminal.columns = 160
    run.play("Enable GPUs")
    run.ok(Task("Plan the pools"), {"changed": True, "waited": 61.0})
    run.now = 90
    run.fail(Task("Wait for the machines"), special_resource={"table": ["driver FAILED on 1 of 2 nodes"]})
    assert run.end().splitlines()[2:] == [
        "failed       0.0 s  Wait for the machines",
        "localhost: driver FAILED on 1 of 2 nodes",
        "localhost: MACH-CAPACITY: no g4dn in us-east-2a",
        "Seen: machine demo-0: InsufficientInstanceCapacity",
        "Remedy: add a zone",
        "",
        'Enable GPUs failed after 1 min 30 s in "Wait for the machines" (MACH-CAPACITY); '
        "the cluster took 1 min 1 s of it.",
    ]


def test_a_failure_that_other_lines_follow_is_shown_again(run: Run) -> None:
    run.play("Enable GPUs")
    run.fail(Task("Wait for the machines"))
    run.ok(Task("Show the pools", "ansible.builtin.debug"), {"msg": ["POOL  NODE"]})
    assert run.end().splitlines()[5:] == [
        "",
        "POOL  NODE",
        "localhost: MACH-CAPACITY: no g4dn in us-east-2a",
        "Remedy: add a zone",
        "",
        'Enable GPUs failed after 0.0 s in "Wait for the machines" (MACH-CAPACITY).',
    ]


def handled() -> Task:
    """Return a task in a block that has a rescue."""
    block, task = Task("", ""), Task("Compare the role")
    task._parent, block.block, block.rescue = block, [task], [Task("Go on")]
    return task


HANDLED: t.Final = 'handled in "Compare the role": MACH-CAPACITY: no g4dn in us-east-2a. Remedy: add a zone'


def test_a_failure_that_was_handled_is_one_line(run: Run) -> None:
    run.play("Drift")
    run.fail(handled())
    assert run.end().splitlines() == [
        "Drift",
        HANDLED,
        "ok           0.0 s  Compare the role",
        "",
        "Drift: nothing changed in 0.0 s.",
    ]


def test_a_failure_that_was_handled_is_not_shown_again_if_the_run_fails_later(run: Run) -> None:
    run.play("Drift")
    run.fail(handled())
    run.fail(Task("Fail"), code="OTHER-CODE", message="no pools", evidence=[], remedy="")
    assert run.end().splitlines()[3:] == [
        "failed       0.0 s  Fail",
        "localhost: OTHER-CODE: no pools",
        "",
        'Drift failed after 0.0 s in "Fail" (OTHER-CODE).',
    ]


def test_an_ignored_failure_is_one_line_too(run: Run) -> None:
    task = Task("Try")
    run.play("Drift")
    run.start(task)
    run.callback.v2_runner_on_failed(run.result(task, {"msg": "rc 1"}), ignore_errors=True)
    assert run.end().splitlines()[1] == 'handled in "Try": rc 1'
    assert run.end().splitlines()[-1].startswith("Drift: nothing changed")


def test_several_hosts_are_named_in_each_line_and_counted_in_the_last(run: Run) -> None:
    task, table = Task("Wait", "accelerators.openshift.gpu_machineset"), Task("Show", "debug")
    run.play("Enable GPUs")
    for host in ("east", "west"):
        run.start(task, host)
    run.hear("pool a: 1 of 2 nodes", host="west")
    assert live(run).splitlines() == [
        "running      0.0 s  east: Wait",
        "running      0.0 s  west: Wait",
        "        west: pool a: 1 of 2 nodes",
    ]
    run.ok(task, {"changed": True, "results": [{"waited": 2.0}, {"waited": 3.0}]}, "east")
    run.fail(task, "west", remedy="")
    run.ok(table, {"msg": ["POOL", "a", "result - 1 of 1 node offers 1 GPU"]}, "east")
    stats = types.SimpleNamespace(
        summarize=lambda host: {"failures": int(host == "west"), "unreachable": 0, "changed": 1}
    )
    run.callback.v2_playbook_on_stats(stats)
    assert run.terminal.text.splitlines()[1:] == [
        "failed       0.0 s  west: Wait",
        "west: MACH-CAPACITY: no g4dn in us-east-2a",
        "Seen: machine demo-0: InsufficientInstanceCapacity",
        "changed      0.0 s  east: Wait",
        "",
        "east: POOL",
        "east: a",
        "west: MACH-CAPACITY: no g4dn in us-east-2a",
        "",
        "east: 1 of 1 node offers 1 GPU in 0.0 s; the cluster took 5.0 s of it.",
        'west: Enable GPUs failed after 0.0 s in "Wait" (MACH-CAPACITY).',
        "2 clusters: 1 done (1 changed), 1 failed: west (MACH-CAPACITY)",
    ]


def test_check_mode_says_would(run: Run) -> None:
    run.play("Plan GPUs", check=True)
    run.ok(Task("Wait for the machines", check=True), {"changed": True})
    assert run.end().splitlines() == [
        "Plan GPUs (check mode)",
        "would change      0.0 s  Wait for the machines",
        "",
        "Plan GPUs: 1 step would change something in 0.0 s.",
    ]


def test_an_interrupted_run_says_where_it_was(run: Run) -> None:
    run.play("Enable GPUs")
    run.start(Task("Wait for the machines"))
    run.now = 12
    run.callback._stop()
    assert run.terminal.text.splitlines()[1:] == ["stopped       12 s  Wait for the machines"]


def test_a_secret_sequence_of_a_message_does_not_reach_the_terminal(run: Run) -> None:
    run.play("Enable GPUs")
    run.ok(Task("Show", "debug"), {"msg": ["POOL \x1b[31m"]})
    assert "POOL \\x1b[31m" in run.end()


def test_colours_are_ansibles(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for wanted in (False, True):
        monkeypatch.setattr(color, "ANSIBLE_COLOR", wanted)
        run.play("Enable GPUs")
        run.start(Task("Wait"))
        assert ("colour" in run.terminal.escapes) == wanted


@pytest.mark.parametrize("message", [{"a": 1}, [1, 2], None], ids=["map", "numbers", "a variable"])
def test_a_message_that_is_no_text_is_shown_by_ansible(
    run: Run, monkeypatch: pytest.MonkeyPatch, message: t.Any
) -> None:
    shown: list[t.Any] = []
    monkeypatch.setattr(Default, "v2_runner_on_ok", lambda _self, result: shown.append(result))
    run.play("Enable GPUs")
    run.ok(Task("Show", "debug"), {"msg": message})
    assert [verdict.facts_of(result)["msg"] for result in shown] == [message]


def test_an_exception_gives_the_rest_to_ansible(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(Default, "v2_runner_on_ok", lambda _self, _result: shown.append("ok"))
    monkeypatch.setattr(
        Default, "v2_playbook_on_task_start", lambda _self, task, _is: shown.append(task.name)
    )
    monkeypatch.setattr(run.callback._display, "warning", shown.append)
    run.play("Enable GPUs")
    run.start(Task("Plan the pools"))
    monkeypatch.setattr(progress, "step_of", lambda _task: 1 / 0)
    run.callback.v2_runner_on_ok(run.result(Task("Plan the pools")))
    run.callback.v2_playbook_on_task_start(Task("next"), False)
    assert shown[0].startswith("The callback progress stopped (ZeroDivisionError")
    assert shown[1:] == ["ok", "next"]
    assert "running" not in run.terminal.text
    # The callback verdict shows the failures then.
    assert _screen.Screen.active is None
    run.hear("    2 s  pool demo: 1 of 2 machines", stays=True)
    assert run.terminal.text.splitlines()[-1] == "    2 s  pool demo: 1 of 2 machines"


def test_a_terminal_that_is_gone_does_not_end_the_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_descriptor: int) -> t.Any:
        raise OSError

    run.play("Enable GPUs")
    monkeypatch.setattr("os.get_terminal_size", gone)
    run.ok(Task("Plan the pools"))
    assert run.end().splitlines()[-1] == "Enable GPUs: nothing changed in 0.0 s."


@pytest.mark.parametrize(
    ("variables", "verbosity", "options"),
    [
        ({"TERM": "dumb"}, 0, {}),
        ({"TERM": ""}, 0, {}),
        ({"AWX_ISOLATED_DATA_DIR": "/runner"}, 0, {}),
        ({}, 2, {}),
        ({}, 0, {"step": True}),
    ],
    ids=["dumb", "no terminal type", "awx", "-vv", "--step"],
)
def test_elsewhere_it_is_ansibles_default(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    verbosity: int,
    options: dict[str, t.Any],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("ansible.context.CLIARGS", options)
    monkeypatch.setattr(run.callback._display, "verbosity", verbosity)
    monkeypatch.setattr("sys.stdout", run._out)
    assert progress.CallbackModule()._screen is None


def test_a_pipe_has_ansibles_default(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr("sys.stdout", io.StringIO())
    piped = progress.CallbackModule()
    for name in (name for name in vars(progress.CallbackModule) if name.startswith("v2_")):
        monkeypatch.setattr(Default, name, lambda *_args, _name=name, **_more: seen.append(_name))
        getattr(piped, name)("a", "b")
        assert seen.pop() == name


def test_verdict_says_nothing_beside_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    beside = verdict.CallbackModule()
    monkeypatch.setattr(
        beside, "_display", types.SimpleNamespace(display=lambda line, **_more: shown.append(line))
    )
    beside.v2_runner_on_failed(run.result(Task("Wait"), FAILURE))
    beside.v2_playbook_on_stats(None)
    assert shown == []
    monkeypatch.setattr(_screen.Screen, "active", None)
    beside.v2_playbook_on_stats(None)
    assert shown[0] == "localhost: MACH-CAPACITY: no g4dn in us-east-2a"


def test_a_role_of_a_play_is_a_step_and_a_file_in_it_is_none(run: Run) -> None:
    include = Task("Include the tasks for the state", "include_tasks", "a.b.gpu_policy")
    run.play("Remove GPUs")
    run.ok(Task("absent | Remove the quotas", role="a.b.gpu_policy", parent=include), {"changed": True})
    assert run.end().splitlines()[1] == "changed      0.0 s  Role gpu_policy"
