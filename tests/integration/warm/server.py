# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A faster ansible-playbook: each run is forked from a process that has imported Ansible and the collection.

Ansible keeps no compiled code of a collection: to import it took 0.6 of the 0.8 s of a run with one task. A
run gets the arguments, the environment, the folder and the terminal of the small program `ansible-playbook`,
which waits until the run ends.

- `running` starts `serve`, which waits for runs and ends when its standard input is closed.
- `serve` starts a `keep` process for each environment, because Ansible reads the environment on import. The
  collection does not.
- `keep` starts a `play` process for each run.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import typing as t
import warnings
from pathlib import Path

PACKET: t.Final = 1 << 17
# Ansible and Python read these when they start. The fact cache differs in each run and is read later.
EARLY: t.Final = ("ANSIBLE_", "HOME", "LANG", "LC_", "PATH", "PYTHON")
LATE: t.Final = {"ANSIBLE_CACHE_PLUGIN_CONNECTION"}
COLLECTION: t.Final = "accelerators.openshift"
# Ansible asks a thousand times a second whether a task has ended, which took a tenth of the processor time.
POLL_SECONDS: t.Final = 0.01
PLUGINS: t.Final = ("action", "callback", "filter", "lookup", "modules")
PROGRAM: t.Final = """#!{python} -SE
import os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
    server.connect({address!r})
    run = repr([sys.argv, os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [run], [0, 1, 2])
    sys.exit(int(server.recv(8) or b"1"))
"""


class Run(t.NamedTuple):
    """A call of ansible-playbook: its arguments, its working directory and its environment."""

    argv: list[str]
    folder: str
    environment: dict[str, str]

    @property
    def early(self) -> str:
        """The variables that Ansible and Python read at their start, as JSON."""
        return json.dumps(
            sorted(
                (name, value)
                for name, value in self.environment.items()
                if name.startswith(EARLY) and name not in LATE
            )
        )


@contextlib.contextmanager
def running(directory: Path) -> t.Iterator[Path]:
    """Start the server, yield the program to call in place of ansible-playbook, then end the server."""
    address = directory / "warm.socket"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(address))
        listener.listen()
        number = listener.fileno()
        command = [sys.executable, __file__, str(number)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[number], start_new_session=True)
    program = directory / "ansible-playbook"
    program.write_text(PROGRAM.format(python=sys.executable, address=str(address)))
    program.chmod(0o755)
    # It ends with this process too, however that ends: nobody else holds the other end of its standard input.
    with process:
        yield program


def serve(listener: socket.socket) -> None:
    """Pass each call to the process that has imported Ansible in its environment; start that if needed."""
    keepers: dict[str, socket.socket] = {}
    folder = Path(listener.getsockname()).parent
    while listener in select.select([listener, sys.stdin], [], [])[0]:
        caller, _address = listener.accept()
        with caller:
            packet, files, _flags, _sender = socket.recv_fds(caller, PACKET, 3)
            run = _read(packet)
            if run.early not in keepers:
                keepers[run.early] = _keeper(run, [listener, caller, *keepers.values()], files, folder)
            with contextlib.suppress(BrokenPipeError):
                socket.send_fds(keepers[run.early], [packet], [*files, caller.fileno()])
            _close(files)


def _keeper(first: Run, sockets: list[socket.socket], files: list[int], folder: Path) -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork():
        theirs.close()
        return ours
    # Open copies of these sockets would hide their end from other processes.
    for one in (*sockets, ours):
        one.close()
    _close(files)
    keep(theirs, first, Path(tempfile.mkdtemp(prefix="templates-", dir=folder)))
    sys.exit()


def keep(server: socket.socket, first: Run, folder: Path) -> None:
    """Import all in the environment of the first run, then fork a process for each run.

    folder: for compiled templates.
    """
    _surround(first)
    import ansible.cli.playbook
    import ansible.executor.playbook_executor
    import ansible.plugins.strategy.linear  # noqa: F401
    from ansible import constants
    from ansible._internal._templating._jinja_bits import AnsibleEnvironment

    constants.DEFAULT_INTERNAL_POLL_INTERVAL = POLL_SECONDS
    # This file is a program here, and its neighbours are no modules of a package.
    importlib.import_module("compiled_templates").share(AnsibleEnvironment, folder)
    importlib.import_module("unforked_tasks").share()
    parsed = importlib.import_module("parsed_files").Files()
    parsed.share()
    _load_plugins()
    gc.freeze()
    # A collection would copy the pages that a task's process shares with its play.
    gc.disable()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        packet, files, _flags, _sender = socket.recv_fds(server, PACKET, 4)
        if not packet:
            return
        parsed.fill()
        if not os.fork():
            server.close()
            play(_read(packet), files)
        _close(files)


def _load_plugins() -> None:
    """Import what each run would load again: plugins of Ansible, and the collection where there is one."""
    from ansible.plugins import loader

    read_once = importlib.import_module("read_once")
    loader.init_plugin_loader()
    # Each run calls that too.
    warnings.filterwarnings("ignore", "AnsibleCollectionFinder has already been configured")
    read_once.share(loader)
    with contextlib.suppress(ModuleNotFoundError):
        plugins = importlib.import_module(f"ansible_collections.{COLLECTION}.plugins")
        for kind in PLUGINS:
            names = sorted(file.stem for file in Path(plugins.__path__[0], kind).glob("[a-z]*.py"))
            for name in names:
                importlib.import_module(f"{plugins.__name__}.{kind}.{name}")
            if kind == "modules":
                read_once.share_modules(f"{COLLECTION}.{name}" for name in names)


def play(run: Run, files: list[int]) -> t.NoReturn:
    """Run ansible-playbook, send its exit code to the caller, and leave without the keeper's cleanup."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    code = 1
    try:
        _surround(run)
        _streams(files[:3])
        from ansible.cli.playbook import main
        from ansible.utils import color
        from ansible.utils.display import Display

        # Ansible sets both on import.
        color.ANSIBLE_COLOR = sys.stdout.isatty()
        Display()._set_column_width()
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(files[3], str(code).encode())
        os._exit(code)


def _surround(run: Run) -> None:
    os.environ.clear()
    os.environ.update(run.environment)
    os.chdir(run.folder)
    sys.argv = ["ansible-playbook", *run.argv[1:]]


def _streams(files: list[int]) -> None:
    for number, file in enumerate(files):
        os.dup2(file, number)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    sys.stdout, sys.stderr = (_writer(number) for number in (1, 2))


def _writer(number: int) -> io.TextIOWrapper:
    raw = io.BufferedWriter(io.FileIO(number, "w", closefd=False))
    return io.TextIOWrapper(raw, encoding="utf-8", line_buffering=os.isatty(number))


def _read(packet: bytes) -> Run:
    return Run(*ast.literal_eval(packet.decode()))


def _close(files: list[int]) -> None:
    for file in files:
        os.close(file)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
