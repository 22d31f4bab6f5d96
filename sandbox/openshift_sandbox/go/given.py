# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find programs that the user has already, and check them, so that a build leaves them out."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import re
import signal
import subprocess
import tempfile
import typing as t
from dataclasses import dataclass
from pathlib import Path

from openshift_sandbox.sandbox import SandboxError

FOLDER: t.Final = "SANDBOX_PROGRAMS"
ENVTEST: t.Final = "KUBEBUILDER_ASSETS"
ETCD: t.Final = "server"  # as `go build` calls etcd, by the folder of its main package
# The programs of envtest, and the variables that name one file.
PATHS: t.Final = {
    ETCD: ("ETCD", "TEST_ASSET_ETCD"),
    "kube-apiserver": ("KUBE_APISERVER", "TEST_ASSET_KUBE_APISERVER"),
    "kubectl": ("TEST_ASSET_KUBECTL",),
}
# How to ask a program for its version, and what stands before the version in its answer.
QUESTIONS: t.Final[dict[str, tuple[tuple[str, ...], str]]] = {
    ETCD: (("--version",), "etcd Version: "),
    "kube-apiserver": (("--version",), "Kubernetes "),
    "kube-controller-manager": (("--version",), "Kubernetes "),
    "kube-scheduler": (("--version",), "Kubernetes "),
    "kubectl": (("version", "--client"), "Client Version: "),
    "kwok": (("--version",), "kwok version "),
    "nfd-master": (("-version",), "nfd-master "),
    "olm": (("--version",), "OLM version: "),
    "catalog": (("--version",), "OLM version: "),
    "opm": (("version",), 'OpmVersion:"'),
}
ANSWER_SECONDS = 10.0


@dataclass(frozen=True)
class Given:
    """A program that the user has. version: "" where it does not say one."""

    name: str
    path: Path
    variable: str
    version: str


def shown(name: str) -> str:
    """Return the name of a program as people know it."""
    return "etcd" if name == ETCD else name


def tools(go_mod: str) -> dict[str, str]:
    """Return the packages that a go.mod lists as tools, by the name of their program."""
    block = re.search(r"^tool \((.*?)^\)", go_mod, re.MULTILINE | re.DOTALL)
    packages = block[1].split() if block else re.findall(r"^tool (\S+)$", go_mod, re.MULTILINE)
    return {re.sub(r"/v\d+$", "", package).rpartition("/")[2]: package for package in packages}


def pinned(go_mod: str, package: str) -> str:
    """Return the version of the module that holds a package, as a go.mod requires it."""
    modules: dict[str, str] = dict(re.findall(r"^\s*(?:require )?(\S+) (v\d\S*)", go_mod, re.MULTILINE))
    return next(modules[path] for path in _parents(package) if path in modules)


def find(
    wanted: t.Mapping[str, t.Sequence[str]], pins: t.Mapping[str, str], environment: t.Mapping[str, str]
) -> list[Given]:
    """Return the programs that variables of the environment name, each checked.

    wanted: names of programs by family. pins: versions by name. Raises SandboxError with the variable's name.
    """
    places = [
        (name, *place)
        for family, names in wanted.items()
        for name in names
        if name in QUESTIONS and (place := _place(family, name, environment))
    ]
    return [_checked(name, variable, path, pins[name]) for name, variable, path in places]


def _place(family: str, name: str, environment: t.Mapping[str, str]) -> tuple[str, Path] | None:
    """Return the first variable that names a program, and the file; None where none does."""
    for variable in (FOLDER, *PATHS.get(name, ()), *([ENVTEST] if name in PATHS else ())):
        if value := environment.get(variable):
            is_folder = variable in (FOLDER, ENVTEST)
            with _readable(variable, value):
                path = Path(value).expanduser().absolute()
                files = _files(variable, path, family, name) if is_folder else [path]
            if files:
                return variable, files[0]
    return None


@contextlib.contextmanager
def _readable(variable: str, path: str) -> t.Iterator[None]:
    """Refuse a path that cannot be read: a closed folder, a home that nobody has, a name that is too long."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise _refused(variable, f"{path} cannot be read: {getattr(error, 'strerror', error)}") from error


def _files(variable: str, folder: Path, family: str, name: str) -> list[Path]:
    """Return the files of a program in a folder, which may be flat or have a folder for each family."""
    if not folder.is_dir():
        raise _refused(variable, f"there is no folder {folder}")
    known = PATHS if variable == ENVTEST else QUESTIONS
    files = {file for name in known for file in (name, shown(name))}
    if not any((folder / part / file).exists() for part in ("", "control-plane", "olm") for file in files):
        raise _refused(variable, f"{folder} has none of {', '.join(shown(name) for name in known)}")
    places = (folder / family / name, folder / shown(name), folder / name)
    return [path for path in places if os.path.lexists(path) and not path.is_dir()]


def _checked(name: str, variable: str, path: Path, pin: str) -> Given:
    with _readable(variable, str(path)):
        is_file = path.is_file()
    if not is_file:
        raise _refused(variable, f"there is no file {path}")
    if not os.access(path, os.X_OK):
        raise _refused(variable, f"{path} is not executable (`chmod +x {path}`)")
    words, before = QUESTIONS[name]
    question = f"`{' '.join([str(path), *words])}`"
    try:
        answer = _answer([str(path), *words])
    except subprocess.TimeoutExpired as error:
        text = f"{question} did not end within {ANSWER_SECONDS:.0f} seconds"
        raise _refused(variable, text) from error
    except OSError as error:
        why = f"it is no program for {platform.machine()}" if error.errno == errno.ENOEXEC else error.strerror
        raise _refused(variable, f"{path} cannot run: {why}") from error
    if before not in answer:
        said = (answer.strip().splitlines() or ["nothing"])[0]
        raise _refused(variable, f"{path} is not {shown(name)}: {question} says: {said}")
    found = re.search(rf"{re.escape(before)}v?((\d+\.\d+)[^\s\"]*)", answer)
    minor = ".".join(pin.lstrip("v").split(".")[:2])
    if found and found[2] != minor:
        hint = f" (of envtest: `setup-envtest use {minor}.x -p path`)" if before == "Kubernetes " else ""
        text = f"{path} is {shown(name)} {found[1]}, and the sandbox needs a version {minor}{hint}"
        raise _refused(variable, text)
    return Given(name, path.resolve(), variable, found[1] if found else "")


def _answer(argv: list[str]) -> str:
    """Return what a program prints. End it, and what it started, when it takes long."""
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            env={"PATH": os.defpath, "HOME": "/"},
            start_new_session=True,
        )
        try:
            child.wait(ANSWER_SECONDS)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        output.seek(0)
        return output.read().decode(errors="replace")


def _refused(variable: str, text: str) -> SandboxError:
    return SandboxError(
        f"{variable}: {text}. Nothing was changed. Name other programs, or leave {variable} out "
        f"(`unset {variable}`), and the sandbox builds its own"
    )


def _parents(package: str) -> t.Iterator[str]:
    while package:
        yield package
        package = package.rpartition("/")[0]
